"""Documents as a person who tidies up names them: one by one, or all under an address or a folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection

from harry_mcp.storage import queries

_SQL = queries.load("catalogue")


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """A document in a list."""

    id: str
    source: str
    title: str
    url: str
    topic: str
    status: str
    version: int
    updated_at: datetime
    chunks: int


@dataclass(frozen=True, slots=True)
class Title:
    """A title, how many documents bear it, and how many titles were found in all."""

    title: str
    id: str
    bearers: int
    total: int


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic, and how many were found in all."""

    topic: str
    total: int


@dataclass(frozen=True, slots=True)
class Named:
    """A document by its title."""

    id: str
    title: str


@dataclass(frozen=True, slots=True)
class _Id:
    id: str


class Catalogue:
    """The list of documents as one connection sees it."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    async def all(self, *, status: str = "", limit: int | None = None) -> list[CatalogueEntry]:
        return await self._listed((), (), everything=True, status=status, limit=limit)

    async def named(
        self, names: Sequence[str], under: Sequence[str] = (), *, status: str = "", limit: int | None = None
    ) -> list[CatalogueEntry]:
        """Documents whose id, source or URL is one of the ``names`` or begins with one of ``under``."""
        return await self._listed(names, under, everything=False, status=status, limit=limit)

    async def _listed(
        self, names: Sequence[str], under: Sequence[str], *, everything: bool, status: str, limit: int | None
    ) -> list[CatalogueEntry]:
        parameters: dict[str, object] = {
            "names": list(names),
            "under": list(under),
            "everything": everything,
            "status": status,
            "limit": limit,
        }
        return await queries.many(self._connection, _SQL["listed"], CatalogueEntry, parameters)

    async def titles(self, letters: str, *, limit: int) -> list[Title]:
        """Titles that hold some letters, those that begin with them first."""
        parameters = {"letters": letters, "limit": limit}
        return await queries.many(self._connection, _SQL["titles"], Title, parameters)

    async def topics(self, letters: str, *, limit: int) -> list[Topic]:
        """Topics that hold some letters, the commonest first."""
        parameters = {"letters": letters, "limit": limit}
        return await queries.many(self._connection, _SQL["topics"], Topic, parameters)

    async def titled(self, title: str) -> list[str]:
        """The ids of documents of a title, two at most."""
        return [row.id for row in await queries.many(self._connection, _SQL["titled"], _Id, {"title": title})]

    async def latest(self, limit: int) -> list[Named]:
        """The documents that readers see and that changed last."""
        return await queries.many(self._connection, _SQL["latest"], Named, {"limit": limit})
