"""Which past questions a decision about a correction changes: whose answers it would go into from then on, or leave.

They are recalled before it and after it by the code that serves agents, and it never happens.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from harry_mcp.domain.corrections import Correction, CorrectionStatus, LessonPreview, QuestionChange, asked_id
from harry_mcp.errors import DatabaseUnavailable, ProviderError, StorageError
from harry_mcp.loop.lesson_vectors import lesson_vectors
from harry_mcp.loop.questions import Questions
from harry_mcp.loop.recalling import RecallFlow
from harry_mcp.ports import Embedder, Vectors
from harry_mcp.settings import Settings
from harry_mcp.stages.correct.selection import bearing
from harry_mcp.storage.database import Database
from harry_mcp.storage.memories import MemoryKind
from harry_mcp.storage.queue import AskedQuestion

_BY = "preview"
_NONE = "No past question has to do with it."


class LessonRehearser:
    """Recalls past questions with a correction as it would be. ``recall`` makes a flow over a database."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        embedder: Embedder,
        recall: Callable[[Database], RecallFlow],
        questions: Questions,
    ) -> None:
        self._settings = settings.review
        self._correct = settings.correct
        self._embedded = questions
        self._database = database
        self._embedder = embedder
        self._recall = recall

    async def rehearse(self, correction: Correction, status: CorrectionStatus) -> LessonPreview:
        """The questions whose answers change when the correction gets this status.

        What cannot be tried (the embedder is down, the correction is held by somebody) is told in the note.

        Raises:
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        half = self._settings.preview_seconds / 2
        try:
            chosen, vectors, more = await self._questions(correction)
            before = await self._holders(self._database, correction, chosen, vectors, time.monotonic() + half)
            async with self._database.rehearsal() as stage:
                async with stage.transaction() as unit:
                    await unit.corrections.decide(correction.id, status, reason=_BY, by=_BY)
                    active = status is CorrectionStatus.ACTIVE
                    await unit.memories.set_active(MemoryKind.CORRECTION, [correction.id], active=active)
                tried = chosen[: len(before)]
                after = await self._holders(stage, correction, tried, vectors, time.monotonic() + half)
        except DatabaseUnavailable:
            raise
        except (ProviderError, StorageError) as error:
            return LessonPreview(note=f"The past questions could not be tried: {error}")
        changes = [
            QuestionChange(question=question.question, asked=question.asked, goes_in=new)
            for question, old, new in zip(chosen, before, after, strict=False)
            if old is not new
        ]
        left = more + len(chosen) - len(after)
        return LessonPreview(changes=tuple(changes), asked=len(after), unasked=left, note="" if after else _NONE)

    async def _questions(self, correction: Correction) -> tuple[list[AskedQuestion], Vectors, int]:
        """Past questions that it bears on with their vectors, the most relevant first, and how many more there are."""
        async with self._database.reading() as unit:
            recent = await unit.queue.asked(days=self._settings.use_days, limit=self._settings.preview_recent)
        if not recent:
            return [], np.zeros((0, 0), np.float32), 0
        # As the searches embedded them, so that most of it is remembered.
        vectors = await self._embedder.embed_queries([each.query for each in recent])
        (own,) = await lesson_vectors(self._embedder, [correction])
        made_on = await self._embedded.vectors(correction.questions)
        names = [asked_id(correction.id, each) for each in correction.questions]
        bears = [
            bearing(
                each.question,
                correction,
                float(cosine),
                dict(zip(names, near.tolist(), strict=True)),
                floor=self._correct.relevance,
                same=self._correct.asked,
            )
            for each, cosine, near in zip(recent, vectors @ own, vectors @ made_on.T, strict=True)
        ]
        much = {place: each.relevance for place, each in enumerate(bears) if each is not None}
        order = sorted(much, key=lambda place: -much[place])
        chosen = order[: self._settings.preview_questions]
        more = len(order) - len(chosen) + max(0, recent[0].total - len(recent))
        return [recent[place] for place in chosen], vectors[chosen], more

    async def _holders(
        self,
        database: Database,
        correction: Correction,
        questions: Sequence[AskedQuestion],
        vectors: Vectors,
        until: float,
    ) -> list[bool]:
        """Whether it goes into the answer to each question; as many as there is time for, the first in any case."""
        flow = self._recall(database)
        holds: list[bool] = []
        for question, vector in zip(questions, vectors, strict=False):
            if holds and time.monotonic() > until:
                break
            nearby = await flow.nearby(question.question, vector)
            holds.append(any(each.correction.id == correction.id for each in nearby.corrections))
        return holds
