"""Hybrid retrieval: keywords and vectors at the same time, fused into one list."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.search import (
    Candidate,
    OptimizedQuery,
    Retrieval,
    SearchFilters,
)
from harry_mcp.errors import ProviderError
from harry_mcp.ports import Embedder
from harry_mcp.settings import RetrieveSection
from harry_mcp.stages.retrieve.fusion import reciprocal_rank_fusion
from harry_mcp.stages.retrieve.keyword_leg import KeywordHits, KeywordLeg
from harry_mcp.storage.database import Database
from harry_mcp.storage.keywords import ScoredChunk
from harry_mcp.storage.unit_of_work import UnitOfWork
from harry_mcp.storage.vectors import ChunkSignals

A = TypeVar("A")
B = TypeVar("B")


class HybridRetriever:
    """BM25 and cosine over the searchable chunks."""

    def __init__(self, database: Database, embedder: Embedder, settings: RetrieveSection) -> None:
        self._database = database
        self._embedder = embedder
        self._settings = settings
        self._keywords = KeywordLeg()

    async def retrieve(self, query: OptimizedQuery, filters: SearchFilters) -> Retrieval:
        """The candidates of both legs, fused.

        A failing embedder is named in ``degraded`` and leaves the keyword leg alone.

        Raises:
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        timings: dict[str, float] = {}
        async with self._database.reading() as unit:
            keyword, (vector, by_vector, degraded) = await _both(
                self._keyword_leg(unit, query, filters, timings), self._vector_leg(query, filters, timings)
            )
            fused = reciprocal_rank_fusion(
                [[row.chunk_id for row in keyword.rows], [row.chunk_id for row in by_vector]], k=self._settings.rrf_k
            )
            signals: list[ChunkSignals] = []
            if fused:
                async with _timed(timings, "signals"):
                    signals = await unit.vectors.signals(list(fused), vector)
        return Retrieval(
            candidates=_candidates(fused, signals, keyword.rows, by_vector),
            terms=tuple(keyword.terms),
            statistics=keyword.statistics,
            degraded=degraded,
            timings_ms=timings,
        )

    async def _keyword_leg(
        self, unit: UnitOfWork, query: OptimizedQuery, filters: SearchFilters, timings: dict[str, float]
    ) -> KeywordHits:
        async with _timed(timings, "keyword"):
            return await self._keywords.search(
                unit.keywords, query.keywords, limit=self._settings.leg_candidates, filters=filters
            )

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


async def _both(first: Coroutine[Any, Any, A], second: Coroutine[Any, Any, B]) -> tuple[A, B]:
    """The results of two coroutines run at the same time; an error waits until neither still uses its connection."""
    a, b = await asyncio.gather(first, second, return_exceptions=True)
    if isinstance(a, BaseException):
        raise a
    if isinstance(b, BaseException):
        raise b
    return a, b


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
