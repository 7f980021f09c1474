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
