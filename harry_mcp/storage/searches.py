"""The record of searches, and of the gaps that they showed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from harry_mcp.domain.search import Candidate, SearchFilters, SearchResult
from harry_mcp.storage import queries

_SQL = queries.load("searches")
# Candidates kept of a search: those that were ranked to become hits, and some that nearly were.
_KEPT = 30


@dataclass(frozen=True, slots=True)
class StoredSearch:
    """A past search, as it can be explained."""

    id: str
    question: str
    query: str
    filters: dict[str, str]
    status: str
    verdict: dict[str, Any]
    ranking: list[dict[str, Any]]
    degraded: list[str]
    timings_ms: dict[str, float]
    revision: int
    course: dict[str, str]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class SearchCounts:
    """Searches in a span of days, and how many of them were weak."""

    searches: int
    weak: int


class Searches:
    """The record as one connection sees it."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    async def record(self, searches: Sequence[tuple[SearchResult, SearchFilters]]) -> None:
        """Write down searches and the gaps that they opened, all in one statement; again is no harm."""
        rows = [_row(result, filters) for result, filters in searches]
        await queries.run(self._connection, _SQL["record"], {"searches": Jsonb(rows)})

    async def get(self, search_id: str) -> StoredSearch | None:
        return await queries.one(self._connection, _SQL["by_id"], StoredSearch, {"id": search_id})

    async def counts(self, days: int) -> SearchCounts:
        found = await queries.one(self._connection, _SQL["recent_count"], SearchCounts, {"days": days})
        return found or SearchCounts(0, 0)


def _row(result: SearchResult, filters: SearchFilters) -> dict[str, object]:
    verdict = result.verdict
    return {
        "id": result.search_id,
        "question": result.question,
        "query": result.query.text,
        "filters": filters.as_json(),
        "status": result.status.value,
        "verdict": {
            "score": verdict.score,
            "answerable": verdict.answerable,
            "band": verdict.band.value,
            "next_action": verdict.next_action.value,
            "relevance_source": verdict.relevance_source,
        },
        "ranking": [_signals(candidate) for candidate in result.ranking[:_KEPT]],
        "degraded": list(result.degraded),
        "timings_ms": {name: round(value, 2) for name, value in result.timings_ms.items()},
        "revision": result.revision,
        "course": result.course,
        "gap_id": result.gap_id,
        "topic": filters.topic,
        "score": verdict.score,
    }


def _signals(candidate: Candidate) -> dict[str, object]:
    return {
        "chunk_id": candidate.public_id,
        "document_id": candidate.document_id,
        "cosine": _rounded(candidate.cosine),
        "bm25": _rounded(candidate.bm25),
        "keyword_rank": candidate.keyword_rank,
        "vector_rank": candidate.vector_rank,
        "rrf": _rounded(candidate.rrf),
        "lexical": _rounded(candidate.lexical),
        "fusion": _rounded(candidate.fusion),
        "score": _rounded(candidate.score),
        "raw": _rounded(candidate.raw),
        "duplicates": list(candidate.duplicates),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 5)
