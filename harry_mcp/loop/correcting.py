"""A correction on its way in: screened, split, merged or new, believed or waiting. The next answer has it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from harry_mcp.domain.corrections import (
    Correction,
    CorrectionStatus,
    Lesson,
    SubmissionOutcome,
)
from harry_mcp.domain.people import Principal
from harry_mcp.errors import InputError, NotFoundError
from harry_mcp.loop.breadth import Breadth
from harry_mcp.loop.flagging import flag_source
from harry_mcp.loop.healing import OnDatabase, healed
from harry_mcp.loop.intake import Intake, Taken, made_on
from harry_mcp.loop.lesson_vectors import lesson_vectors
from harry_mcp.loop.placing import Asked, Placer, Submission
from harry_mcp.loop.promoting import Promoter
from harry_mcp.loop.questions import Questions
from harry_mcp.loop.rated import rated
from harry_mcp.loop.words import Words
from harry_mcp.metering import count_correction
from harry_mcp.ports import Embedder, LanguageModel
from harry_mcp.settings import Settings
from harry_mcp.storage.database import Database
from harry_mcp.storage.texts import as_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """What became of one lesson."""

    correction: Correction
    outcome: SubmissionOutcome
    redacted: int
    draft_id: str = ""


class CorrectionFlow(OnDatabase):
    """Takes corrections in."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        embedder: Embedder,
        *,
        questions: Questions,
        words: Words,
        promoter: Promoter,
        model: LanguageModel | None,
    ) -> None:
        self._settings = settings.correct
        super().__init__(database)
        self._embedder = embedder
        self._questions = questions
        self._words = words
        self._placer = Placer(settings.correct)
        self._promoter = promoter
        self._intake = Intake(settings.correct, model)
        # Of this process, one submission at a time queues in the database: others wait without a connection.
        self._gate = asyncio.Lock()
        self._breadth = Breadth(settings.correct, database, embedder)

    @healed
    async def submit(self, lesson: Lesson, author: Principal, *, result_id: str = "") -> list[Submitted]:
        """Store a correction; from the next request on it reaches the agent, unless it waits for review.

        ``result_id`` names the answer that was wrong: the correction comes back with its question.

        Raises:
            InputError: a part is empty or too long, it holds several lessons and no model can split them, or its
                author submitted too many in the last hour. Nothing is stored then.
            ProviderError: the lesson could not be embedded; nothing is stored.
            DatabaseUnavailable: PostgreSQL cannot be reached; nothing is stored.
        """
        async with self._database.reading() as unit:
            record = await unit.corrections.record_of(author.caller)
        if record.last_hour >= self._settings.per_hour:
            raise InputError(
                f"{author.caller} submitted {record.last_hour} corrections in the last hour, the most that is taken. "
                "Keep this one and submit it later."
            )
        trusted = author.trusted or record.approved > 0 or self._settings.trust_new_authors
        waits = "" if trusted else "it is the first correction of its author"
        result_id = as_id(result_id)
        lessons = await self._intake.take(lesson)
        asked = await self._asked(result_id)
        submissions = [await self._prepared(taken, author, result_id, waits, asked) for taken in lessons]
        stored = [await self._store(submission) for submission in submissions]
        for each in stored:
            count_correction(each.outcome)
        return stored

    async def _asked(self, result_id: str) -> Asked | None:
        """The question that a result answered, as it stood alone in its conversation; None where none was named."""
        if not result_id or not self._settings.questions:
            return None
        try:
            async with self._database.reading() as unit:
                about = await rated(unit, result_id)
        except NotFoundError:
            return None
        question = made_on(about.question, rewritten=about.rewritten)
        return Asked(question, (await self._questions.vectors([question]))[0]) if question else None

    async def _prepared(
        self, taken: Taken, author: Principal, result_id: str, waits: str, asked: Asked | None
    ) -> Submission:
        vector = (await lesson_vectors(self._embedder, [taken.lesson]))[0]
        broad = "" if taken.suspicion or waits else await self._breadth.too_broad(taken.lesson, vector, asked)
        return Submission(
            lesson=taken.lesson,
            vector=vector,
            author=author.name,
            result_id=result_id,
            redacted=taken.redacted,
            waits=taken.suspicion or waits or broad,
            asked=asked,
        )

    async def _store(self, submission: Submission) -> Submitted:
        # Before the transaction, for it may need a connection of its own.
        vocabulary = await self._words.vocabulary()
        async with self._gate, self._database.transaction() as unit:
            if submission.lesson.source_url:
                # Before any row, as all do that change a document's status.
                await unit.keywords.lock()
            await unit.corrections.queue()
            key, outcome = await self._placer.place(unit, submission, vocabulary)
            await unit.corrections.report(
                key, submission.lesson, author=submission.author, result_id=submission.result_id, outcome=outcome
            )
            correction = await unit.corrections.get(key)
            if correction.status is CorrectionStatus.ACTIVE:
                await flag_source(unit, correction, submission.lesson.source_url, actor=submission.author)
        draft = await self._promoter.promote_if_earned(correction)
        return Submitted(correction=correction, outcome=outcome, redacted=submission.redacted, draft_id=draft)
