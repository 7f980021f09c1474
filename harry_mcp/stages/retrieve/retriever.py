"""Hybrid retrieval: keywords and vectors at the same time, fused into one list."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.deadlines import Deadline
from harry_mcp.domain.search import (
    Candidate,
    OptimizedQuery,
    Retrieval,
    SearchFilters,
)
from harry_mcp.errors import ProviderError, ProviderTimeout
from harry_mcp.ports import Embedder
from harry_mcp.settings import Settings
from harry_mcp.stages.retrieve.fusion import reciprocal_rank_fusion
from harry_mcp.stages.retrieve.hyde import Hypothetical, HypotheticalWriter
from harry_mcp.stages.retrieve.keyword_leg import KeywordHits, KeywordLeg
from harry_mcp.storage.database import Database
from harry_mcp.storage.keywords import LegChunk
from harry_mcp.storage.vectors import received
from harry_mcp.tracing import stage

KeywordRows = list[tuple[LegChunk, bytes | None]]
A = TypeVar("A")
B = TypeVar("B")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Meaning:
    """What the vector legs found: that of the question first, then that of the hypothetical answer."""

    query: npt.NDArray[np.float32] | None = None
    legs: Sequence[Sequence[LegChunk]] = ()
    degraded: tuple[str, ...] = ()
    hypothetical: str = ""


class HybridRetriever:
    """BM25 and cosine over the searchable chunks, and cosine to a hypothetical answer where a model writes one."""

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        settings: Settings,
        writer: HypotheticalWriter | None = None,
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._settings = settings.retrieve
        self._embed_budget = settings.search.embed_budget
        self._writer = writer
        self._keywords = KeywordLeg()

    async def retrieve(
        self, query: OptimizedQuery, filters: SearchFilters, deadline: Deadline | None = None
    ) -> Retrieval:
        """The candidates of all legs, fused.

        A model that fails or is slow is named in ``degraded`` and leaves the other legs alone. No leg holds a
        connection while it waits for a model, and none waits for a second one while it holds a first.

        Raises:
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        timings: dict[str, float] = {}
        (keyword, by_keyword), meaning = await _both(
            self._keyword_leg(query, filters, timings),
            self._vector_legs(query, filters, timings, deadline or Deadline(self._embed_budget)),
        )
        fused = reciprocal_rank_fusion(
            [[row.chunk_id for row, _ in by_keyword], *([row.chunk_id for row in leg] for leg in meaning.legs)],
            k=self._settings.rrf_k,
        )
        apart = await self._apart(by_keyword, meaning)
        beside = await self._beside(fused)
        return Retrieval(
            candidates=_candidates(fused, by_keyword, [*apart, *beside], meaning),
            terms=tuple(keyword.terms),
            statistics=keyword.statistics,
            degraded=meaning.degraded,
            timings_ms=timings,
            hypothetical=meaning.hypothetical,
            vector=meaning.query,
        )

    async def _keyword_leg(
        self, query: OptimizedQuery, filters: SearchFilters, timings: dict[str, float]
    ) -> tuple[KeywordHits, KeywordRows]:
        async with self._database.reading() as unit:
            with stage("keyword", timings):
                hits = await self._keywords.search(
                    unit.keywords, query.keywords, limit=self._settings.leg_candidates, filters=filters
                )
            with stage("signals", timings):
                return hits, await unit.keywords.signals(hits.rows) if hits.rows else []

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
            legs = await asyncio.gather(*(self._nearest(vector, filters) for vector in vectors))
        return _Meaning(query=vectors[0], legs=legs, degraded=degraded, hypothetical=hypothetical.text)

    async def _apart(self, by_keyword: KeywordRows, meaning: _Meaning) -> KeywordRows:
        """Chunks that the hypothetical answer alone brought up, with the vectors that their cosine is had from."""
        met = {row.chunk_id for row, _ in by_keyword} | {row.chunk_id for leg in meaning.legs[:1] for row in leg}
        ids = [row.chunk_id for leg in meaning.legs[1:] for row in leg if row.chunk_id not in met]
        if not ids:
            return []
        async with self._database.reading() as unit:
            return await unit.keywords.signals([(chunk_id, 0.0) for chunk_id in ids])

    async def _beside(self, fused: dict[int, float]) -> KeywordRows:
        """The neighbours of the best chunks: an answer is often cut in two, and only one half has the words."""
        first = list(fused)[: self._settings.neighbours_of]
        if not first:
            return []
        async with self._database.reading() as unit:
            found = await unit.keywords.beside(first, fused.keys())
        fused.update((row.chunk_id, 0.0) for row, _ in found)
        return found

    async def _nearest(self, vector: npt.NDArray[np.float32], filters: SearchFilters) -> list[LegChunk]:
        async with self._database.reading() as unit:
            return await unit.vectors.nearest(
                vector,
                limit=self._settings.leg_candidates,
                floor=self._settings.vector_floor,
                at_least=self._settings.vector_at_least,
                filters=filters,
            )


async def _both(first: Coroutine[Any, Any, A], second: Coroutine[Any, Any, B]) -> tuple[A, B]:
    """The results of two coroutines run at the same time; an error waits until neither still uses its connection."""
    a, b = await asyncio.gather(first, second, return_exceptions=True)
    if isinstance(a, BaseException):
        raise a
    if isinstance(b, BaseException):
        raise b
    return a, b


def _candidates(
    fused: dict[int, float], by_keyword: KeywordRows, apart: KeywordRows, meaning: _Meaning
) -> tuple[Candidate, ...]:
    keyword_ranks = {row.chunk_id: (rank, row.score) for rank, (row, _) in enumerate(by_keyword, start=1)}
    by_vector = meaning.legs[0] if meaning.legs else ()
    vector_ranks = {row.chunk_id: rank for rank, row in enumerate(by_vector, start=1)}
    measured = [*by_keyword, *apart]
    cosines = _cosines(measured, meaning.query) | {row.chunk_id: row.score for row in by_vector}
    rows = {row.chunk_id: row for row in (*(row for row, _ in measured), *by_vector)}
    found: list[Candidate] = []
    for chunk_id, rrf in fused.items():
        row = rows.get(chunk_id)
        if row is None:  # archived or replaced since it was found
            continue
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


def _cosines(measured: KeywordRows, query: npt.NDArray[np.float32] | None) -> dict[int, float]:
    """The cosines of chunks that come with their vectors; both sides have unit length, so the product is the cosine."""
    held = [(row.chunk_id, vector) for row, vector in measured if vector]
    if query is None or not held:
        return {}
    matrix = received(vector for _, vector in held)
    return dict(zip((chunk_id for chunk_id, _ in held), (matrix @ query).tolist(), strict=True))
