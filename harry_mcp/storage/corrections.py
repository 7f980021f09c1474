"""Corrections, every submission of one, and every answer that one went into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection

from harry_mcp.domain.corrections import (
    Correction,
    CorrectionStatus,
    Lesson,
    Relevant,
    SubmissionOutcome,
    TouchedAnswer,
    asked_id,
)
from harry_mcp.errors import NotFoundError
from harry_mcp.storage import queries

_SQL = queries.load("corrections")


@dataclass(frozen=True, slots=True)
class AuthorRecord:
    """What an author did before."""

    last_hour: int
    approved: int


@dataclass(frozen=True, slots=True)
class ChangedSource:
    """A correction, and the document of its page, which changed since."""

    id: str
    document_id: str


@dataclass(frozen=True, slots=True)
class Learnt:
    """Proof of learning: how often a correction was served, and how often the same complaint came back.

    ``reported_again`` counts submissions of the same lesson after the first, ``complained_of`` thumbs down for answers
    that it went into.
    """

    id: str
    lesson: str
    status: str
    created_at: datetime
    served: int
    reported_again: int
    complained_of: int


@dataclass(frozen=True, slots=True)
class _Standing:
    status: str
    corrections: int


@dataclass(frozen=True, slots=True)
class _Id:
    id: str


@dataclass(frozen=True, slots=True)
class _Injected:
    correction_id: str


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question, and the words in which it was searched for."""

    question: str
    query: str


@dataclass(frozen=True, slots=True)
class _Answers:
    answers: int


