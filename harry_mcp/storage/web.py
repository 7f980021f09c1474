"""Web searches: what they brought, kept for a while, and how many a day had."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection
from psycopg.types.json import Jsonb
from pydantic import TypeAdapter

from harry_mcp.domain.web import WebAnswer, WebFinding
from harry_mcp.storage import queries

_SQL = queries.load("web")
_FINDING = TypeAdapter(WebFinding)
_NO_LIMIT = 2**31 - 1


@dataclass(frozen=True, slots=True)
class KeptFinding:
    """What the web said, and when."""

    finding: WebFinding
    asked_at: datetime


@dataclass(frozen=True, slots=True)
class StoredWebSearch:
    """A past web search. ``results`` are the pages passed on, each with url, title, score, passages and caveats."""

    id: str
    gap_id: str
    search_id: str
    question: str
    topic: str
    status: str
    degraded: list[str]
    cached: bool
    results: list[dict[str, Any]]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class _Row:
    finding: dict[str, Any]
    asked_at: datetime


class WebSearches:
    """Web searches as one connection sees them."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    async def cached(self, key: str, seconds: int) -> KeptFinding | None:
        """What was kept under a key within the last ``seconds``."""
        row = await queries.one(self._connection, _SQL["cached"], _Row, {"key": key, "seconds": seconds})
        return KeptFinding(_FINDING.validate_python(row.finding), row.asked_at) if row else None

    async def keep(self, key: str, finding: WebFinding, seconds: int) -> None:
        """Keep a finding under its key; what is older than ``seconds`` goes."""
        kept = {"key": key, "finding": Jsonb(asdict(finding)), "seconds": seconds}
        await queries.run(self._connection, _SQL["keep"], kept)

    async def take_call(self, limit: int) -> bool:
        """Whether today (UTC) has a call left, which is then taken; exact whoever else asks. 0 is no limit."""
        return await queries.run(self._connection, _SQL["take_call"], {"limit": limit or _NO_LIMIT}) > 0

    async def record(self, answer: WebAnswer, search_id: str) -> None:
        """Write down an answer, whose gap must be logged before."""
        await queries.run(
            self._connection,
            _SQL["record"],
            {
                "id": answer.web_id,
                "gap_id": answer.gap_id,
                "search_id": search_id,
                "question": answer.question,
                "topic": answer.topic,
                "status": answer.status.value,
                "degraded": list(answer.degraded),
                "cached": answer.cached,
                "results": Jsonb([asdict(source) for source in answer.finding.sources]),
            },
        )

    async def get(self, web_id: str) -> StoredWebSearch | None:
        return await queries.one(self._connection, _SQL["by_id"], StoredWebSearch, {"id": web_id})
