"""Questions that the knowledge base could not answer, how often each was asked, and what the web said to them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from harry_mcp.storage import queries

_SQL = queries.load("gaps")


@dataclass(frozen=True, slots=True)
class Gap:
    """A question that the knowledge base could not answer, and how often it was asked."""

    id: str
    question: str
    topic: str
    best_score: float
    occurrences: int
    first_seen_at: datetime
    last_seen_at: datetime


@dataclass(frozen=True, slots=True)
class ListedGap(Gap):
    """A gap with what the web said to it last, None while it was not asked. ``total``: all that were let through."""

    web_results: dict[str, Any] | None
    total: int


@dataclass(frozen=True, slots=True)
class GapLog:
    """One asking. ``web_results`` is None while the web was not asked; ``search_id`` None when no search is known."""

    id: int
    gap_id: str
    search_id: str | None
    query: str
    topic: str
    best_score: float
    web_results: dict[str, Any] | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """A question that the knowledge base missed. ``search_id`` is one that is stored, or empty.

    ``gap_id`` groups it with its likes; ``question`` is what a new gap is shown as, ``query`` what the web was asked.
    ``best_score`` is 0 when no search measured one.
    """

    gap_id: str
    question: str
    query: str
    topic: str = ""
    best_score: float = 0.0
    search_id: str = ""


@dataclass(frozen=True, slots=True)
class _Line:
    id: int
    gap_id: str


class Gaps:
    """The gaps as one connection sees them."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    async def most_asked(self, limit: int) -> list[Gap]:
        return await queries.many(self._connection, _SQL["most_asked"], Gap, {"limit": limit})

    async def listed(
        self, *, gap: str = "", topic: str = "", latest: bool = False, limit: int, offset: int = 0
    ) -> list[ListedGap]:
        """Gaps, the most asked first or the ``latest``; ``topic`` is the beginning of a breadcrumb."""
        parameters = {"id": gap, "topic": topic, "latest": latest, "limit": limit, "offset": offset}
        return await queries.many(self._connection, _SQL["listed"], ListedGap, parameters)

    async def get(self, gap: str) -> Gap | None:
        return await queries.one(self._connection, _SQL["by_id"], Gap, {"id": gap})

    async def of_search(self, search_id: str) -> Gap | None:
        """The gap that a search opened or counted up."""
        return await queries.one(self._connection, _SQL["of_search"], Gap, {"search_id": search_id})

    async def logs(self, gap: str, limit: int = 100) -> list[GapLog]:
        """The askings of a gap, the newest first."""
        return await queries.many(self._connection, _SQL["logs"], GapLog, {"id": gap, "limit": limit})

    async def log_web(self, miss: Miss, web_results: dict[str, object], *, minutes: int) -> str:
        """Log what the web returned for a miss; the id of its gap. Needs a transaction around it.

        The line of the search that missed is completed. Where none is named it is the newest one of the same question
        from the last ``minutes`` that no web search completed yet. Only where there is no such line is the gap counted
        once more, opened when it is new.
        """
        line = await self._of_search(miss)
        found = asdict(miss) | {"minutes": minutes, "web_results": Jsonb(web_results)}
        found["gap_id"] = line.gap_id if line else miss.gap_id
        await queries.run(self._connection, _SQL["hold"], found)
        # The gap is locked from here on, so whoever logs the same miss at the same time is seen.
        line = line or await self._of_search(miss)
        if line is None and not miss.search_id:
            line = await queries.one(self._connection, _SQL["log_without_web"], _Line, found)
        if line is None:
            await queries.run(self._connection, _SQL["log_asking"], found)
        else:
            await queries.run(self._connection, _SQL["complete_log"], found | {"id": line.id})
        return str(found["gap_id"])

    async def _of_search(self, miss: Miss) -> _Line | None:
        if not miss.search_id:
            return None
        return await queries.one(self._connection, _SQL["log_of_search"], _Line, {"search_id": miss.search_id})
