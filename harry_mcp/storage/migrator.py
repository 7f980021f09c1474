"""Forward-only migrations, safe with several processes starting at once."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from importlib import resources
from typing import Any, LiteralString, cast

import psycopg
from psycopg import AsyncConnection

from harry_mcp.errors import MigrationError
from harry_mcp.storage import queries

_SQL = queries.load("migrations")
_NAME = re.compile(r"^(\d{4})_([a-z0-9_]+)\.sql$")
# Any constant serves, as long as every version of this package queues at the same one: "harry" in hex.
LOCK = 0x6861727279


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema."""

    number: int
    name: str
    text: LiteralString

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _Applied:
    number: int
    checksum: str


@dataclass(frozen=True, slots=True)
class _There:
    there: bool


def migrations() -> list[Migration]:
    """All migrations of this package, in order."""
    found: list[Migration] = []
    for entry in resources.files("harry_mcp.storage.migrations").iterdir():
        match = _NAME.match(entry.name)
        if match:
            text = cast(LiteralString, entry.read_text(encoding="utf-8").replace("\r\n", "\n"))
            found.append(Migration(int(match[1]), match[2], text))
    return sorted(found, key=lambda migration: migration.number)


async def migrate(connection: AsyncConnection[Any]) -> int:
    """Bring the schema up to date; the number of steps taken. The connection must be outside a transaction.

    Raises:
        MigrationError: a step failed (nothing of it stays), or the schema is newer than this package.
    """
    try:
        async with connection.transaction():
            # Before the schema is there, several processes may all want to create it.
            await queries.run(connection, _SQL["queue"], {"lock": LOCK})
            found = await queries.one(connection, _SQL["has_schema"], _There)
            if found is None or not found.there:
                await queries.run(connection, _SQL["create_schema"])
            await queries.run(connection, _SQL["use_schema"])
            await queries.run(connection, _SQL["create_table"])
            applied = {row.number: row.checksum for row in await queries.many(connection, _SQL["applied"], _Applied)}
            return await _apply(connection, applied)
    except psycopg.Error as error:
        raise MigrationError(
            f"The database schema cannot be brought up to date: {str(error).strip()} Nothing was changed. "
            "harry needs PostgreSQL 15 or later with pgvector 0.7 or later, and the right to create objects."
        ) from error


async def _apply(connection: AsyncConnection[Any], applied: dict[int, str]) -> int:
    known = migrations()
    newest = max((migration.number for migration in known), default=0)
    if any(number > newest for number in applied):
        raise MigrationError(
            f"The database has schema {max(applied)}, this harry knows up to {newest}. Install the newer harry."
        )
    taken = 0
    for migration in known:
        if migration.number in applied:
            if applied[migration.number] != migration.checksum:
                raise MigrationError(
                    f"Migration {migration.number} was changed after it ran. Install the harry that ran it."
                )
            continue
        async with connection.cursor() as cursor:
            await cursor.execute(migration.text)
        await queries.run(
            connection,
            _SQL["record"],
            {"number": migration.number, "name": migration.name, "checksum": migration.checksum},
        )
        taken += 1
    return taken
