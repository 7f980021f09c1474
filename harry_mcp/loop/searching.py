"""One search through the stages: stand alone, retrieve, rank, re-rank, and once more in other words where that is on.

Each part that asks a model has a budget of its own, and all of them share the deadline of the search. What was not
ready in time is left out and named in ``degraded``.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.deadlines import Deadline
from harry_mcp.domain.search import (
    Band,
    Candidate,
    Hit,
    OptimizedQuery,
    Passage,
    SearchFilters,
    SearchResult,
    SearchStatus,
    gap_id,
)
from harry_mcp.domain.together import both
from harry_mcp.errors import ProviderError
from harry_mcp.loop.attempts import Attempt, Course, documents_found
from harry_mcp.loop.remembered import Nearby
from harry_mcp.loop.standing import as_they_stand
from harry_mcp.loop.two_legs import TwoLegs
from harry_mcp.metering import count_search
from harry_mcp.profile import DomainProfile
from harry_mcp.settings import Settings
from harry_mcp.stages.rank.curves import Curves
from harry_mcp.stages.rank.duplicates import unfold
from harry_mcp.stages.rank.hits import assemble
from harry_mcp.stages.rank.ranker import RankStage, warned
from harry_mcp.stages.rank.reranking import RerankStep
from harry_mcp.stages.retrieve.corrective import CorrectiveWriter
from harry_mcp.stages.retrieve.history import HistoryRewriter, spoken
from harry_mcp.stages.retrieve.leaning import whole
from harry_mcp.stages.retrieve.query import clean, optimize
from harry_mcp.stages.retrieve.retriever import Found, HybridRetriever
from harry_mcp.storage.database import Database
from harry_mcp.tracing import stage

Recall = Callable[[str, npt.NDArray[np.float32]], Awaitable[Nearby]]
# Seconds of the deadline that no model may have: for the local ranking and the reply itself.
_RESERVE = 0.3


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search brought, and what lies near to its question in the memories, None where that cannot be told.

    ``found`` are the ids of the documents that the question itself finds, best first.
    """

    result: SearchResult
    nearby: Nearby | None
    found: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchStages:
    """The parts of a search. Those that need a model are None where there is none."""

    rewriter: HistoryRewriter
    retriever: HybridRetriever
    ranker: RankStage
    curves: Curves
    reranker: RerankStep | None = None
    corrective: CorrectiveWriter | None = None


