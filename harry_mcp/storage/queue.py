"""What waits for a curator: what its harm is counted from, and what is told of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection

from harry_mcp.storage import queries

_SQL = queries.load("queue")


@dataclass(frozen=True, slots=True)
class Waiting:
    """A document in the queue. ``signals``: different ones since a curator ``looked``."""

    id: str
    age_days: int
    uses: int
    looked: bool
    signals: int


@dataclass(frozen=True, slots=True)
class _Standing:
    status: str
    documents: int


@dataclass(frozen=True, slots=True)
class ItemRow:
    """What is told of a document."""

    id: str
    title: str
    url: str
    source: str
    topic: str
    status: str
    version: int
    updated_at: datetime
    signal_count: int
    last_action: str
    last_action_at: datetime | None


@dataclass(frozen=True, slots=True)
class SignalRow:
    """What was said against a document."""

    document_id: str
    signal: str
    actor: str
    at: datetime
    detail: dict[str, Any]
    settled: bool


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question of late. ``query`` is what was searched for it; ``total`` counts all that there are."""

    question: str
    query: str
    asked: int
    total: int


@dataclass(frozen=True, slots=True)
class _Length:
    queue: str
    length: int


class ReviewQueue:
    """The queue as one connection sees it."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    async def waiting(
        self, statuses: Sequence[str], *, days: int, document_id: str = "", words: str = "", signal: str = ""
    ) -> list[Waiting]:
        """All documents in some statuses, in no order; or one document, whatever its status.

        ``words`` lets through those that are named by them, ``signal`` those that it speaks against.
        """
        parameters = {"statuses": list(statuses), "days": days, "id": document_id, "words": words, "signal": signal}
        return await queries.many(self._connection, _SQL["waiting"], Waiting, parameters)

    async def standing(self) -> dict[str, int]:
        """How many documents stand in each status that any has."""
        rows = await queries.many(self._connection, _SQL["standing"], _Standing)
        return {row.status: row.documents for row in rows}

    async def items(self, ids: Sequence[str]) -> dict[str, ItemRow]:
        rows = await queries.many(self._connection, _SQL["items"], ItemRow, {"ids": list(ids)})
        return {row.id: row for row in rows}

    async def signals(self, ids: Sequence[str], *, each: int) -> dict[str, list[SignalRow]]:
        """The newest signals of documents, at most so many of each."""
        rows = await queries.many(self._connection, _SQL["signals"], SignalRow, {"ids": list(ids), "each": each})
        found: dict[str, list[SignalRow]] = {key: [] for key in ids}
        for row in rows:
            found[row.document_id].append(row)
        return found

    async def asked(self, *, days: int, limit: int, about: Sequence[str] = ()) -> list[AskedQuestion]:
        """Different questions of the last days without filters, the most asked first.

        With documents in ``about``, only those that had one of them among their first passages.
        """
        parameters = {"days": days, "limit": limit, "ids": list(about)}
        return await queries.many(self._connection, _SQL["asked"], AskedQuestion, parameters)

    async def lengths(self) -> dict[str, int]:
        """How much waits for a curator or a worker, by queue."""
        rows = await queries.many(self._connection, _SQL["lengths"], _Length)
        return {row.queue: row.length for row in rows}
