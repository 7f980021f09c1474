"""The connection pool, and the two ways to use it: reading, and one act in a transaction."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool
from pydantic import SecretStr

from harry_mcp.domain.search import EmbeddingSpace
from harry_mcp.settings import Settings
from harry_mcp.storage import job_queue, queries
from harry_mcp.storage.connecting import open_pool, prepare, session_settings, translated
from harry_mcp.storage.embedded import EmbeddedPostgres
from harry_mcp.storage.spaces import StoredSpace
from harry_mcp.storage.unit_of_work import UnitOfWork

_SQL = queries.load("migrations")
_TRANSFER = queries.load("transfer")


@dataclass(frozen=True, slots=True)
class Versions:
    """What the database is."""

    postgres: str
    pgvector: str
    size: str


class Database:
    """PostgreSQL with the schema up to date. ``open`` it, ``close`` it."""

    def __init__(
        self,
        dsn: str,
        pool: AsyncConnectionPool[AsyncConnection[Any]],
        space: StoredSpace,
        embedded: EmbeddedPostgres | None,
        session: dict[str, object],
    ) -> None:
        self._dsn = dsn
        self._pool = pool
        self._space = space
        self._embedded = embedded
        self._session_settings = session
        self._on_commit: Callable[[], None] | None = None

    @classmethod
    async def open(cls, settings: Settings, space: EmbeddingSpace, *, any_space: bool = False) -> Database:
        """Start or reach PostgreSQL, bring the schema up to date, and open the pool.

        ``any_space`` opens it on the space in service, whichever that is, to look at it or to move it to another.

        Raises:
            DatabaseUnavailable: it cannot be started or reached.
            MigrationError: the schema cannot be brought up to date.
            SpaceMismatch: the stored vectors come from another model.
        """
        embedded = None
        dsn = settings.database_url.get_secret_value()
        if not dsn:
            embedded = await asyncio.to_thread(EmbeddedPostgres.start, settings.data_dir / "postgres")
            dsn = embedded.dsn
        try:
            stored = await prepare(dsn, space, settings, any_space=any_space)
            pool = await open_pool(dsn, settings)
        except BaseException:
            if embedded is not None:
                await asyncio.to_thread(embedded.close)
            raise
        return cls(dsn, pool, stored, embedded, session_settings(settings))

    @property
    def address(self) -> SecretStr:
        """The libpq address, for a library that opens connections of its own."""
        return SecretStr(self._dsn)

    @property
    def embedded(self) -> bool:
        return self._embedded is not None

    @property
    def space(self) -> EmbeddingSpace:
        return self._space.space

    def on_commit(self, call: Callable[[], None] | None) -> None:
        """Have this called after every transaction of this process; it must neither wait nor fail."""
        self._on_commit = call

    async def close(self) -> None:
        await self._pool.close()
        if self._embedded is not None:
            await asyncio.to_thread(self._embedded.close)

    @asynccontextmanager
    async def reading(self) -> AsyncGenerator[UnitOfWork, None]:
        """A view for statements that each stand alone."""
        async with self._connection() as connection:
            yield UnitOfWork(connection, self._space)

    @asynccontextmanager
    async def snapshot(self) -> AsyncGenerator[UnitOfWork, None]:
        """A view of one moment, for reading all there is while others write. Moments come as UTC."""
        async with self._connection() as connection, connection.transaction():
            await queries.run(connection, _TRANSFER["snapshot"])
            await queries.run(connection, _TRANSFER["in_utc"])
            await queries.run(connection, _SQL["lift_time_limit"])
            yield UnitOfWork(connection, self._space)

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[UnitOfWork, None]:
        """A view whose changes all happen or none does. No time limit: a long document takes its time."""
        async with self._connection() as connection, connection.transaction():
            await queries.run(connection, _SQL["lift_time_limit"])
            yield UnitOfWork(connection, self._space)
        self._committed()

    @asynccontextmanager
    async def writing(self) -> AsyncGenerator[UnitOfWork, None]:
        """A transaction that is one of many: statements whose result nobody reads travel together with the next one,
        for on a busy machine waiting for an answer costs more than the statement. Whole like any other, but a power
        cut may lose it until :meth:`settle`."""
        async with self._connection() as connection, connection.pipeline(), connection.transaction():
            await queries.run(connection, _SQL["write_behind"])
            yield UnitOfWork(connection, self._space)
        self._committed()

    async def settle(self) -> None:
        """Have everything that was written on the disk."""
        async with self._connection() as connection:
            await queries.run(connection, _SQL["write_through"])

    @asynccontextmanager
    async def session(self) -> AsyncGenerator[UnitOfWork, None]:
        """A view over a connection of its own, for a lock that is held for long: searches need those of the pool.

        What it locks is freed when this process dies, or falls silent.
        """
        with translated():
            async with self._beside() as connection:
                await queries.run(connection, _SQL["session"], self._session_settings)
                await queries.run(connection, _SQL["keep_alive"])
                yield UnitOfWork(connection, self._space)
                # PostgreSQL notices a little later that a connection was closed; who comes next would find it locked.
                await queries.run(connection, _SQL["unlock"])

    @asynccontextmanager
    async def rehearsal(self) -> AsyncGenerator[Rehearsal, None]:
        """A database that is this one until it is written to; at the end all that was written there is undone.

        Nobody else sees any of it. Writers wait from the first write on, so it is to be short; it does not wait long
        for them either.

        Raises:
            StorageError: others write and do not come to an end.
        """
        async with self._connection() as connection, connection.transaction(force_rollback=True):
            await queries.run(connection, _SQL["hurry"])
            yield Rehearsal(self, connection)

    async def vacuum(self) -> None:
        """Tidy the search tables after many changes, so that searches are fast at once."""
        # Not on a connection of the pool, whose time limit is meant for searches.
        with translated():
            async with self._beside() as connection:
                await queries.run(connection, _SQL["vacuum_index"])

    async def install_queue(self, whole: str, steps: Mapping[str, str]) -> int:
        """What :func:`job_queue.install` does, on a connection of its own."""
        with translated():
            async with self._beside() as connection:
                return await job_queue.install(connection, whole, steps)

    async def heal(self) -> None:
        """Start the embedded server again if it died, and throw away the connections that it left behind.

        Called after a failure and not before every use: the check would cost each search three round trips.

        Raises:
            DatabaseUnavailable: the embedded server cannot be started, or the given one does not answer.
        """
        if self._embedded is not None:
            await asyncio.to_thread(self._embedded.revive)
        else:
            # A refusal is known at once here; the pool would wait its whole time for a connection once more.
            with translated():
                async with self._beside():
                    pass
        await self._pool.check()

    async def versions(self) -> Versions:
        async with self._connection() as connection:
            found = await queries.one(connection, _SQL["versions"], Versions)
        return found or Versions("", "", "")

    def _committed(self) -> None:
        if self._on_commit is not None:
            self._on_commit()

    @asynccontextmanager
    async def _connection(self) -> AsyncGenerator[AsyncConnection[Any], None]:
        with translated():
            async with self._pool.connection() as connection:
                yield connection

    @asynccontextmanager
    async def _beside(self) -> AsyncGenerator[AsyncConnection[Any], None]:
        """A connection outside of the pool. psycopg's own way would first roll back, and whoever cancels a call does
        so again at each step: the connection then stayed open, with all that it had locked."""
        connection = await AsyncConnection.connect(self._dsn, autocommit=True)
        try:
            yield connection
        finally:
            await connection.close()


class Rehearsal(Database):
    """A database within a transaction of one connection. It is opened by :meth:`Database.rehearsal` alone."""

    def __init__(self, database: Database, connection: AsyncConnection[Any]) -> None:
        super().__init__(database._dsn, database._pool, database._space, None, database._session_settings)
        self._own = connection

    @asynccontextmanager
    async def _connection(self) -> AsyncGenerator[AsyncConnection[Any], None]:
        with translated():
            yield self._own
