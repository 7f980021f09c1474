"""The vectors in PostgreSQL as the retriever asks for them: what a search finds is what was committed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.search import SearchFilters
from harry_mcp.ports import Nearest
from harry_mcp.storage.database import Database


class PgvectorIndex:
    """:class:`~harry_mcp.ports.VectorIndex` over the partition of a space and its HNSW index."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def nearest(
        self,
        queries: Sequence[npt.NDArray[np.float32]],
        *,
        limit: int,
        floor: float,
        at_least: int,
        filters: SearchFilters,
        timeout: float | None = None,
    ) -> Nearest:
        """One query after the other: each takes a millisecond, as a connection of its own would. No other service is
        asked, so PostgreSQL's own time limit holds and ``timeout`` does not."""
        async with self._database.reading() as unit:
            return Nearest(
                [
                    await unit.vectors.nearest(query, limit=limit, floor=floor, at_least=at_least, filters=filters)
                    for query in queries
                ]
            )
