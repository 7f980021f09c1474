"""Marks that server processes set for one another, each for a while."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from psycopg import AsyncConnection

from harry_mcp.storage import queries

_SQL = queries.load("shared_marks")


@dataclass(frozen=True, slots=True)
class _Mark:
    kind: str
    key: str


class SharedMarks:
    """The marks as one connection sees them."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    async def set(self, kind: str, key: str, *, seconds: float) -> None:
        """Set one. Those whose time is over go meanwhile, so that they never grow many."""
        await queries.run(self._connection, _SQL["forget"])
        await queries.run(self._connection, _SQL["set"], {"kind": kind, "key": key, "seconds": seconds})

    async def drop(self, kind: str, key: str) -> None:
        await queries.run(self._connection, _SQL["drop"], {"kind": kind, "key": key})

    async def is_set(self, kind: str, key: str) -> bool:
        return await queries.one(self._connection, _SQL["find"], _Mark, {"kind": kind, "key": key}) is not None
