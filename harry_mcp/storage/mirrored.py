"""An index outside of PostgreSQL as the retriever asks for it: it proposes, PostgreSQL disposes.

The index says which chunks are near. Whether a search may see them, and how near they are, is read from PostgreSQL when
they are loaded, and the chunks whose changes the index was not told yet are laid beside them. So what is found is what
was committed, however far the index lags behind; only beyond ``HARRY_VECTORS__BACKLOG`` changes may something be
missing, and then the search says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.deadlines import Deadline
from harry_mcp.domain.prefixes import longest_beginning
from harry_mcp.domain.search import Scored, SearchFilters
from harry_mcp.ports import Narrowing, Nearest, VectorStore
from harry_mcp.settings import VectorsSection
from harry_mcp.storage.applying import OutboxApplier
from harry_mcp.storage.database import Database
from harry_mcp.storage.outbox import Standing
from harry_mcp.storage.vectors import above_floor

Query = npt.NDArray[np.float32]
# When what the index proposes is not let through, so many times more are asked for, up to so many.
_WIDER = 4
_WIDEST = 10_000


class MirroredIndex:
    """:class:`~harry_mcp.ports.VectorIndex` over a store that is kept up to date by an outbox."""

    def __init__(
        self, database: Database, store: VectorStore, settings: VectorsSection, applier: OutboxApplier
    ) -> None:
        self._database = database
        self._store = store
        self._settings = settings
        self._applier = applier

    async def nearest(
        self,
        queries: Sequence[Query],
        *,
        limit: int,
        floor: float,
        at_least: int,
        filters: SearchFilters,
        timeout: float | None = None,
    ) -> Nearest:
        """No connection is held while the store is asked."""
        deadline = Deadline(self._settings.budget if timeout is None else timeout)
        most = self._settings.backlog
        async with self._database.reading() as unit:
            # Before the store is asked: a change that is taken off the outbox meanwhile is in the store by then.
            standing = await unit.outbox.standing(unit.vectors.space_id, filters, most=most + 1)
        if standing.waiting or not standing.collection:
            self._applier.poke()
        behind = not standing.collection or len(standing.pending) > most
        legs = await self._legs(queries, standing, filters, limit, deadline)
        return Nearest(
            [above_floor(leg[:limit], floor, at_least) for leg in legs],
            degraded=("vectors_behind",) if behind else (),
        )

    async def _legs(
        self, queries: Sequence[Query], standing: Standing, filters: SearchFilters, limit: int, deadline: Deadline
    ) -> list[list[Scored]]:
        reach = limit
        narrowing = _narrowing(standing, filters)
        while True:
            proposed: list[list[int]] = [[] for _ in queries]
            if standing.collection:
                proposed = await self._store.nearest(
                    standing.collection, queries, limit=reach, narrowing=narrowing, timeout=deadline.left
                )
            legs = await self._held(queries, proposed, standing, filters)
            short = any(len(found) >= reach and len(leg) < limit for found, leg in zip(proposed, legs, strict=True))
            if not short or reach >= _WIDEST:
                return legs
            reach = min(_WIDEST, reach * _WIDER)

    async def _held(
        self, queries: Sequence[Query], proposed: Sequence[Sequence[int]], standing: Standing, filters: SearchFilters
    ) -> list[list[Scored]]:
        async with self._database.reading() as unit:
            return [
                await unit.vectors.held(set(chain(found, standing.pending)), query, filters)
                for query, found in zip(queries, proposed, strict=True)
            ]


def _narrowing(standing: Standing, filters: SearchFilters) -> Narrowing:
    """What the store can tell of the filters, a little wider than they are: its times are rounded."""
    since = filters.updated_since
    return Narrowing(
        topic=standing.topic,
        language=standing.language,
        under=longest_beginning(filters.source),
        since=since.timestamp() - 1.0 if since else None,
    )
