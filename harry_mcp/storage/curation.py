"""The log of what was done to documents and said of them. Rows are added, never changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from harry_mcp.storage import queries

_SQL = queries.load("curation")


@dataclass(frozen=True, slots=True)
class CurationEvent:
    """One row of the log."""

    id: int
    document_id: str
    event: str
    signal: str
    actor: str
    before: str
    after: str
    detail: dict[str, Any]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class NamedDocument:
    """A document that an address names."""

    id: str
    title: str
    status: str


@dataclass(frozen=True, slots=True)
class _Told:
    document_id: str


class CurationLog:
    """The log as one connection sees it."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    async def add(
        self,
        document_id: str,
        event: str,
        *,
        actor: str,
        signal: str = "",
        before: str = "",
        after: str = "",
        detail: Mapping[str, object] | None = None,
    ) -> None:
        await queries.run(
            self._connection,
            _SQL["log"],
            {
                "document_id": document_id,
                "event": event,
                "signal": signal,
                "actor": actor,
                "before": before,
                "after": after,
                "detail": Jsonb(dict(detail or {})),
            },
        )

    async def of_document(self, document_id: str, *, limit: int = 50) -> list[CurationEvent]:
        """The last rows of a document, the newest first."""
        parameters = {"document_id": document_id, "limit": limit}
        return await queries.many(self._connection, _SQL["of_document"], CurationEvent, parameters)

    async def told_by(self, told_by: str, ids: Sequence[str]) -> set[str]:
        """Those of some documents that were logged for one saying of a person already."""
        parameters = {"told_by": told_by, "ids": list(ids)}
        return {row.document_id for row in await queries.many(self._connection, _SQL["told_by"], _Told, parameters)}

    async def by_address(self, spellings: Sequence[str]) -> list[NamedDocument]:
        """The documents that any of some spellings of an address, or an id, names."""
        parameters = {"spellings": list(spellings), "lowered": [text.lower() for text in spellings]}
        return await queries.many(self._connection, _SQL["by_address"], NamedDocument, parameters)
