"""How many answers a lesson would stand at the head of, before it does."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.corrections import Correction, CorrectionStatus, Lesson, asked_id
from harry_mcp.loop.placing import Asked
from harry_mcp.ports import Embedder
from harry_mcp.settings import CorrectSection
from harry_mcp.stages.correct.answering import answers
from harry_mcp.stages.correct.selection import bearing
from harry_mcp.storage.database import Database

# Fewer recent questions than this say nothing about how many answers a lesson touches.
_LEAST_SAMPLE = 20


class Breadth:
    """Measures lessons on the questions that were asked last."""

    def __init__(self, settings: CorrectSection, database: Database, embedder: Embedder) -> None:
        self._settings = settings
        self._database = database
        self._embedder = embedder

    async def too_broad(self, lesson: Lesson, vector: npt.NDArray[np.float32], made_on: Asked | None = None) -> str:
        """Why a lesson that would head very many answers waits; empty when it would not.

        ``made_on`` is the question that it was made on.

        Raises:
            ProviderError: the questions could not be embedded.
        """
        sample, share = self._settings.broad_sample, self._settings.broad_share
        if not sample or share >= 1:
            return ""
        async with self._database.reading() as unit:
            asked = await unit.corrections.recent_questions(sample)
        if len(asked) < _LEAST_SAMPLE:
            return ""
        # As the searches embedded them, so that most of it is remembered.
        vectors = await self._embedder.embed_queries([each.query for each in asked])
        said = _as_stored(lesson, (made_on.question,) if made_on else ())
        alike = vectors @ made_on.vector if made_on else np.zeros(len(asked), np.float32)
        heads = [
            self._heads(
                each.question,
                said,
                float(cosine),
                {asked_id(said.id, question): float(near) for question in said.questions},
            )
            for each, cosine, near in zip(asked, vectors @ vector, alike, strict=True)
        ]
        touched = sum(heads) / len(heads)
        return f"it would head {touched:.0%} of recent answers" if touched > share else ""

    def _heads(self, question: str, said: Correction, cosine: float, asked: Mapping[str, float]) -> bool:
        """Whether it would be the answer to a question; one that only comes along as a note does little harm."""
        item = bearing(question, said, cosine, asked, floor=self._settings.relevance, same=self._settings.asked)
        return item is not None and answers(question, item, (), floor=self._settings.answers)


def _as_stored(lesson: Lesson, questions: tuple[str, ...]) -> Correction:
    """The lesson in the form in which stored ones are measured."""
    now = datetime.now(UTC)
    return Correction(
        id=lesson.id,
        topic=lesson.topic,
        wrong=lesson.wrong,
        truth=lesson.truth,
        lesson=lesson.line,
        source_url=lesson.source_url,
        status=CorrectionStatus.PENDING,
        status_reason="",
        author="",
        decided_by="",
        document_id="",
        created_at=now,
        updated_at=now,
        reports=0,
        reporters=0,
        questions=questions,
    )
