"""What is remembered of a question beside the documents: official answers, corrections, and what went wrong before.

One look into the memories serves all of them; only what is near enough is then read.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.corrections import Correction, CorrectionStatus, Relevant, correction_of
from harry_mcp.domain.differences import Vocabulary
from harry_mcp.domain.feedback import PastFailure
from harry_mcp.domain.search import NextAction, SearchResult
from harry_mcp.domain.verified import Match, VerifiedMatch
from harry_mcp.ingest.estimating import estimated_tokens
from harry_mcp.loop.questions import Questions
from harry_mcp.loop.remembered import Nearby, Remembered, joined
from harry_mcp.loop.words import Words
from harry_mcp.metering import count_lookup
from harry_mcp.settings import Settings
from harry_mcp.stages.correct.answering import answers, surely_answers
from harry_mcp.stages.correct.asking import SAME_WORDS
from harry_mcp.stages.correct.prompt import BESIDE_TOKENS, FRAME_TOKENS, line
from harry_mcp.stages.correct.redaction import redact
from harry_mcp.stages.correct.selection import bearing, select
from harry_mcp.stages.verify.cache import Near, choose
from harry_mcp.stages.verify.outdated import unless_outdated
from harry_mcp.storage.database import Database
from harry_mcp.storage.memories import MemoryKind, Recalled
from harry_mcp.storage.unit_of_work import UnitOfWork

_OFFICIAL = (
    "A verified response answers exactly this question: give verified.answer as the official answer, with its sources."
)


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
            MemoryKind.ASKED: self._correct.candidates if self._correct.most else 0,
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
        """What is remembered of a question, with what is served of it written down.

        ``found`` are the documents that a search for it brings, best first. ``topic`` narrows corrections to it and to
        those without one. Without a vector nothing is remembered: the embedder was down, which the search names.
        Without a ``search_id`` the lookup itself is the result.

        Raises:
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        nearby = None if vector is None else await self.nearby(question, vector, topic=topic)
        return await self.serve(question, nearby, found, search_id=search_id)

    async def nearby(self, question: str, vector: npt.NDArray[np.float32], *, topic: str = "") -> Nearby:
        """What is near to a question. It needs no result of a search, so that the two can run at the same time.

        Raises:
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        async with self._database.reading() as unit:
            recalled = await unit.memories.recall(vector, {kind: n for kind, n in self._limits.items() if n})
            near = await self._near(unit, vector, recalled)
            corrections = await self._active(unit, topic, recalled)
            failures = await self._failures(unit, recalled)
        # Out here, for it may need a connection of its own: many that each hold one would wait for one another.
        compares = bool(near) or any(each.questions for each in corrections)
        vocabulary = await self._words.vocabulary() if compares else Vocabulary()
        relevant = self._relevant(question, corrections, recalled, vocabulary)
        return Nearby(verified=near, vocabulary=vocabulary, corrections=relevant, failures=failures)

    async def serve(
        self, question: str, nearby: Nearby | None, found: Sequence[str], *, search_id: str = ""
    ) -> Remembered:
        """What of it is served, with that written down; arguments and errors are those of :meth:`recall`."""
        return await self._noted(question, self.chosen(question, nearby, found), search_id)

    def chosen(self, question: str, nearby: Nearby | None, found: Sequence[str]) -> Remembered:
        """What of it would be served; nothing is written down."""
        if nearby is None:
            return Remembered(VerifiedMatch(match=Match.NONE, reason="The question could not be embedded."))
        verified = choose(Questions.bare(question), nearby.verified, found, self._settings, nearby.vocabulary)
        told = [item.correction for item in nearby.corrections if surely_answers(question, item)]
        own = Remembered(unless_outdated(verified, told), nearby.corrections, nearby.failures)
        if nearby.also is None:
            return own
        typed = self.chosen(nearby.also.question, nearby.also.nearby, nearby.also.found)
        return joined(own, typed, question=nearby.also.question, select=self._selected)

    def with_memories(self, result: SearchResult, remembered: Remembered) -> SearchResult:
        """The result with what is remembered of its question; an official answer takes the place of a gap."""
        pages = [f"{hit.passage.title}\n\n{' '.join(hit.passage.heading_path)}\n\n{hit.text}" for hit in result.hits]
        corrections = tuple(
            replace(item, answers=answers(result.question, item, pages, floor=self._correct.answers))
            for item in remembered.corrections
        )
        result = replace(result, verified=remembered.verified, corrections=corrections, failures=remembered.failures)
        if remembered.verified.match is not Match.EXACT:
            return result
        verdict = replace(result.verdict, next_action=NextAction.ANSWER, reason=_OFFICIAL)
        return replace(result, verdict=verdict, gap_id="")

    async def _near(
        self, unit: UnitOfWork, vector: npt.NDArray[np.float32], recalled: Sequence[Recalled]
    ) -> tuple[Near, ...]:
        close = [item for item in _of(MemoryKind.VERIFIED, recalled) if item.cosine >= self._settings.partial]
        keys = [item.owner_id for item in close]
        entries = await unit.verified.near(keys, vector) if keys else {}
        documents = await unit.verified.documents_of(keys) if keys else {}
        return tuple(
            Near(
                response=entries[item.owner_id],
                cosine=item.cosine,
                documents=documents.get(item.owner_id, frozenset()),
            )
            for item in close
            if item.owner_id in entries
        )

    async def _failures(self, unit: UnitOfWork, recalled: Sequence[Recalled]) -> tuple[PastFailure, ...]:
        ids = [item.owner_id for item in _of(MemoryKind.FAILURE, recalled) if item.cosine >= self._settings.failure]
        failures = await unit.feedback.failures(ids) if ids else {}
        return tuple(failures[key] for key in ids if key in failures)

    async def _active(self, unit: UnitOfWork, topic: str, recalled: Sequence[Recalled]) -> list[Correction]:
        """The corrections near by their lesson, or by a question that they were made on."""
        near = [item.owner_id for item in _of(MemoryKind.CORRECTION, recalled)]
        near += [
            correction_of(item.owner_id)
            for item in _of(MemoryKind.ASKED, recalled)
            if item.cosine >= min(self._correct.asked, SAME_WORDS)
        ]
        known = await unit.corrections.by_ids(list(dict.fromkeys(near))) if near else {}
        return [
            each
            for each in known.values()
            if each.status is CorrectionStatus.ACTIVE and (not topic or each.topic.casefold() in ("", topic.casefold()))
        ]

    def _relevant(
        self, question: str, corrections: Sequence[Correction], recalled: Sequence[Recalled], vocabulary: Vocabulary
    ) -> tuple[Relevant, ...]:
        lessons, asked = (
            {item.owner_id: item.cosine for item in _of(kind, recalled)}
            for kind in (MemoryKind.CORRECTION, MemoryKind.ASKED)
        )
        # In the form in which those are kept that it is compared with.
        compared = Questions.kept(question) if any(each.questions for each in corrections) else question
        room = self._room
        scored = [
            item if cost(item) <= room else replace(item, asked="")
            for each in corrections
            if (
                item := bearing(
                    compared,
                    each,
                    lessons.get(each.id, 0.0),
                    asked,
                    floor=self._correct.relevance,
                    same=self._correct.asked,
                    vocabulary=vocabulary,
                )
            )
        ]
        return self._selected(scored)

    @property
    def _room(self) -> int:
        return self._correct.tokens - FRAME_TOKENS

    def _selected(self, scored: Sequence[Relevant]) -> tuple[Relevant, ...]:
        return select(scored, floor=self._correct.relevance, most=self._correct.most, tokens=self._room, cost=cost)

    async def _noted(self, question: str, remembered: Remembered, search_id: str) -> Remembered:
        """What is served, written down before the answer goes out, so that counters and records are exact."""
        match = remembered.verified
        looked_up = match.response is not None or not search_id
        if not looked_up and not remembered.corrections:
            return remembered
        lookup_id = "vlk_" + uuid.uuid4().hex if looked_up else ""
        asked = redact(question).text
        async with self._database.transaction() as unit:
            if looked_up:
                await unit.verified.note_lookup(
                    id=lookup_id,
                    question=asked,
                    match=match.match,
                    verified_id=match.response.id if match.response else "",
                    cosine=match.cosine,
                    reason=match.reason,
                    search_id=search_id,
                )
            if remembered.corrections:
                await unit.corrections.inject(remembered.corrections, result_id=search_id or lookup_id, question=asked)
        if looked_up:
            count_lookup(match.match)
        return replace(remembered, verified=replace(match, lookup_id=lookup_id))


def cost(item: Relevant) -> int:
    """About how many tokens a correction takes up in an answer."""
    return estimated_tokens(line(item)) + BESIDE_TOKENS


def _of(kind: MemoryKind, recalled: Sequence[Recalled]) -> list[Recalled]:
    return [item for item in recalled if item.kind is kind]
