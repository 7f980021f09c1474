"""Ways to PostgreSQL: a connection, a pool, and psycopg's errors as ours."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import psycopg
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection, errors
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from harry_mcp.domain.search import EmbeddingSpace
from harry_mcp.errors import DatabaseUnavailable, StorageError
from harry_mcp.settings import Settings
from harry_mcp.storage import migrator, queries
from harry_mcp.storage.spaces import StoredSpace, use_space

_SQL = queries.load("migrations")
# pgvector's HNSW looks at no more than this many rows, 1,000 at most.
_EF_SEARCH_LIMIT = 1000
# Seconds that the pool tries by itself to replace a connection. It waits twice as long after each failure, and while it
# waits nobody gets a new one: after a long outage the next call would come too early.
_RECONNECT_SECONDS = 2.0


@contextmanager
def translated() -> Generator[None, None, None]:
    """psycopg's errors as ours."""
    try:
        yield
    except errors.ProgramLimitExceeded as error:  # psycopg counts it among the outages, but it is about one value
        raise StorageError(f"The database refused a statement: {_first_line(error)}.") from error
    except errors.LockNotAvailable as error:  # nor is this one an outage
        raise StorageError("Other work holds what this needs. Nothing was changed; try again in a moment.") from error
    except (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout) as error:
        # Not with libpq's words, which name hosts: whoever asks over HTTP reads this.
        raise DatabaseUnavailable(
            "The database cannot be reached right now. Try again; if it stays, `harry doctor` says why."
        ) from error
    except psycopg.Error as error:
        raise StorageError(f"The database refused a statement: {_first_line(error)}.") from error


async def connect(dsn: str, settings: Settings) -> AsyncConnection[Any]:
    """A connection outside of any pool, each statement its own transaction.

    Raises:
        DatabaseUnavailable: PostgreSQL cannot be reached, or the address is none.
    """
    try:
        return await AsyncConnection.connect(
            dsn, autocommit=True, connect_timeout=max(2, round(settings.database.connect_timeout))
        )
    except psycopg.ProgrammingError as error:  # not quoted, for libpq's words repeat the password
        raise DatabaseUnavailable(
            "The address of the database is none that PostgreSQL's library reads. Write HARRY_DATABASE_URL as "
            "postgresql://user:password@host:5432/database, or unset it to let harry run its own."
        ) from error
    except psycopg.Error as error:
        raise DatabaseUnavailable(f"PostgreSQL cannot be reached: {_first_line(error)}. {_advice(settings)}") from error


def _advice(settings: Settings) -> str:
    if settings.database_url.get_secret_value():
        return "Check HARRY_DATABASE_URL, or unset it to let harry run its own."
    folder = settings.data_dir / "postgres"
    return f"If it stays, the files in {folder} are damaged: restore a backup, or move the folder away to begin anew."


async def prepare(dsn: str, space: EmbeddingSpace, settings: Settings, *, any_space: bool) -> StoredSpace:
    """Bring the schema up to date and say which space the vectors are of; errors are those of ``Database.open``."""
    connection = await connect(dsn, settings)
    with translated():
        async with connection:
            await migrator.migrate(connection)
            await queries.run(connection, _SQL["session"], session_settings(settings))
            async with connection.transaction():
                # Two processes that open an empty database would both want to make the first space.
                await queries.run(connection, _SQL["queue"], {"lock": migrator.LOCK})
                return await use_space(connection, space, any_space=any_space)


async def open_pool(dsn: str, settings: Settings) -> AsyncConnectionPool[AsyncConnection[Any]]:
    """Connections that are there when this returns.

    Raises:
        DatabaseUnavailable: PostgreSQL cannot be reached.
    """

    async def configure(connection: AsyncConnection[Any]) -> None:
        await queries.run(connection, _SQL["session"], session_settings(settings))
        await register_vector_async(connection)

    pool: AsyncConnectionPool[AsyncConnection[Any]] = AsyncConnectionPool(
        dsn,
        min_size=min(2, settings.database.pool_size),
        max_size=settings.database.pool_size,
        kwargs={"autocommit": True},
        configure=configure,
        timeout=settings.database.connect_timeout,
        reconnect_timeout=_RECONNECT_SECONDS,
        name="harry",
        open=False,
    )
    try:
        await pool.open(wait=True, timeout=settings.database.connect_timeout)
    except PoolTimeout as error:
        await pool.close()
        raise DatabaseUnavailable from error
    return pool


def session_settings(settings: Settings) -> dict[str, object]:
    """What each connection is set to: the time limit of a statement, and how far the vector index looks."""
    reach = min(max(100, 2 * settings.retrieve.leg_candidates), _EF_SEARCH_LIMIT)
    return {
        "statement_timeout": f"{round(settings.database.statement_timeout * 1000)}ms",
        "ef_search": str(reach),
    }


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
