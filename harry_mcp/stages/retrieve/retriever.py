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
from harry_mcp.storage.keywords import LegChunk
from harry_mcp.storage.unit_of_work import UnitOfWork
from harry_mcp.storage.vectors import received

KeywordRows = list[tuple[LegChunk, bytes | None]]
A = TypeVar("A")
B = TypeVar("B")


class HybridRetriever:
    """BM25 and cosine over the searchable chunks."""

    def __init__(self, database: Database, embedder: Embedder, settings: RetrieveSection) -> None:
        self._database = database
        self._embedder = embedder
        self._settings = settings
        self._keywords = KeywordLeg()

    async def retrieve(self, query: OptimizedQuery, filters: SearchFilters, unit: UnitOfWork) -> Retrieval:
        """The candidates of both legs, fused. The keyword leg reads through ``unit``, the vector leg beside it.

        A failing embedder is named in ``degraded`` and leaves the keyword leg alone.

        Raises:
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        timings: dict[str, float] = {}
        (keyword, by_keyword), (vector, by_vector, degraded) = await _both(
            self._keyword_leg(unit, query, filters, timings), self._vector_leg(query, filters, timings)
        )
        fused = reciprocal_rank_fusion(
            [[row.chunk_id for row, _ in by_keyword], [row.chunk_id for row in by_vector]], k=self._settings.rrf_k
        )
        return Retrieval(
            candidates=_candidates(fused, by_keyword, by_vector, vector),
            terms=tuple(keyword.terms),
            statistics=keyword.statistics,
            degraded=degraded,
            timings_ms=timings,
        )

    async def _keyword_leg(
        self, unit: UnitOfWork, query: OptimizedQuery, filters: SearchFilters, timings: dict[str, float]
    ) -> tuple[KeywordHits, KeywordRows]:
        async with _timed(timings, "keyword"):
            hits = await self._keywords.search(
                unit.keywords, query.keywords, limit=self._settings.leg_candidates, filters=filters
            )
        async with _timed(timings, "signals"):
            return hits, await unit.keywords.signals(hits.rows) if hits.rows else []

    async def _vector_leg(
        self, query: OptimizedQuery, filters: SearchFilters, timings: dict[str, float]
    ) -> tuple[npt.NDArray[np.float32] | None, list[LegChunk], tuple[str, ...]]:
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
    by_keyword: KeywordRows,
    by_vector: Sequence[LegChunk],
    query: npt.NDArray[np.float32] | None,
) -> tuple[Candidate, ...]:
    keyword_ranks = {row.chunk_id: (rank, row.score) for rank, (row, _) in enumerate(by_keyword, start=1)}
    vector_ranks = {row.chunk_id: rank for rank, row in enumerate(by_vector, start=1)}
    cosines = _cosines(by_keyword, query) | {row.chunk_id: row.score for row in by_vector}
    rows = {row.chunk_id: row for row in (*(row for row, _ in by_keyword), *by_vector)}
    found: list[Candidate] = []
    for chunk_id, rrf in fused.items():
        row = rows[chunk_id]
        keyword_rank, bm25 = keyword_ranks.get(chunk_id, (0, 0.0))
        found.append(
            Candidate(
                chunk_id,
                row.public_id,
                row.document_id,
                row.ordinal,
                row.terms,
                row.title_terms,
                cosine=cosines.get(chunk_id),
                bm25=bm25,
                keyword_rank=keyword_rank,
                vector_rank=vector_ranks.get(chunk_id, 0),
                rrf=rrf,
            )
        )
    return tuple(found)


def _cosines(by_keyword: KeywordRows, query: npt.NDArray[np.float32] | None) -> dict[int, float]:
    """The cosines of the keyword leg's chunks; both sides have unit length, so the product is the cosine."""
    held = [(row.chunk_id, vector) for row, vector in by_keyword if vector]
    if query is None or not held:
        return {}
    matrix = received(vector for _, vector in held)
    return dict(zip((chunk_id for chunk_id, _ in held), (matrix @ query).tolist(), strict=True))


@asynccontextmanager
async def _timed(timings: dict[str, float], name: str) -> AsyncGenerator[None, None]:
    start = time.perf_counter()
    try:
        yield
    finally:
        timings[name] = (time.perf_counter() - start) * 1000
