"""Which correction a submission counts for: one that is there word for word, one that says the same, or a new one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.corrections import Correction, CorrectionStatus, Lesson, SubmissionOutcome, asked_id
from harry_mcp.domain.differences import Vocabulary
from harry_mcp.settings import CorrectSection
from harry_mcp.stages.correct.asking import Subject, subject_of
from harry_mcp.stages.correct.merging import same_lesson
from harry_mcp.storage.memories import MemoryKind, MemoryText
from harry_mcp.storage.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it is kept, and its vector."""

    question: str
    vector: npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A lesson on its way in. ``waits`` says why it is not believed at once, or is empty.

    ``asked`` is the question that it was made on, with its vector, or None.
    """

    lesson: Lesson
    vector: npt.NDArray[np.float32]
    author: str
    result_id: str
    redacted: int
    waits: str
    asked: Asked | None = None


class Placer:
    """Finds the place of a submission. What it does belongs into a transaction that queues for it."""

    def __init__(self, settings: CorrectSection) -> None:
        self._settings = settings

    async def place(
        self, unit: UnitOfWork, submission: Submission, vocabulary: Vocabulary
    ) -> tuple[str, SubmissionOutcome]:
        """The correction that a submission counts for: one that is there word for word, one that says the same, or a
        new one. One that waits never joins another in other words: it would borrow its credit. The question that it
        was made on is noted there."""
        key, outcome = await self._place(unit, submission, vocabulary)
        if submission.asked is not None:
            await self._note(unit, key, submission.asked, waits=bool(submission.waits))
        return key, outcome

    async def _note(self, unit: UnitOfWork, key: str, asked: Asked, *, waits: bool) -> None:
        """Note a question at a correction. One who is not believed adds none to a lesson that agents are given: he
        would choose the questions that it comes with."""
        active = (await unit.corrections.get(key)).status is CorrectionStatus.ACTIVE
        if active and waits:
            return
        if await unit.corrections.ask(key, asked.question, most=self._settings.questions):
            memory = MemoryText(asked_id(key, asked.question), asked.question, active=active)
            await unit.memories.put(MemoryKind.ASKED, [memory], [asked.vector])

    async def _place(
        self, unit: UnitOfWork, submission: Submission, vocabulary: Vocabulary
    ) -> tuple[str, SubmissionOutcome]:
        lesson, waits = submission.lesson, submission.waits
        known = (await unit.corrections.by_ids([lesson.id])).get(lesson.id)
        if known is not None:
            await self._renew(unit, known, submission)
            return lesson.id, SubmissionOutcome.REPEATED
        if not waits:
            twin = await self._twin(unit, submission, vocabulary)
            if twin:
                return twin, SubmissionOutcome.MERGED
        status = CorrectionStatus.PENDING if waits else CorrectionStatus.ACTIVE
        await unit.corrections.insert(lesson, status=status, reason=waits, author=submission.author)
        memory = MemoryText(lesson.id, lesson.line, active=not waits)
        await unit.memories.put(MemoryKind.CORRECTION, [memory], [submission.vector])
        return lesson.id, SubmissionOutcome.CREATED

    async def _renew(self, unit: UnitOfWork, known: Correction, submission: Submission) -> None:
        """What a repeated submission does: the page that somebody names who is believed counts from now on.

        A correction that waits is believed when somebody says the same who is; one that a job gave up comes back; one
        that a person gave up goes to review once more.
        """
        waits, url = submission.waits, submission.lesson.source_url
        if not waits and (url or known.status is CorrectionStatus.PENDING):
            await unit.corrections.name_source(known.id, url)
        if known.status is CorrectionStatus.ACTIVE or (known.status is CorrectionStatus.PENDING and waits):
            return
        by_person = known.status is CorrectionStatus.DEPRECATED and not known.decided_by.startswith("job:")
        if by_person and not waits:
            waits = "it was given up before" + (f": {known.status_reason}" if known.status_reason else "")
        status = CorrectionStatus.PENDING if waits else CorrectionStatus.ACTIVE
        await unit.corrections.decide(known.id, status, reason=waits, by="")
        await unit.memories.set_active(MemoryKind.CORRECTION, [known.id], active=not waits)

    async def _twin(self, unit: UnitOfWork, submission: Submission, vocabulary: Vocabulary) -> str:
        """An active correction of the topic that says the same of the same thing in other words, or empty."""
        asked = submission.asked.question if submission.asked else ""
        recalled = await unit.memories.recall(submission.vector, {MemoryKind.CORRECTION: self._settings.candidates})
        near = {item.owner_id: item.cosine for item in recalled if item.cosine >= self._settings.merge}
        known = await unit.corrections.by_ids(list(near)) if near else {}
        twins = [
            key
            for key, cosine in near.items()
            if key in known
            and known[key].status is CorrectionStatus.ACTIVE
            and same_lesson(submission.lesson, known[key], cosine, self._settings.merge, vocabulary)
            and (not asked or subject_of(asked, known[key], vocabulary) is not Subject.UNSAID)
        ]
        return twins[0] if twins else ""
