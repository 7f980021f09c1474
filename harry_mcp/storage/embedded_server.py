"""Starting, finding and stopping the PostgreSQL server of one cluster folder.

Everything here runs under the start lock of `embedded.py`: one process at a time. What a killed process left
behind (a server without users, a stale or half-written `postmaster.pid`, orphaned backends) is judged by
looking at the living processes, never by trusting a file.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import struct
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from harry_mcp.errors import DatabaseUnavailable
from harry_mcp.storage.embedded_binaries import MAJOR, Account, run, unavailable
from harry_mcp.storage.embedded_settings import SOCKET_FILES, drop_socket_folder, write_settings

LOG_FILE = "server.log"
LOG_LIMIT = 1_000_000
POLL_SECONDS = 0.02
STOP_SECONDS = 30
ORPHAN_SECONDS = 6

_SSL_REQUEST = struct.pack("!ii", 8, 80877103)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Postmaster:
    """What a whole `postmaster.pid` says about a running server."""

    pid: int
    port: int
    host: str
    """Socket folder, or an address on Windows."""
    ready: bool

    @classmethod
    def read(cls, cluster: Path) -> Postmaster | None:
        """None when the file is missing, half written or nonsense."""
        lines = _pid_file_lines(cluster)
        try:
            pid, _folder, _started, port, socket_folder, address, _memory, status = lines[:8]
            return cls(int(pid), int(port), socket_folder or address, status == "ready")
        except ValueError:
            return None

    def answers(self, timeout: float) -> bool:
        """Whether a server listens. It answers an SSL request with one letter before it asks who is there."""
        try:
            with _connect(self.host, self.port, timeout) as connection:
                connection.sendall(_SSL_REQUEST)
                return connection.recv(1) in (b"S", b"N")
        except OSError:
            return False


def _connect(host: str, port: int, timeout: float) -> socket.socket:
    if sys.platform == "win32":
        return socket.create_connection((host, port), timeout)
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(timeout)
    try:
        connection.connect(f"{host}/.s.PGSQL.{port}")
    except OSError:
        connection.close()
        raise
    return connection


def _pid_file_lines(cluster: Path) -> list[str]:
    try:
        content = (cluster / "postmaster.pid").read_bytes()
    except FileNotFoundError:
        return []
    return [os.fsdecode(line).strip() for line in content.split(b"\n")]


def ensure_running(cluster: Path, account: Account | None, deadline: float, *, major: int = MAJOR) -> Postmaster:
    """Find the server of this cluster, or start it. `deadline` is a time of `time.monotonic`."""
    failed_before = False
    while True:
        found = Postmaster.read(cluster)
        if found and found.ready and found.answers(timeout=2):
            return found
        living = _living_postmaster(cluster)
        if time.monotonic() > deadline:
            raise _hung(cluster, living)
        if living is None:
            reason = _launch(cluster, account, deadline, major)
            if reason and failed_before:  # the first time it may have been killed, or met the last of a dead one
                raise unavailable("PostgreSQL does not start", reason, cluster)
            failed_before = bool(reason)
        else:
            time.sleep(POLL_SECONDS)  # it starts (perhaps recovers from a crash) or stops


def stop(cluster: Path, account: Account | None, *, major: int = MAJOR) -> None:
    """Stop the server of this cluster; clients lose their connections, committed data is safe."""
    lines = _pid_file_lines(cluster)
    for mode in ("fast", "immediate"):
        arguments = ("stop", "-s", "-w", "-t", str(STOP_SECONDS), "-m", mode, "-D", ".")
        done = run("pg_ctl", *arguments, account=account, cwd=cluster, timeout=STOP_SECONDS + 5, major=major)
        if done.ok or _living_postmaster(cluster) is None:
            break
        logger.warning("PostgreSQL in %s did not stop (%s): %s", cluster, mode, done.output)
    _drop_socket_folder_of(lines)


def _launch(cluster: Path, account: Account | None, deadline: float, major: int) -> str:
    """Start the server of a cluster that has none; why it did not start, or nothing."""
    _clear_leftovers(cluster)
    log_end = _rotate_log(cluster)
    write_settings(cluster, account)
    if sys.platform != "win32":
        cluster.chmod(0o700)  # a restored backup often is wider, and the server refuses that
    seconds = max(1, round(deadline - time.monotonic()))
    # Run inside the cluster with relative paths: pg_ctl passes them through a shell without quoting `$`
    arguments = ("start", "-s", "-w", "-t", str(seconds), "-l", LOG_FILE, "-D", ".")
    done = run("pg_ctl", *arguments, account=account, cwd=cluster, timeout=seconds + 5, major=major)
    if done.ok or _living_postmaster(cluster):
        return ""  # if not ok it is slow, or a killed process had started it just before: the caller waits for it
    return _log_tail(cluster, since=log_end) or done.output


def _hung(cluster: Path, living: psutil.Process | None) -> DatabaseUnavailable:
    who = f"PostgreSQL (process {living.pid})" if living else "PostgreSQL"
    return DatabaseUnavailable(
        f"{who} in {cluster} is not ready in time: start again in a minute, as it may recover from a crash; "
        f"if that does not help, end that process. Its log ends with: {_log_tail(cluster)}"
    )


def _log_tail(cluster: Path, *, since: int = 0, lines: int = 6) -> str:
    try:
        text = (cluster / LOG_FILE).read_bytes()[since:][-4000:].decode(errors="replace")
    except FileNotFoundError:
        return ""
    return " | ".join(text.strip().splitlines()[-lines:])


def _living_postmaster(cluster: Path) -> psutil.Process | None:
    lines = _pid_file_lines(cluster)
    if not lines or not lines[0].isdecimal():
        return None
    try:
        process = psutil.Process(int(lines[0]))
    except (psutil.NoSuchProcess, OverflowError):
        return None
    return process if _serves(process, cluster) else None


def _serves(process: psutil.Process, cluster: Path) -> bool:
    """Whether the process is PostgreSQL's and of this cluster, which then is its working directory."""
    try:
        with process.oneshot():
            return (
                process.name().startswith("postgres")
                and process.status() != psutil.STATUS_ZOMBIE
                and Path(process.cwd()).samefile(cluster)
            )
    except (psutil.Error, OSError):
        # Gone; or of another user, who is not the owner of this cluster
        return False


