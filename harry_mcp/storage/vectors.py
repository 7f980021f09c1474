"""Vectors in pgvector: one partition and one HNSW index for each embedding space."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pgvector import Vector
from psycopg import AsyncConnection

from harry_mcp.domain.search import Scored, SearchFilters
from harry_mcp.storage import queries
from harry_mcp.storage.keywords import filter_parameters
from harry_mcp.storage.spaces import StoredSpace, require_active

_SQL = queries.load("vectors")


@dataclass(frozen=True, slots=True)
class _StoredVector:
    public_id: str
    embedding: Vector


class Vectors:
    """The vectors of one space as one connection sees them."""

    def __init__(self, connection: AsyncConnection[Any], space: StoredSpace) -> None:
        self._connection = connection
        self._space = space
        numbers = {"space": space.id, "dimension": space.dimension}
        self._nearest = _SQL["nearest"].numbered(**numbers)
        self._nearest_filtered = _SQL["nearest_filtered"].numbered(**numbers)
        self._held = _SQL["held"].numbered(**numbers)
        self._held_filtered = _SQL["held_filtered"].numbered(**numbers)

    @property
    def space_id(self) -> int:
        return self._space.id

    async def add(
        self, chunk_ids: Sequence[int], vectors: Sequence[npt.NDArray[np.float32]], *, searchable: bool
    ) -> None:
        """Store the vectors of new chunks, in a space that is in service."""
        await queries.run(
            self._connection,
            _SQL["add_vectors"],
            {
                "space": self._space.id,
                "searchable": searchable,
                "chunks": list(chunk_ids),
                "vectors": [Vector(vector) for vector in vectors],
            },
        )

    async def require_active(self) -> None:
        """Refuse to write what nobody would find; holds while the writers' queue is held.

        Raises:
            SpaceMismatch: the knowledge base was switched to another model since this process began.
        """
        await require_active(self._connection, self._space)

    async def set_searchable(self, document_id: str, *, searchable: bool) -> None:
        await queries.run(
            self._connection, _SQL["set_searchable"], {"document_id": document_id, "searchable": searchable}
        )

    async def stored(self, document_id: str) -> dict[str, npt.NDArray[np.float32]]:
        """The vectors of a document's chunks by public id."""
        rows = await queries.many(
            self._connection,
            _SQL["stored_vectors"],
            _StoredVector,
            {"document_id": document_id, "space": self._space.id},
        )
        return {row.public_id: row.embedding.to_numpy() for row in rows}

    async def nearest(
        self,
        query: npt.NDArray[np.float32],
        *,
        limit: int,
        floor: float,
        at_least: int = 0,
        filters: SearchFilters | None = None,
    ) -> list[Scored]:
        """The chunks nearest by cosine, best first; those under ``floor`` only among the first ``at_least``."""
        rows = await self._scored(self._nearest, self._nearest_filtered, query, filters, {"limit": limit})
        # An iterative scan of HNSW gives them in "relaxed order": nearly the nearest first.
        return above_floor(rows, floor, at_least)

    async def held(
        self, chunk_ids: Collection[int], query: npt.NDArray[np.float32], filters: SearchFilters | None = None
    ) -> list[Scored]:
        """Those of the chunks that a search may see and the filters let through, by cosine, best first."""
        return best_first(await self._scored(self._held, self._held_filtered, query, filters, {"ids": list(chunk_ids)}))

    async def _scored(
        self,
        plain: queries.Query,
        filtered: queries.Query,
        query: npt.NDArray[np.float32],
        filters: SearchFilters | None,
        parameters: dict[str, object],
    ) -> list[Scored]:
        narrow = filters is not None and filters.any
        found = await queries.tuples(
            self._connection,
            filtered if narrow else plain,
            {"query": Vector(query), **parameters, **(filter_parameters(filters) if filters and narrow else {})},
        )
        return [Scored(*row) for row in found]


def best_first(rows: Iterable[Scored]) -> list[Scored]:
    """By score, ties by id, so that the order never wavers."""
    return sorted(rows, key=lambda row: (-row.score, row.chunk_id))


def above_floor(rows: Iterable[Scored], floor: float, at_least: int) -> list[Scored]:
    """Best first; those under ``floor`` only among the first ``at_least``."""
    return [row for rank, row in enumerate(best_first(rows)) if rank < at_least or row.score >= floor]
