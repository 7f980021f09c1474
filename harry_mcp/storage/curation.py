"""The log of what was done to documents and said of them. Rows are added, never changed."""

from __future__ import annotations

from collections.abc import Mapping
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
class _Number:
    id: int


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
        evidence: str = "",
    ) -> int:
        """Add a row; its number."""
        row = await queries.one(
            self._connection,
            _SQL["log"],
            _Number,
            {
                "document_id": document_id,
                "event": event,
                "signal": signal,
                "actor": actor,
                "before": before,
                "after": after,
                "detail": Jsonb(dict(detail or {})),
                "evidence": evidence,
            },
        )
        return row.id if row else 0

    async def knows(self, document_id: str, signal: str, evidence: str) -> bool:
        """Whether a signal was logged for a document with this evidence."""
        parameters = {"document_id": document_id, "signal": signal, "evidence": evidence}
        return await queries.one(self._connection, _SQL["known"], _Number, parameters) is not None

    async def of_document(self, document_id: str, *, limit: int = 50) -> list[CurationEvent]:
        """The last rows of a document, the newest first."""
        parameters = {"document_id": document_id, "limit": limit}
        return await queries.many(self._connection, _SQL["of_document"], CurationEvent, parameters)
