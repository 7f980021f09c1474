"""Hybrid retrieval: keywords and vectors at the same time, fused into one list."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.search import (
    Candidate,
    CorpusStatistics,
    OptimizedQuery,
    QueryTerm,
    Retrieval,
    SearchFilters,
)
from harry_mcp.domain.tokens import query_terms
from harry_mcp.errors import ProviderError
from harry_mcp.ports import Embedder
from harry_mcp.settings import RetrieveSection
from harry_mcp.stages.retrieve.fusion import reciprocal_rank_fusion
from harry_mcp.storage.database import Database
from harry_mcp.storage.keywords import ScoredChunk
from harry_mcp.storage.unit_of_work import UnitOfWork
from harry_mcp.storage.vectors import ChunkSignals


class HybridRetriever:
    """BM25 and cosine over the searchable chunks."""

    def __init__(self, database: Database, embedder: Embedder, settings: RetrieveSection) -> None:
        self._database = database
        self._embedder = embedder
        self._settings = settings
        # Which languages the documents have, for as long as the corpus stands at that revision.
        self._languages: tuple[int, tuple[str, ...]] = (-1, ("en",))

    async def retrieve(self, query: OptimizedQuery, filters: SearchFilters) -> Retrieval:
        """The candidates of both legs, fused.

        A failing embedder is named in ``degraded`` and leaves the keyword leg alone.

        Raises:
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        timings: dict[str, float] = {}
        (terms, statistics, by_keyword), (vector, by_vector, degraded) = await asyncio.gather(
            self._keyword_leg(query, filters, timings), self._vector_leg(query, filters, timings)
        )
        fused = reciprocal_rank_fusion(
            [[row.chunk_id for row in by_keyword], [row.chunk_id for row in by_vector]],
            k=self._settings.rrf_k,
        )
        signals: list[ChunkSignals] = []
        if fused:
            async with _timed(timings, "signals"), self._database.reading() as unit:
                signals = await unit.vectors.signals(list(fused), vector)
        return Retrieval(
            candidates=_candidates(fused, signals, by_keyword, by_vector),
            terms=tuple(terms),
            statistics=statistics,
            degraded=degraded,
            timings_ms=timings,
        )

    async def _keyword_leg(
        self, query: OptimizedQuery, filters: SearchFilters, timings: dict[str, float]
    ) -> tuple[list[QueryTerm], CorpusStatistics, list[ScoredChunk]]:
        async with _timed(timings, "keyword"), self._database.reading() as unit:
            statistics = await unit.keywords.statistics()
            variants = query_terms(query.keywords, await self._known_languages(unit, statistics))
            terms = await unit.keywords.terms(variants)
            rows = await unit.keywords.search(terms, statistics, limit=self._settings.leg_candidates, filters=filters)
        return terms, statistics, rows

    async def _vector_leg(
        self, query: OptimizedQuery, filters: SearchFilters, timings: dict[str, float]
    ) -> tuple[npt.NDArray[np.float32] | None, list[ScoredChunk], tuple[str, ...]]:
        try:
            async with _timed(timings, "embed"):
                vector = await self._embedder.embed_query(query.text)
        except ProviderError:
            return None, [], ("embedding_failed",)
        async with _timed(timings, "vector"), self._database.reading() as unit:
            rows = await unit.vectors.nearest(
                vector,
                limit=self._settings.leg_candidates,
                floor=self._settings.vector_floor,
                at_least=self._settings.vector_at_least,
                filters=filters,
            )
        return vector, rows, ()

    async def _known_languages(self, unit: UnitOfWork, statistics: CorpusStatistics) -> tuple[str, ...]:
        revision, languages = self._languages
        if revision != statistics.revision:
            languages = await unit.keywords.languages()
            self._languages = (statistics.revision, languages)
        return languages


def _candidates(
    fused: dict[int, float],
    signals: Sequence[ChunkSignals],
    by_keyword: Sequence[ScoredChunk],
    by_vector: Sequence[ScoredChunk],
) -> tuple[Candidate, ...]:
    keyword_ranks = {row.chunk_id: (rank, row.score) for rank, row in enumerate(by_keyword, start=1)}
    vector_ranks = {row.chunk_id: rank for rank, row in enumerate(by_vector, start=1)}
    known = {row.chunk_id: row for row in signals}
    found: list[Candidate] = []
    for chunk_id, rrf in fused.items():
        row = known.get(chunk_id)
        if row is None:  # archived or replaced since the legs ran
            continue
        keyword_rank, bm25 = keyword_ranks.get(chunk_id, (0, 0.0))
        found.append(
            Candidate(
                chunk_id=chunk_id,
                public_id=row.public_id,
                document_id=row.document_id,
                ordinal=row.ordinal,
                terms=row.terms,
                title_terms=row.title_terms,
                cosine=row.cosine,
                bm25=bm25,
                keyword_rank=keyword_rank,
                vector_rank=vector_ranks.get(chunk_id, 0),
                rrf=rrf,
            )
        )
    return tuple(found)


@asynccontextmanager
async def _timed(timings: dict[str, float], name: str) -> AsyncGenerator[None, None]:
    start = time.perf_counter()
    try:
        yield
    finally:
        timings[name] = (time.perf_counter() - start) * 1000