class SearchFlow:
    """The order of stages 1 and 2."""

    def __init__(self, settings: Settings, profile: DomainProfile, database: Database, stages: SearchStages) -> None:
        self._settings = settings
        self._profile = profile
        self._database = database
        self._stages = stages

    async def run(
        self, question: str, *, k: int, filters: SearchFilters, history: Sequence[str], recall: Recall | None = None
    ) -> Searched:
        """Search once; nothing is written down. ``recall`` asks the memories meanwhile, where there are any.

        Raises:
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        started = time.perf_counter()
        course = Course(Deadline(self._settings.search.deadline, reserve=_RESERVE))
        with stage("search", {}) as span:
            first = await self._first(whole(clean(question)), k, filters, history, course, recall)
            attempt = await self._corrected(first, k, filters, course)
            span.set_attribute("harry.band", attempt.verdict.band.value)
            span.set_attribute("harry.degraded", course.degraded)
        count_search(attempt.verdict.band, course.degraded)
        if "asked" in course.told:
            course.told["asked"] = clean(question)
        hits = self._hits(attempt, k)
        course.timings["total"] = (time.perf_counter() - started) * 1000
        status = SearchStatus.OK if hits else SearchStatus.EMPTY
        result = SearchResult(
            search_id="srch_" + uuid.uuid4().hex,
            question=first.query.question,
            query=attempt.query,
            status=SearchStatus.DEGRADED if course.degraded else status,
            verdict=warned(attempt.verdict, hits),
            hits=hits,
            ranking=tuple(attempt.ranking),
            degraded=tuple(course.degraded),
            timings_ms=course.timings,
            gap_id=gap_id(first.query.question) if _is_gap(attempt, filters) else "",
            revision=attempt.retrieval.statistics.revision,
            course=course.told,
        )
        found = first.found if first.found is not None else documents_found(attempt.ranking)
        return Searched(result, first.nearby, found)

    async def _first(
        self,
        question: str,
        k: int,
        filters: SearchFilters,
        history: Sequence[str],
        course: Course,
        recall: Recall | None,
    ) -> Attempt:
        async def ask(words: str, notes: Course) -> Attempt:
            return await self._attempt(words, k, filters, notes, recall)

        if not history:
            return await ask(question, course)
        legs = TwoLegs(self._stages.rewriter, self._stages.ranker, ask)
        return await legs.search(question, spoken(history), course)

    async def _attempt(
        self, question: str, k: int, filters: SearchFilters, course: Course, recall: Recall | None = None
    ) -> Attempt:
        query = optimize(question, self._profile.glossary, self._settings.retrieve.query_characters)
        found = await self._stages.retriever.find(query, filters, course.deadline)
        attempt, nearby = await both(
            self._ranked(query, found, k, filters, course), self._nearby(question, found, recall, course)
        )
        return await self._reranked(replace(attempt, nearby=nearby), course)

    async def _ranked(
        self, query: OptimizedQuery, found: Found, k: int, filters: SearchFilters, course: Course
    ) -> Attempt:
        retrieval = await self._stages.retriever.measure(found)
        course.lost(*retrieval.statistics.degraded, *retrieval.degraded)
        course.timings.update(retrieval.timings_ms)
        if retrieval.hypothetical:
            course.told["hypothetical"] = retrieval.hypothetical
        ranker = self._stages.ranker
        curve = await self._stages.curves.of(ranker.name)
        with stage("rank", course.timings):
            ranking, verdict = ranker.rank(retrieval, filtered=filters.any, calibration=curve)
        with stage("passages", course.timings):
            passages = await self._passages(ranking, k)
            ranking = unfold(ranking, passages, query.question)
        return Attempt(query, retrieval, ranking, passages, verdict)

    async def _nearby(self, question: str, found: Found, recall: Recall | None, course: Course) -> Nearby | None:
        if recall is None or found.vector is None:
            return None
        if not found.remembers:
            return Nearby()
        with stage("recall", course.timings):
            return await recall(question, found.vector)

    async def _passages(self, ranking: Sequence[Candidate], k: int) -> dict[int, Passage]:
        shortlist = ranking[: max(self._settings.rank.candidates, k)]
        if not shortlist:
            return {}
        async with self._database.reading() as unit:
            chunks = [each.chunk_id for item in shortlist for each in (item, *item.folded)]
            return await as_they_stand(unit, await unit.documents.passages(chunks))

    async def _reranked(self, attempt: Attempt, course: Course) -> Attempt:
        step = self._stages.reranker
        if step is None or not attempt.passages:
            return attempt
        curve = await self._stages.curves.of(step.name)
        with stage("rerank", course.timings):
            reranked = await step.rerank(
                attempt.query.question, attempt.ranking, attempt.passages, curve, course.deadline
            )
        if reranked.degraded:
            course.lost(reranked.degraded)
            return attempt
        ranking = reranked.candidates
        verdict = self._stages.ranker.judge(ranking, attempt.verdict, step.name, curve)
        return replace(attempt, ranking=ranking, verdict=verdict)

    async def _corrected(self, first: Attempt, k: int, filters: SearchFilters, course: Course) -> Attempt:
        """The better of two attempts, where corrective retrieval is on and the first one is not strong."""
        writer = self._stages.corrective
        if writer is None or first.verdict.band is Band.STRONG:
            return first
        titles = list(dict.fromkeys(passage.title for passage in first.passages.values()))[:10]
        try:
            with stage("corrective", course.timings):
                words = await writer.other_words(first.query.question, titles, course.deadline)
        except ProviderError:
            course.lost("corrective_failed")
            return first
        if not words:
            return first
        course.told["other_words"] = words
        second = await self._attempt(words, k, filters, course)
        return second if second.verdict.score > first.verdict.score else first

    def _hits(self, attempt: Attempt, k: int) -> tuple[Hit, ...]:
        shortlist = attempt.ranking[: max(self._settings.rank.candidates, k)]
        return assemble(shortlist, attempt.passages, k or self._settings.retrieve.k, self._stages.ranker.band)


def _is_gap(attempt: Attempt, filters: SearchFilters) -> bool:
    """A weak answer is a gap, also that of a knowledge base which holds nothing yet: somebody asked in vain. A filter
    that lets nothing through is none, for it may be misspelt."""
    return attempt.verdict.band is Band.WEAK and not (filters.any and not attempt.ranking)
