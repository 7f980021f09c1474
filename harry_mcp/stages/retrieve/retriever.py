"""Hybrid retrieval: keywords and vectors at the same time, fused into one list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.deadlines import Deadline
from harry_mcp.domain.search import (
    Candidate,
    OptimizedQuery,
    Retrieval,
    Scored,
    SearchFilters,
)
from harry_mcp.domain.together import both
from harry_mcp.errors import ProviderError, ProviderTimeout
from harry_mcp.ports import Embedder, Nearest, VectorIndex
from harry_mcp.settings import Settings
from harry_mcp.stages.retrieve.fusion import reciprocal_rank_fusion
from harry_mcp.stages.retrieve.hyde import Hypothetical, HypotheticalWriter
from harry_mcp.stages.retrieve.keyword_leg import KeywordHits, KeywordLeg
from harry_mcp.storage.database import Database
from harry_mcp.storage.keywords import Signals
from harry_mcp.storage.vector_index import PgvectorIndex
from harry_mcp.tracing import stage

Leg = Sequence[Scored]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Meaning:
    """What the vector legs found: that of the question first, then that of the hypothetical answer."""

    query: npt.NDArray[np.float32] | None = None
    legs: Sequence[Leg] = ()
    degraded: tuple[str, ...] = ()
    hypothetical: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the legs found, before anything more is known of it."""

    keyword: KeywordHits
    meaning: _Meaning
    timings_ms: dict[str, float]

    @property
    def vector(self) -> npt.NDArray[np.float32] | None:
        """The question's, None when it has none."""
        return self.meaning.query

    @property
    def remembers(self) -> bool:
        """Whether there is anything to remember beside the documents."""
        return self.keyword.remembers


