"""What is remembered of a question beside the documents: official answers, corrections, and what went wrong before.

One look into the memories serves all of them; only what is near enough is then read.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.corrections import CorrectionStatus, Relevant
from harry_mcp.domain.differences import Vocabulary
from harry_mcp.domain.feedback import PastFailure
from harry_mcp.domain.verified import Match, VerifiedMatch
from harry_mcp.ingest.estimating import estimated_tokens
from harry_mcp.loop.questions import Questions
from harry_mcp.loop.words import Words
from harry_mcp.settings import Settings
from harry_mcp.stages.correct.prompt import line
from harry_mcp.stages.correct.selection import relevance, select
from harry_mcp.stages.verify.cache import Near, choose
from harry_mcp.storage.database import Database
from harry_mcp.storage.memories import MemoryKind, Recalled
from harry_mcp.storage.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is remembered of one question."""

    verified: VerifiedMatch
    corrections: tuple[Relevant, ...] = ()
    failures: tuple[PastFailure, ...] = ()


class RecallFlow:
    """Asks the memories about a question, and writes down what of them was served."""

    def __init__(self, settings: Settings, database: Database, words: Words) -> None:
        self._settings = settings.verify
        self._correct = settings.correct
        self._database = database
        self._words = words
        self._limits = {
            MemoryKind.VERIFIED: self._settings.candidates,
            MemoryKind.CORRECTION: self._correct.candidates if self._correct.most else 0,
            MemoryKind.FAILURE: self._settings.failures,
        }

    async def recall(
        self,
        question: str,
        vector: npt.NDArray[np.float32] | None,
        found: Sequence[str],
        *,
        search_id: str = "",
        topic: str = "",
    ) -> Remembered:
        """What is remembered of a question. ``found`` are the documents that a search for it brings, best first.

        ``topic`` narrows corrections to it and to those without one. Without a vector nothing is remembered: the
        embedder was down, which the search names. Without a ``search_id`` the lookup itself is the result.

        Raises:
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        if vector is None:
            return Remembered(VerifiedMatch(match=Match.NONE, reason="The question could not be embedded."))
        async with self._database.reading() as unit:
            recalled = await unit.memories.recall(vector, {kind: n for kind, n in self._limits.items() if n})
            verified = await self._verified(unit, question, vector, found, recalled)
            corrections = await self._corrections(unit, question, topic, recalled)
            failures = await self._failures(unit, recalled)
        return await self._noted(question, Remembered(verified, corrections, failures), search_id)

    async def _verified(
        self,
        unit: UnitOfWork,
        question: str,
        vector: npt.NDArray[np.float32],
        found: Sequence[str],
        recalled: Sequence[Recalled],
    ) -> VerifiedMatch:
        close = [item for item in _of(MemoryKind.VERIFIED, recalled) if item.cosine >= self._settings.partial]
        keys = [item.owner_id for item in close]
        entries = await unit.verified.near(keys, vector) if keys else {}
        documents = await unit.verified.documents_of(keys) if keys else {}
        near = [
            Near(
                response=entries[item.owner_id],
                cosine=item.cosine,
                documents=documents.get(item.owner_id, frozenset()),
            )
            for item in close
            if item.owner_id in entries
        ]
        vocabulary = await self._words.vocabulary() if near else Vocabulary()
        return choose(Questions.bare(question), near, found, self._settings, vocabulary)

    async def _failures(self, unit: UnitOfWork, recalled: Sequence[Recalled]) -> tuple[PastFailure, ...]:
        ids = [item.owner_id for item in _of(MemoryKind.FAILURE, recalled) if item.cosine >= self._settings.failure]
        failures = await unit.feedback.failures(ids) if ids else {}
        return tuple(failures[key] for key in ids if key in failures)

    async def _corrections(
        self, unit: UnitOfWork, question: str, topic: str, recalled: Sequence[Recalled]
    ) -> tuple[Relevant, ...]:
        near = {item.owner_id: item.cosine for item in _of(MemoryKind.CORRECTION, recalled)}
        if not near:
            return ()
        known = await unit.corrections.by_ids(list(near))
        scored = [
            Relevant(correction=each, relevance=relevance(question, each, near[each.id]))
            for each in known.values()
            if each.status is CorrectionStatus.ACTIVE and (not topic or each.topic.casefold() in ("", topic.casefold()))
        ]
        return select(
            scored,
            floor=self._correct.relevance,
            most=self._correct.most,
            tokens=self._correct.tokens,
            cost=lambda each: estimated_tokens(line(each)),
        )

    async def _noted(self, question: str, remembered: Remembered, search_id: str) -> Remembered:
        """What is served, written down before the answer goes out, so that counters and records are exact."""
        match = remembered.verified
        looked_up = match.response is not None or not search_id
        if not looked_up and not remembered.corrections:
            return remembered
        lookup_id = "vlk_" + uuid.uuid4().hex if looked_up else ""
        async with self._database.transaction() as unit:
            if looked_up:
                await unit.verified.note_lookup(
                    id=lookup_id,
                    question=question,
                    match=match.match,
                    verified_id=match.response.id if match.response else "",
                    cosine=match.cosine,
                    reason=match.reason,
                    search_id=search_id,
                )
            if remembered.corrections:
                await unit.corrections.inject(
                    remembered.corrections, result_id=search_id or lookup_id, question=question
                )
        return replace(remembered, verified=replace(match, lookup_id=lookup_id))


def _of(kind: MemoryKind, recalled: Sequence[Recalled]) -> list[Recalled]:
    return [item for item in recalled if item.kind is kind]
