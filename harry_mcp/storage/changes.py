"""What changed since one looked last, whoever changed it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from psycopg import AsyncConnection

from harry_mcp.storage import queries

_SQL = queries.load("changes")


@dataclass(frozen=True, slots=True)
class Marks:
    """Where things stand. ``log`` is the last row of the curation log."""

    revision: int
    log: int
    corrections: str


@dataclass(frozen=True, slots=True)
class _Version:
    id: str
    version: int


class Changes:
    """Changes as one connection sees them."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    async def marks(self) -> Marks:
        return await queries.one(self._connection, _SQL["marks"], Marks) or Marks(0, 0, "")

    async def recent(self, minutes: int) -> frozenset[tuple[str, int]]:
        """Documents that were written in the last minutes, with their versions."""
        rows = await queries.many(self._connection, _SQL["recent"], _Version, {"minutes": minutes})
        return frozenset((row.id, row.version) for row in rows)

    async def spoken_of(self, log: int) -> frozenset[str]:
        """Documents that something was said of after a row of the curation log."""
        rows = await queries.many(self._connection, _SQL["spoken_of"], _Version, {"log": log})
        return frozenset(row.id for row in rows)