class Corrections:
    """The corrections as one connection sees them. Writing needs a transaction around it."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    async def queue(self) -> None:
        """Be the only one to decide whether a lesson is new, until the transaction ends."""
        await queries.run(self._connection, _SQL["queue"])

    async def insert(self, lesson: Lesson, *, status: CorrectionStatus, reason: str, author: str) -> bool:
        """Store a lesson; false when it is there word for word."""
        columns = {
            **_columns(lesson),
            "id": lesson.id,
            "topic": lesson.topic,
            "status": status.value,
            "status_reason": reason,
            "author": author,
        }
        return await queries.run(self._connection, _SQL["insert"], columns) > 0

    async def report(
        self, correction_id: str, lesson: Lesson, *, author: str, result_id: str, outcome: SubmissionOutcome
    ) -> None:
        """Keep a submission, and count it for a correction."""
        columns = {
            **_columns(lesson),
            "correction_id": correction_id,
            "author": author,
            "result_id": result_id,
            "outcome": outcome.value,
        }
        await queries.run(self._connection, _SQL["report"], columns)
        await queries.run(self._connection, _SQL["touched_row"], {"id": correction_id})

    async def ask(self, correction_id: str, question: str, *, most: int) -> bool:
        """Note a question that a correction was made on; false when it is noted already, or ``most`` others are.

        Wants the queue, as all that decides what is new.
        """
        columns = {
            "id": asked_id(correction_id, question),
            "correction_id": correction_id,
            "question": question,
            "most": most,
        }
        return await queries.run(self._connection, _SQL["ask"], columns) > 0

    async def get(self, correction_id: str) -> Correction:
        """A correction.

        Raises:
            NotFoundError: there is none of that id.
        """
        found = (await self.by_ids([correction_id])).get(correction_id)
        if found is None:
            raise NotFoundError(f"There is no correction {correction_id[:60]!r}. list_corrections shows them.")
        return found

    async def by_ids(self, ids: Sequence[str]) -> dict[str, Correction]:
        rows = await queries.many(self._connection, _SQL["by_ids"], Correction, {"ids": list(ids)})
        return {row.id: _typed(row) for row in rows}

    async def list(self, status: str, *, topic: str = "", limit: int, offset: int = 0) -> list[Correction]:
        """Corrections, the last changed first; '' stands for every status and every topic."""
        parameters = {"status": status, "topic": topic, "limit": limit, "offset": offset}
        return [_typed(row) for row in await queries.many(self._connection, _SQL["list"], Correction, parameters)]

    async def standing(self, *, topic: str = "") -> dict[str, int]:
        """How many corrections of a topic stand in each status that any has."""
        rows = await queries.many(self._connection, _SQL["standing"], _Standing, {"topic": topic})
        return {row.status: row.corrections for row in rows}

    async def decide(self, correction_id: str, status: CorrectionStatus, *, reason: str, by: str) -> None:
        parameters = {"id": correction_id, "status": status.value, "reason": reason, "by": by}
        await queries.run(self._connection, _SQL["decide"], parameters)

    async def name_source(self, correction_id: str, url: str) -> None:
        """Note the page that a correction speaks of."""
        await queries.run(self._connection, _SQL["name_source"], {"id": correction_id, "source_url": url})

    async def drafted(self, correction_id: str, document_id: str, *, before: str = "") -> bool:
        """Note the draft that a correction becomes, in place of ``before``; false when somebody else noted one."""
        parameters = {"id": correction_id, "document_id": document_id, "before": before}
        return await queries.run(self._connection, _SQL["drafted"], parameters) > 0

    async def record_of(self, caller: str) -> AuthorRecord:
        """What a caller did before, for itself or in the name of others."""
        found = await queries.one(self._connection, _SQL["submissions_of"], AuthorRecord, {"caller": caller})
        return found or AuthorRecord(0, 0)

    async def inject(self, relevant: Sequence[Relevant], *, result_id: str, question: str) -> None:
        """Note that corrections went into an answer."""
        parameters = {
            "result_id": result_id,
            "question": question,
            "ids": [item.correction.id for item in relevant],
            "relevances": [item.relevance for item in relevant],
        }
        await queries.run(self._connection, _SQL["inject"], parameters)

    async def touched(self, correction_id: str, *, limit: int) -> list[TouchedAnswer]:
        """The answers that a correction went into, the last first."""
        parameters = {"id": correction_id, "limit": limit}
        return await queries.many(self._connection, _SQL["injected_into"], TouchedAnswer, parameters)

    async def touched_count(self, correction_id: str) -> int:
        found = await queries.one(self._connection, _SQL["injection_count"], _Answers, {"id": correction_id})
        return found.answers if found else 0

    async def injected_by(self, result_id: str) -> list[str]:
        """The ids of the corrections that went into an answer."""
        rows = await queries.many(self._connection, _SQL["injected_by"], _Injected, {"result_id": result_id})
        return [row.correction_id for row in rows]

    async def recent_questions(self, limit: int) -> list[AskedQuestion]:
        """The last questions, each once, the last first."""
        return await queries.many(self._connection, _SQL["recent_questions"], AskedQuestion, {"limit": limit})

    async def unused_since(self, days: int) -> list[str]:
        """Active corrections that no answer used for a number of days."""
        return [row.id for row in await queries.many(self._connection, _SQL["unused_since"], _Id, {"days": days})]

    async def changed_sources(self) -> list[ChangedSource]:
        """Active corrections whose page changed after they were made."""
        return await queries.many(self._connection, _SQL["active_with_source"], ChangedSource)

    async def learning(self, limit: int) -> list[Learnt]:
        """What each correction did since it was made, the newest first."""
        return await queries.many(self._connection, _SQL["learning"], Learnt, {"limit": limit})

    async def of_document(self, document_id: str) -> list[str]:
        """The corrections that a draft document was made of, but those given up."""
        rows = await queries.many(self._connection, _SQL["of_document"], _Id, {"document_id": document_id})
        return [row.id for row in rows]


def _columns(lesson: Lesson) -> dict[str, object]:
    return {"wrong": lesson.wrong, "truth": lesson.truth, "lesson": lesson.line, "source_url": lesson.source_url}


def _typed(row: Correction) -> Correction:
    return replace(row, status=CorrectionStatus(row.status), questions=tuple(row.questions))
