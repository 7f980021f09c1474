"""What an index outside of PostgreSQL still has to be told of the vectors, and where it keeps which space.

Every change of what searches may see is written down by triggers in the transaction that makes it. A row names a chunk
and not what happened to it, so that whoever applies the outbox brings the index to what the chunk is by then: order
does not matter, nor does doing it twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import AsyncConnection

from harry_mcp.domain.prefixes import beginnings
from harry_mcp.domain.search import SearchFilters
from harry_mcp.ports import VectorPoint
from harry_mcp.storage import queries

_SQL = queries.load("outbox")
# The first half of an advisory lock's key, so that it shares no key with anything else: "hv" in hex.
_LOCK = 0x6876


@dataclass(frozen=True, slots=True)
class Standing:
    """What a search must know before it asks the index of a space.

    ``collection`` is empty where there is none yet. ``pending``: chunks whose change it does not hold, the oldest.
    ``topic`` and ``language`` are those of the filters, in small letters.
    """

    collection: str
    pending: Sequence[int]
    waiting: bool
    topic: str
    language: str


@dataclass(frozen=True, slots=True)
class Change:
    """A chunk that changed, as it is by now; without a vector where no search may see it."""

    id: int
    chunk_id: int
    collection: str
    vector: Sequence[float] | None
    topic: str
    language: str
    source: str
    url: str
    updated_at: float

    def point(self) -> VectorPoint:
        """The chunk for the index; only where it has a vector."""
        return VectorPoint(
            chunk_id=self.chunk_id,
            vector=self.vector or (),
            topic=self.topic,
            language=self.language,
            updated_at=self.updated_at,
            under=list(dict.fromkeys((*beginnings(self.source), *beginnings(self.url)))),
        )


@dataclass(frozen=True, slots=True)
class Uncollected:
    """A space that has no collection yet."""

    id: int
    dimension: int


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection, how many vectors it should hold, and how many changes it was not told yet.

    ``wanted`` is false when its space is gone.
    """

    space_id: int
    name: str
    wanted: bool
    active: bool
    dimension: int
    vectors: int
    pending: int


@dataclass(frozen=True, slots=True)
class Backlog:
    """The changes to tell, and how long the oldest of them has waited."""

    changes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class _Yes:
    yes: bool


class Outbox:
    """The outbox as one connection sees it."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    async def watched(self) -> bool:
        """Whether changes are written down at all."""
        return await self._yes(_SQL["watched"])

    async def watch(self) -> None:
        """Write every change down from the end of this transaction on; nothing that was written before."""
        for made in (_SQL["watch_added"], _SQL["watch_changed"], _SQL["watch_removed"], _SQL["watch_refiled"]):
            await queries.run(self._connection, made)

    async def unwatch(self) -> None:
        """Write nothing down any more, and forget what was."""
        for gone in (_SQL["unwatch_added"], _SQL["unwatch_changed"], _SQL["unwatch_removed"], _SQL["unwatch_refiled"]):
            await queries.run(self._connection, gone)
        await queries.run(self._connection, _SQL["empty"])

    async def standing(self, space_id: int, filters: SearchFilters, *, most: int) -> Standing:
        """``most``: of how many pending chunks the numbers are wanted."""
        asked = {"space": space_id, "most": most, "topic": filters.topic, "language": filters.language}
        found = await queries.one(self._connection, _SQL["standing"], Standing, asked)
        return found or Standing("", (), False, "", "")

    async def anything(self) -> bool:
        """Whether there is anything to do."""
        return await self._yes(_SQL["anything"])

    async def claim(self) -> bool:
        """Whether this session is now the only one that applies the outbox; until :meth:`release`, or its end."""
        await queries.run(self._connection, _SQL["take_time"])
        return await self._yes(_SQL["claim"], {"lock": _LOCK})

    async def release(self) -> None:
        await self._yes(_SQL["release"], {"lock": _LOCK})

    async def next(self, *, limit: int) -> list[Change]:
        """The oldest changes of spaces that have a collection."""
        return await queries.many(self._connection, _SQL["next"], Change, {"limit": limit})

    async def done(self, changes: Sequence[Change]) -> None:
        """The index holds these."""
        await queries.run(self._connection, _SQL["done"], {"ids": [change.id for change in changes]})

    async def without_collection(self) -> list[Uncollected]:
        return await queries.many(self._connection, _SQL["without_collection"], Uncollected)

    async def adopt(self, space_id: int, name: str) -> None:
        """Make a new, empty collection that of a space, and all that it should hold what it is to be told."""
        await queries.run(self._connection, _SQL["adopt"], {"space": space_id, "name": name})

    async def collections(self) -> list[Collection]:
        """All of them, that of the space in service first."""
        return await queries.many(self._connection, _SQL["collections"], Collection)

    async def forget(self, space_id: int) -> None:
        """Forget the collection of a space."""
        await queries.run(self._connection, _SQL["forget"], {"space": space_id})

    async def forget_orphans(self) -> None:
        """Forget what spaces that are gone had to tell."""
        await queries.run(self._connection, _SQL["forget_orphans"])

    async def backlog(self) -> Backlog:
        found = await queries.one(self._connection, _SQL["backlog"], Backlog)
        return found or Backlog(0, 0.0)

    async def _yes(self, query: queries.Query, parameters: queries.Parameters | None = None) -> bool:
        found = await queries.one(self._connection, query, _Yes, parameters)
        return found is not None and found.yes
