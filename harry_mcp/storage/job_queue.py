"""The schema of the job queue. Its tables belong to the library that runs the queue, which brings the statements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, LiteralString, cast

import psycopg
from psycopg import AsyncConnection
from psycopg.pq import TransactionStatus

from harry_mcp.errors import MigrationError
from harry_mcp.storage import queries

_SQL = queries.load("job_queue")
# "harry jobs" in hex, shortened to 63 bits.
_LOCK = 0x68617272796A6F


@dataclass(frozen=True, slots=True)
class _There:
    there: bool


@dataclass(frozen=True, slots=True)
class _Step:
    name: str


async def configure(connection: AsyncConnection[Any]) -> None:
    """Set a connection of the queue up: it sees the queue's tables and none of ours."""
    await queries.run(connection, _SQL["use_schema"])
    if connection.info.transaction_status is not TransactionStatus.IDLE:
        await connection.commit()


def connection_lost(error: BaseException) -> bool:
    """Whether PostgreSQL or the way to it is at fault, and not the program."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, (psycopg.OperationalError, psycopg.InterfaceError, OSError)):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


async def install(connection: AsyncConnection[Any], whole: str, steps: Mapping[str, str]) -> int:
    """Make the queue's schema, or bring it up to date; the number of steps taken.

    ``whole`` makes all of it at once; ``steps`` by name, in their order, are what it took to get there from earlier
    versions. Each step is one transaction. Several processes may do it at once. The connection must be outside of a
    transaction, and is to be closed afterwards: it holds a lock.

    Raises:
        MigrationError: a step failed (nothing of it stays), or the schema is newer than the library.
    """
    try:
        await queries.run(connection, _SQL["lock"], {"lock": _LOCK})
        found = await queries.one(connection, _SQL["has_schema"], _There)
        if found is None or not found.there:
            await queries.run(connection, _SQL["create_schema"])
        await queries.run(connection, _SQL["use_schema"])
        applied = {row.name for row in await queries.many(connection, _SQL["applied"], _Step)}
        if applied - set(steps):
            raise MigrationError("The job queue was made by a newer procrastinate. Install the newer harry.")
        if not applied:
            await _take(connection, whole, list(steps))
            return 1
        missing = [name for name in steps if name not in applied]
        for name in missing:
            await _take(connection, steps[name], [name])
        return len(missing)
    except psycopg.Error as error:
        raise MigrationError(
            f"The job queue's schema cannot be made: {str(error).strip()} A worker needs the right to create a schema "
            "in the database."
        ) from error


async def _take(connection: AsyncConnection[Any], statements: str, names: list[str]) -> None:
    async with connection.transaction(), connection.cursor() as cursor:
        await cursor.execute(cast(LiteralString, statements))
        await queries.run(connection, _SQL["record"], {"names": names})
