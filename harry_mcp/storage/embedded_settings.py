"""The settings our own PostgreSQL runs with, and where its socket lies."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from harry_mcp.errors import DatabaseUnavailable
from harry_mcp.storage.embedded_binaries import Account, let_through

SETTINGS_FILE = "harry.conf"
PORT = 5432
SOCKET_FILES = (f".s.PGSQL.{PORT}", f".s.PGSQL.{PORT}.lock")
SOCKET_PATH_LIMIT = 103
"""Bytes of a socket's path that fit everywhere: 103 on macOS and BSD, 107 on Linux."""
SOCKET_FOLDER_PREFIX = "harry-pg-"

SETTINGS = """\
# Written by harry at every start: change a setting with ALTER SYSTEM, which wins over this file.
{listen}
cluster_name = 'harry'
max_connections = 100
shared_buffers = 128MB
max_wal_size = 1GB
fsync = on
synchronous_commit = on
jit = off
timezone = 'UTC'
log_timezone = 'UTC'
log_checkpoints = off
# Statements and their details hold the user's documents, which have no place in a log.
log_min_error_statement = panic
log_error_verbosity = terse
"""


def write_settings(cluster: Path, account: Account | None) -> None:
    """Write our settings into a file of their own, which holds for clusters made by any version of harry."""
    _write(cluster / SETTINGS_FILE, SETTINGS.format(listen=_listen_settings(cluster, account)), account)
    main = cluster / "postgresql.conf"
    text = main.read_text(encoding="utf-8") if main.exists() else ""
    line = f"include '{SETTINGS_FILE}'"
    if line not in text:
        _write(main, f"{text}\n{line}\n", account)


def _write(path: Path, text: str, account: Account | None) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.new-")
    with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
        file.flush()
        os.fsync(handle)
    temporary = Path(name)
    if account:
        account.take(temporary)
    temporary.replace(path)


def _listen_settings(cluster: Path, account: Account | None) -> str:
    if sys.platform == "win32":
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = int(free.getsockname()[1])
        return f"listen_addresses = '127.0.0.1'\nport = {port}"
    # `trust` in pg_hba.conf is safe because nobody but the owner (and root) gets to the socket
    folder = str(_socket_folder(cluster, account)).replace("\\", "\\\\").replace("'", "''")
    return f"listen_addresses = ''\nport = {PORT}\nunix_socket_directories = '{folder}'\nunix_socket_permissions = 0700"


def _socket_folder(cluster: Path, account: Account | None) -> Path:
    """The cluster when its path is short enough, else a new private folder with an unforeseeable name."""
    if _fits_a_socket(cluster):
        return cluster
    for parent in (Path(tempfile.gettempdir()), Path("/tmp")):  # noqa: S108
        if parent.is_dir() and _fits_a_socket(parent / f"{SOCKET_FOLDER_PREFIX}12345678"):
            folder = Path(tempfile.mkdtemp(prefix=SOCKET_FOLDER_PREFIX, dir=parent))
            if account:
                account.take(folder)
                let_through(folder, account)
            return folder
    raise DatabaseUnavailable(
        f"The paths of {cluster} and of the folder for temporary files are too long for a socket: "
        "choose a data folder with a shorter path."
    )


def _fits_a_socket(folder: Path) -> bool:
    # A comma separates hosts in libpq, and no quoting helps against that
    return len(os.fsencode(folder / SOCKET_FILES[0])) <= SOCKET_PATH_LIMIT and not set(',"\n') & set(str(folder))


def drop_socket_folder(folder: Path) -> None:
    """Remove a socket folder of ours, and never more than the two files in it. A left one does no harm."""
    if folder.name.startswith(SOCKET_FOLDER_PREFIX):
        with suppress(OSError):
            for name in SOCKET_FILES:
                (folder / name).unlink(missing_ok=True)
            folder.rmdir()
