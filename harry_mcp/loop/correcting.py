"""A correction from submission to the very next answer: merged or new, believed or waiting, and what it touches."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from harry_mcp.domain.corrections import (
    Correction,
    CorrectionAction,
    CorrectionStatus,
    Lesson,
    LessonPreview,
    SubmissionOutcome,
    TouchedAnswer,
)
from harry_mcp.domain.people import Principal, Role
from harry_mcp.domain.plain import one_line
from harry_mcp.domain.rot import RotSignal
from harry_mcp.errors import InputError, NotFoundError
from harry_mcp.loop.breadth import Breadth
from harry_mcp.loop.flagging import flag_blamed
from harry_mcp.loop.healing import OnDatabase, healed
from harry_mcp.loop.intake import Intake, Taken, made_on
from harry_mcp.loop.lesson_vectors import lesson_vectors
from harry_mcp.loop.placing import Asked, Placer, Submission
from harry_mcp.loop.promoting import Promoter
from harry_mcp.loop.questions import Questions
from harry_mcp.loop.rated import named, rated
from harry_mcp.loop.rehearsing_lessons import LessonRehearser
from harry_mcp.loop.words import Words
from harry_mcp.metering import count_correction
from harry_mcp.ports import Embedder, LanguageModel
from harry_mcp.settings import Settings
from harry_mcp.stages.correct.redaction import redact
from harry_mcp.stages.curate.signals.feedback import saying, sayings
from harry_mcp.stages.curate.withdrawing import withdraw
from harry_mcp.storage.corrections import Learnt
from harry_mcp.storage.database import Database
from harry_mcp.storage.memories import MemoryKind
from harry_mcp.storage.texts import storable
from harry_mcp.storage.unit_of_work import UnitOfWork

_LONGEST_ID = 200
_LONGEST_REASON = 500
_DRAFTED = "A draft changes no answer while it waits; review_documents with preview shows what approving it would."


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """What became of one lesson."""

    correction: Correction
    outcome: SubmissionOutcome
    redacted: int
    draft_id: str = ""


class CorrectionFlow(OnDatabase):
    """Takes corrections in, and lets curators decide about them."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        embedder: Embedder,
        *,
        questions: Questions,
        words: Words,
        promoter: Promoter,
        rehearser: LessonRehearser,
        model: LanguageModel | None,
    ) -> None:
        self._settings = settings.correct
        super().__init__(database)
        self._embedder = embedder
        self._questions = questions
        self._words = words
        self._placer = Placer(settings.correct)
        self._promoter = promoter
        self._rehearser = rehearser
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
        result_id = storable(result_id.strip())[:_LONGEST_ID]
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
                await _flag_source(unit, correction, submission.lesson.source_url, actor=submission.author)
        draft = await self._promoter.promote_if_earned(correction)
        return Submitted(correction=correction, outcome=outcome, redacted=submission.redacted, draft_id=draft)

    @healed
    async def get(self, correction_id: str) -> Correction:
        """A correction.

        Raises:
            NotFoundError: there is none of that id.
        """
        async with self._database.reading() as unit:
            return await unit.corrections.get(_id(correction_id))

    @healed
    async def learning(self, *, limit: int = 100) -> list[Learnt]:
        """For each correction how often it was served since, and how often the same complaint came back."""
        async with self._database.reading() as unit:
            return await unit.corrections.learning(limit)

    @healed
    async def list(self, status: str, *, topic: str = "", limit: int, offset: int = 0) -> list[Correction]:
        """Corrections, the last changed first; '' stands for every status and every topic."""
        async with self._database.reading() as unit:
            return await unit.corrections.list(status, topic=storable(topic), limit=limit, offset=offset)

    @healed
    async def standing(self, *, topic: str = "") -> dict[str, int]:
        """How many corrections of a topic stand in each status that any has; '' stands for every topic."""
        async with self._database.reading() as unit:
            return await unit.corrections.standing(topic=storable(topic))

    @healed
    async def touched(self, correction_id: str, *, limit: int = 20) -> tuple[int, list[TouchedAnswer]]:
        """How many answers a correction went into, and the last of them.

        Raises:
            NotFoundError: there is no such correction.
        """
        async with self._database.reading() as unit:
            correction = await unit.corrections.get(_id(correction_id))
            answers = await unit.corrections.touched_count(correction.id)
            return answers, await unit.corrections.touched(correction.id, limit=limit)

    @healed
    async def preview(self, correction_id: str, action: CorrectionAction) -> LessonPreview:
        """What a decision would do: which past questions it would go into or leave. Nothing is done.

        Raises:
            NotFoundError: there is no such correction.
            InputError: it stands so already.
        """
        correction = await self.get(correction_id)
        if action is CorrectionAction.PROMOTE:
            return LessonPreview(note=_DRAFTED)
        status = _becomes(action, correction)
        found = await self._rehearser.rehearse(correction, status)
        if not correction.source_url:
            return found
        async with self._database.reading() as unit:
            if status is CorrectionStatus.ACTIVE:
                blamed = await named(unit, [correction.source_url])
                return replace(
                    found, effects=tuple(f"It flags “{each.title}” ({each.id})." for each in blamed.values())
                )
            standing = await unit.curation.told_by(RotSignal.NEGATIVE_FEEDBACK, sayings("correction", correction.id))
            ids = dict.fromkeys(each.document_id for each in standing)
            told = [each for key in ids if (each := await unit.documents.get(key))]
        return replace(
            found, effects=tuple(f"It takes back what was said against “{each.title}” ({each.id})." for each in told)
        )

    @healed
    async def review(
        self, correction_id: str, action: CorrectionAction, by: Principal, *, reason: str = ""
    ) -> Correction:
        """Approve a correction, deprecate it, let it wait again, or make it a draft document. It counts from the next
        request on.

        Raises:
            NotFoundError: there is no such correction.
            InputError: the caller may not do it, or it stands so already.
            StorageError, ProviderError: the draft could not be stored.
        """
        if not by.may(Role.CURATOR):
            raise InputError(f"This takes the role curator; you are {by.role.name.lower()}.")
        correction = await self.get(correction_id)
        if action is CorrectionAction.PROMOTE:
            await self._promoter.promote(correction, actor=by.name, by=by)
        else:
            await self._decide(correction.id, action, by, redact(one_line(reason, _LONGEST_REASON)).text)
        return await self.get(correction.id)

    async def _decide(self, key: str, action: CorrectionAction, by: Principal, reason: str) -> None:
        active = action is CorrectionAction.APPROVE
        async with self._database.transaction() as unit:
            # Before any row, as all do that change a document's status.
            await unit.keywords.lock()
            await unit.corrections.queue()
            correction = await unit.corrections.get(key)
            status = _becomes(action, correction)
            if active:
                await _flag_source(unit, correction, correction.source_url, actor=correction.author)
            else:
                await withdraw(unit, sayings("correction", key), by, detail={"correction_id": key})
            decided_by = "" if action is CorrectionAction.REOPEN else by.name
            await unit.corrections.decide(key, status, reason=reason, by=decided_by)
            await unit.memories.set_active(MemoryKind.CORRECTION, [key], active=active)
            await unit.audit.add(
                by,
                action.value,
                kind="correction",
                target_id=key,
                target=correction.lesson,
                reason=reason,
                detail={"before": correction.status.value, "after": status.value},
            )


async def _flag_source(unit: UnitOfWork, correction: Correction, url: str, *, actor: str) -> None:
    """Flag the documents behind the address that a correction names, once for each person who does (CUR-4)."""
    await flag_blamed(
        unit,
        [url] if url else [],
        told_by=saying("correction", correction.id, actor),
        actor=actor,
        detail={"correction_id": correction.id, "comment": correction.lesson},
    )


_BECOMES = {
    CorrectionAction.APPROVE: CorrectionStatus.ACTIVE,
    CorrectionAction.DEPRECATE: CorrectionStatus.DEPRECATED,
    CorrectionAction.REOPEN: CorrectionStatus.PENDING,
}


def _becomes(action: CorrectionAction, correction: Correction) -> CorrectionStatus:
    status = _BECOMES[action]
    if correction.status is status:
        raise InputError(f"{correction.id} is {status.value} already.")
    return status


def _id(text: str) -> str:
    return storable(text.strip())[:_LONGEST_ID]