class HybridRetriever:
    """BM25 and cosine over the searchable chunks, and cosine to a hypothetical answer where a model writes one.

    No step holds a connection while it waits for a model, and none waits for a second one while it holds a first: many
    searches at once share a small pool.
    """

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        settings: Settings,
        writer: HypotheticalWriter | None = None,
        *,
        vectors: VectorIndex | None = None,
    ) -> None:
        """``vectors``: where the nearest passages are looked for, the database itself when none is given."""
        self._database = database
        self._vectors = vectors or PgvectorIndex(database)
        self._embedder = embedder
        self._settings = settings.retrieve
        self._embed_budget = settings.search.embed_budget
        self._vector_budget = settings.vectors.budget
        self._writer = writer
        self._keywords = KeywordLeg()

    async def retrieve(
        self, query: OptimizedQuery, filters: SearchFilters, deadline: Deadline | None = None
    ) -> Retrieval:
        """The candidates of all legs, fused and measured: :meth:`find`, then :meth:`measure`.

        Raises:
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        return await self.measure(await self.find(query, filters, deadline))

    async def find(self, query: OptimizedQuery, filters: SearchFilters, deadline: Deadline | None = None) -> Found:
        """What each leg finds. A model that fails or is slow is named, and leaves the other legs alone.

        Raises:
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        timings: dict[str, float] = {}
        keyword, meaning = await both(
            self._keyword_leg(query, filters, timings),
            self._vector_legs(query, filters, timings, deadline or Deadline(self._embed_budget + self._vector_budget)),
        )
        return Found(keyword=keyword, meaning=meaning, timings_ms=timings)

    async def measure(self, found: Found) -> Retrieval:
        """The fused candidates with all that the ranker must know of them.

        The neighbours of the best ones are among them: an answer is often cut in two, and only one half has the words.

        Raises:
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        keyword, meaning = found.keyword, found.meaning
        fused = reciprocal_rank_fusion(
            [[row.chunk_id for row in leg] for leg in (keyword.rows, *meaning.legs)], k=self._settings.rrf_k
        )
        with stage("signals", found.timings_ms):
            signals = await self._signals(fused, meaning)
        return Retrieval(
            candidates=_candidates(fused, signals, keyword.rows, meaning),
            terms=tuple(keyword.terms),
            statistics=keyword.statistics,
            degraded=meaning.degraded,
            timings_ms=found.timings_ms,
            hypothetical=meaning.hypothetical,
            vector=meaning.query,
        )

    async def _keyword_leg(
        self, query: OptimizedQuery, filters: SearchFilters, timings: dict[str, float]
    ) -> KeywordHits:
        async with self._database.reading() as unit:
            with stage("keyword", timings):
                return await self._keywords.search(
                    unit.keywords, query.keywords, limit=self._settings.leg_candidates, filters=filters
                )

    async def _vector_legs(
        self, query: OptimizedQuery, filters: SearchFilters, timings: dict[str, float], deadline: Deadline
    ) -> _Meaning:
        hypothetical = Hypothetical()
        if self._writer is not None:
            with stage("hyde", timings):
                hypothetical = await self._writer.write(query.text, deadline)
        degraded = (hypothetical.degraded,) if hypothetical.degraded else ()
        texts = [query.text, hypothetical.text] if hypothetical.text else [query.text]
        try:
            with stage("embed", timings):
                vectors = await self._embedder.embed_queries(texts, timeout=deadline.within(self._embed_budget))
        except ProviderTimeout:
            return _Meaning(degraded=(*degraded, "embedding_timeout"))
        except ProviderError:
            return _Meaning(degraded=(*degraded, "embedding_failed"))
        with stage("vector", timings):
            found = await self._nearest(list(vectors), filters, deadline)
        return _Meaning(
            query=vectors[0],
            legs=found.legs,
            degraded=(*degraded, *found.degraded),
            hypothetical=hypothetical.text,
        )

    async def _nearest(
        self, vectors: Sequence[npt.NDArray[np.float32]], filters: SearchFilters, deadline: Deadline
    ) -> Nearest:
        """One leg for each vector; none where the index cannot be asked, which is named."""
        try:
            return await self._vectors.nearest(
                vectors,
                limit=self._settings.leg_candidates,
                floor=self._settings.vector_floor,
                at_least=self._settings.vector_at_least,
                filters=filters,
                timeout=deadline.within(self._vector_budget),
            )
        except ProviderTimeout:
            return Nearest(degraded=("vectors_timeout",))
        except ProviderError:
            return Nearest(degraded=("vectors_failed",))

    async def _signals(self, fused: Mapping[int, float], meaning: _Meaning) -> dict[int, Signals]:
        if not fused:
            return {}
        async with self._database.reading() as unit:
            return await unit.keywords.signals(
                fused.keys(),
                beside=list(fused)[: self._settings.neighbours_of],
                query=meaning.query,
                measured=[row.chunk_id for leg in meaning.legs[:1] for row in leg],
            )


def _candidates(
    fused: Mapping[int, float], signals: Mapping[int, Signals], by_keyword: Leg, meaning: _Meaning
) -> tuple[Candidate, ...]:
    """In fused order, the neighbours behind; without those that were archived or replaced since they were found."""
    keyword_ranks = {row.chunk_id: (rank, row.score) for rank, row in enumerate(by_keyword, start=1)}
    vector_ranks = {
        row.chunk_id: (rank, row.score) for leg in meaning.legs[:1] for rank, row in enumerate(leg, start=1)
    }
    beside = sorted(signals.keys() - fused.keys())
    found: list[Candidate] = []
    for chunk_id in (*(item for item in fused if item in signals), *beside):
        known = signals[chunk_id]
        keyword_rank, bm25 = keyword_ranks.get(chunk_id, (0, 0.0))
        vector_rank, cosine = vector_ranks.get(chunk_id, (0, known.cosine))
        found.append(
            Candidate(
                *known[:6],
                cosine=cosine,
                bm25=bm25,
                keyword_rank=keyword_rank,
                vector_rank=vector_rank,
                rrf=fused.get(chunk_id, 0.0),
            )
        )
    return tuple(found)
