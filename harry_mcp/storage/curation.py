"""The log of what was done to documents and said of them. Rows are added, never changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from harry_mcp.domain.rot import Since
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
class OpenFlag:
    """A signal that speaks against a document and was not taken back."""

    document_id: str
    signal: str
    evidence: str
    detail: dict[str, Any]
    at: datetime


@dataclass(frozen=True, slots=True)
class _Number:
    id: int


@dataclass(frozen=True, slots=True)
class _Signal:
    signal: str


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

    async def evidence(self, document_id: str, signal: str, evidence: str) -> str:
        """What to log a signal under: what it rests on, with a number behind it when that was taken back meanwhile."""
        parameters = {"document_id": document_id, "signal": signal, "evidence": evidence}
        row = await queries.one(self._connection, _SQL["withdrawals"], _Number, parameters)
        return f"{evidence}#{row.id}" if row and row.id else evidence

    async def told_by(self, signal: str, told_by: str) -> list[OpenFlag]:
        """The signals that stand whose evidence begins so, by document."""
        parameters = {"signal": signal, "told_by": told_by}
        return await queries.many(self._connection, _SQL["told_by"], OpenFlag, parameters)

    async def open_flags(self, document_id: str) -> list[OpenFlag]:
        """The signals that a document is flagged for, in their order."""
        return await queries.many(self._connection, _SQL["open_flags"], OpenFlag, {"document_id": document_id})

    async def curated(self, document_id: str) -> bool:
        """Whether a curator did anything with a document that left it flagged."""
        return bool(await queries.many(self._connection, _SQL["curated"], _Number, {"document_id": document_id}))

    async def told_of(self, other_id: str) -> list[OpenFlag]:
        """The signals that stand against documents that readers see and rest on another one, by document."""
        return await queries.many(self._connection, _SQL["told_of"], OpenFlag, {"other": other_id})

    async def withdrawn_since(self, document_id: str, log_id: int) -> list[str]:
        """The signals of which anything was taken back that speaks against a document, after a row of the log."""
        parameters = {"document_id": document_id, "log_id": log_id}
        rows = await queries.many(self._connection, _SQL["withdrawn_since"], _Signal, parameters)
        return [row.signal for row in rows]

    async def decided_since(self, document_id: str, log_id: int) -> bool:
        """Whether a curator did anything with a document after a row of the log that stands."""
        parameters = {"document_id": document_id, "log_id": log_id}
        return bool(await queries.many(self._connection, _SQL["decided_since"], _Number, parameters))

    async def reopened_since(self, document_id: str, log_id: int) -> list[CurationEvent]:
        """The withdrawals of a document that were undone after a row of the log, in the order of that."""
        parameters = {"document_id": document_id, "log_id": log_id}
        return await queries.many(self._connection, _SQL["reopened_since"], CurationEvent, parameters)

    async def settled_by(self, action_id: str) -> list[CurationEvent]:
        """What an action took back of what was said against other documents than its own, in its order."""
        return await queries.many(self._connection, _SQL["settled_by"], CurationEvent, {"action_id": action_id})

    async def since(self, ids: Collection[str]) -> dict[str, list[Since]]:
        """What happened since signals last spoke against documents, by document."""
        found: dict[str, list[Since]] = {}
        for row in await queries.many(self._connection, _SQL["since"], Since, {"ids": list(ids)}):
            found.setdefault(row.document_id, []).append(row)
        return found

    async def of_document(self, document_id: str, *, limit: int = 50) -> list[CurationEvent]:
        """The last rows of a document, the newest first."""
        parameters = {"document_id": document_id, "limit": limit}
        return await queries.many(self._connection, _SQL["of_document"], CurationEvent, parameters)
