"""The cluster folder of our own PostgreSQL: made whole or not at all, and upgraded.

    <data_dir>/
    ├── cluster/           the data of PostgreSQL, with `server.log` in it
    ├── cluster.new-*      being made; left only by a killed process and removed by the next
    ├── cluster.16         the data as it was before an upgrade, kept
    ├── cluster*-old-N     set aside because it held no data of PostgreSQL or was in the way, kept
    └── start.lock, users.lock

A cluster is made under another name and renamed when it is whole. Everything here runs under the start lock.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import shutil
import sys
import tempfile
import time
from pathlib import Path

from harry_mcp.errors import DatabaseUnavailable
from harry_mcp.storage import embedded_server as server
from harry_mcp.storage.embedded_binaries import (
    INSTALLS,
    MAJOR,
    Account,
    account_for_new,
    account_owning,
    bin_folder,
    let_through,
    open_the_way,
    run,
    unavailable,
)

SUPERUSER = "postgres"
PASSWORD_FILE = "harry.password"  # noqa: S105 a file name, and only on Windows
UPGRADE_SECONDS = 3600
"""For copying all data: an upgrade that is cut off at a start's usual timeout would be cut off every time."""
OTHER_VERSION = "use the version of harry that made it, or move that folder away to begin with an empty knowledge base."

logger = logging.getLogger(__name__)


