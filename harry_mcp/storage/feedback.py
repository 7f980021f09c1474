"""What people said of answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection

from harry_mcp.domain.feedback import Feedback, PastFailure, Rating
from harry_mcp.storage import queries

_SQL = queries.load("feedback")


@dataclass(frozen=True, slots=True)
class Standing:
    """A verdict that stands."""

    rating: str
    reason: str


@dataclass(frozen=True, slots=True)
class VerdictCount:
    """Verdicts of one kind."""

    rating: str
    reason: str
    number: int


@dataclass(frozen=True, slots=True)
class Praised:
    """A result that was praised, with the addresses that its answer cited."""

    result_id: str
    question: str
    source_urls: list[str]
    created_at: datetime


class FeedbackLog:
    """The verdicts as one connection sees them. Writing needs a transaction around it."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    async def put(self, feedback: Feedback) -> Standing | None:
        """Store a verdict; the one that it replaces, None when it is the first."""
        before = await queries.one(self._connection, _SQL["lock"], Standing, {"id": feedback.id})
        await queries.run(
            self._connection,
            _SQL["put"],
            {
                "id": feedback.id,
                "result_id": feedback.result_id,
                "author": feedback.author,
                "rating": feedback.rating.value,
                "reason": feedback.reason,
                "question": feedback.question,
                "answer": feedback.answer,
                "comment": feedback.comment,
                "source_urls": list(feedback.source_urls),
                "verified_id": feedback.verified_id,
            },
        )
        return before

    async def complains(self, key: str) -> bool:
        """Whether a complaint stands under an id."""
        standing = await queries.one(self._connection, _SQL["standing"], Standing, {"id": key})
        return standing is not None and standing.rating == Rating.DOWN

    async def failures(self, ids: Sequence[str]) -> dict[str, PastFailure]:
        """What went wrong, by id."""
        rows = await queries.many(self._connection, _SQL["failures"], PastFailure, {"ids": list(ids)})
        return {row.id: row for row in rows}

    async def praised(self) -> list[Praised]:
        """Results that somebody praised and nobody complained of, the first first."""
        return await queries.many(self._connection, _SQL["praised"], Praised)

    async def counts(self, days: int) -> list[VerdictCount]:
        return await queries.many(self._connection, _SQL["counts"], VerdictCount, {"days": days})