def _clear_leftovers(cluster: Path) -> None:
    """Remove what a killed server left. Called when it is known that no postmaster lives.

    PostgreSQL itself refuses to start when the pid in one of its lock files lives, whoever it belongs to now,
    and while one backend of the dead server is still at work.
    """
    pid_file = cluster / "postmaster.pid"
    if not pid_file.exists():
        return
    _end_orphans(cluster)
    _drop_socket_folder_of(_pid_file_lines(cluster))
    pid_file.unlink(missing_ok=True)
    for name in SOCKET_FILES:
        (cluster / name).unlink(missing_ok=True)


def _end_orphans(cluster: Path) -> None:
    """End the backends of a dead server at once; the next start recovers from the log, as after a power cut."""
    orphans = [process for process in psutil.process_iter() if _serves(process, cluster)]
    began = time.monotonic()
    signalled = False
    while orphans and time.monotonic() < began + ORPHAN_SECONDS:
        late = time.monotonic() > began + ORPHAN_SECONDS / 2
        if late or not signalled:
            for process in orphans:
                with suppress(psutil.NoSuchProcess):
                    process.kill() if late or sys.platform == "win32" else process.send_signal(signal.SIGQUIT)
            signalled = True
        time.sleep(POLL_SECONDS)
        # Not psutil.wait_procs: a zombie that nobody buries, as in many containers, is dead enough
        orphans = [process for process in orphans if _serves(process, cluster)]


def _rotate_log(cluster: Path) -> int:
    """Begin a new log when it has grown; the size of what there is."""
    log = cluster / LOG_FILE
    size = log.stat().st_size if log.exists() else 0
    if size <= LOG_LIMIT:
        return size
    log.replace(cluster / f"{LOG_FILE}.1")
    return 0


def _drop_socket_folder_of(pid_file_lines: list[str]) -> None:
    if len(pid_file_lines) > 4:
        drop_socket_folder(Path(pid_file_lines[4]))