def prepare(data_dir: Path, deadline: float) -> tuple[Path, Account | None]:
    """Have a whole cluster of our version in `data_dir`: its folder, and the account that must run it."""
    cluster = data_dir / "cluster"
    for leftover in data_dir.glob("cluster.new-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    _take_up_upgrade(cluster)
    if not _holds_data(cluster):
        _set_aside(cluster)
        account = account_for_new(data_dir)
        open_the_way(account, data_dir)
        _publish(_make(data_dir, account, deadline), cluster)
        return cluster, account
    account = account_owning(cluster)
    open_the_way(account, data_dir)
    major = _major(cluster)
    if major != MAJOR:
        _upgrade(cluster, account, major, deadline)
    return cluster, account


def _holds_data(cluster: Path) -> bool:
    """Whether anything of PostgreSQL's data is there, which is never set aside: better a refusal to start."""
    try:
        return (cluster / "base").exists() or (cluster / "global").exists()
    except PermissionError:
        return True  # somebody else's


def _set_aside(folder: Path) -> None:
    if not folder.exists():
        return
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
        return
    logger.warning("%s is no PostgreSQL cluster of now; it is kept under another name", folder)
    number = 1
    while (aside := folder.with_name(f"{folder.name}-old-{number}")).exists():
        number += 1
    folder.rename(aside)


def _major(cluster: Path) -> int:
    file = cluster / "PG_VERSION"
    version = file.read_text(encoding="utf-8", errors="replace").strip() if file.exists() else ""
    major = int(version) if version.isdecimal() else 0
    if major not in INSTALLS:
        raise DatabaseUnavailable(
            f"The data in {cluster} was made by PostgreSQL {version or '(unknown)'}, and this version of "
            f"harry runs {MAJOR}: {OTHER_VERSION}"
        )
    return major


def _make(data_dir: Path, account: Account | None, deadline: float, *, checksums: bool = True) -> Path:
    fresh = Path(tempfile.mkdtemp(prefix="cluster.new-", dir=data_dir))
    if account:
        account.take(fresh)
    arguments = [
        *("-D", str(fresh), "-U", SUPERUSER, "--encoding=UTF8", "--no-instructions"),
        # The same on every machine, and upper/lower case know more than ASCII
        *("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
        "--data-checksums" if checksums else "--no-data-checksums",
    ]
    if sys.platform == "win32":
        # No socket to hide behind: any user of the machine reaches the port, so a password it is
        password = data_dir / PASSWORD_FILE
        password.write_text(secrets.token_urlsafe(32), encoding="utf-8")
        arguments += ["--auth=scram-sha-256", f"--pwfile={password}"]
    else:
        arguments += ["--auth-local=trust", "--auth-host=reject"]
    done = run("initdb", *arguments, account=account, cwd=fresh, timeout=_left(deadline))
    if not done.ok:
        shutil.rmtree(fresh, ignore_errors=True)
        raise unavailable("The database cannot be made", done.output, data_dir)
    if sys.platform == "win32":
        password.rename(fresh / PASSWORD_FILE)
    return fresh


def _left(deadline: float) -> float:
    return max(1.0, deadline - time.monotonic())


def _publish(fresh: Path, cluster: Path) -> None:
    fresh.rename(cluster)
    if sys.platform != "win32":  # let the rename itself survive a power cut
        folder = os.open(cluster.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _take_up_upgrade(cluster: Path) -> None:
    """Undo the first of an upgrade's two renames when a process was killed between them."""
    for major in INSTALLS:
        before = cluster.with_name(f"cluster.{major}")
        if before.exists() and not cluster.exists():
            before.rename(cluster)


def _upgrade(cluster: Path, account: Account | None, major: int, deadline: float) -> None:
    """Copy the data of an older major version over; the old folder is kept as `cluster.<major>`."""
    if sys.platform == "win32":
        raise DatabaseUnavailable(
            f"The data in {cluster} was made by PostgreSQL {major}, which cannot be upgraded on Windows: "
            f"{OTHER_VERSION}"
        )
    logger.warning("The data in %s is brought from PostgreSQL %s to %s", cluster, major, MAJOR)
    deadline = max(deadline, time.monotonic() + UPGRADE_SECONDS)
    # A clean stop, which pg_upgrade asks for, also after a crash
    server.ensure_running(cluster, account, deadline, major=major)
    server.stop(cluster, account, major=major)
    control = run("pg_controldata", str(cluster), account=account, cwd=cluster, timeout=_left(deadline), major=major)
    checksums = re.search(r"checksum version:\s+0$", control.output, re.MULTILINE) is None
    fresh = _make(cluster.parent, account, deadline, checksums=checksums)
    try:
        _copy_over(cluster, fresh, account, major, deadline)
        if not checksums:  # on the copy, so that the old folder stays as it was
            _must("pg_checksums", "--enable", "-D", str(fresh), account=account, cwd=fresh, deadline=deadline)
        before = cluster.with_name(f"cluster.{major}")
        _set_aside(before)
        cluster.rename(before)
        _publish(fresh, cluster)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _copy_over(cluster: Path, fresh: Path, account: Account | None, major: int, deadline: float) -> None:
    with tempfile.TemporaryDirectory(prefix="harry-pg-") as name:  # short: a socket lies in it
        scratch = Path(name)
        if account:
            account.take(scratch)
            let_through(scratch, account)
        arguments = [
            *("-b", str(bin_folder(major)), "-B", str(bin_folder(MAJOR))),
            *("-d", str(cluster), "-D", str(fresh), "-U", SUPERUSER, "-s", str(scratch)),
        ]
        _must("pg_upgrade", *arguments, account=account, cwd=scratch, deadline=deadline)
        extensions = scratch / "update_extensions.sql"
        if not extensions.exists():
            return
        found = server.ensure_running(fresh, account, deadline)
        try:
            arguments = [
                "-X",
                "-q",
                "-h",
                found.host,
                "-p",
                str(found.port),
                "-U",
                SUPERUSER,
                "-d",
                "postgres",
            ]
            _must("psql", *arguments, "-f", str(extensions), account=account, cwd=scratch, deadline=deadline)
        finally:
            server.stop(fresh, account)


def _must(program: str, *arguments: str, account: Account | None, cwd: Path, deadline: float) -> None:
    done = run(program, *arguments, account=account, cwd=cwd, timeout=_left(deadline))
    if not done.ok:
        raise unavailable("The database cannot be upgraded", done.output, cwd)
