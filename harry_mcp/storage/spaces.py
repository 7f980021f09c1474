"""Embedding spaces: which one is in service, filling another beside it, and the switch.

Vectors of two spaces are never compared: each lives in a partition of its own, and a process searches and writes one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pgvector import Vector
from psycopg import AsyncConnection

from harry_mcp.domain.search import EmbeddingSpace
from harry_mcp.errors import SpaceMismatch, StorageError
from harry_mcp.storage import queries

_SQL = queries.load("spaces")
# pgvector takes an HNSW index over at most this many dimensions of `vector`.
_MOST_DIMENSIONS = 2000
# The first half of an advisory lock's key, so that spaces share no key with anything else: "hs" in hex.
_LOCK_SPACE = 0x6873


@dataclass(frozen=True, slots=True)
class StoredSpace:
    """A registered space and its number."""

    id: int
    provider: str
    model: str
    dimension: int
    version: str

    @property
    def space(self) -> EmbeddingSpace:
        return EmbeddingSpace(provider=self.provider, model=self.model, dimension=self.dimension, version=self.version)


@dataclass(frozen=True, slots=True)
class SpaceState(StoredSpace):
    """A space and how much of the knowledge base it holds."""

    active: bool
    vectors: int
    chunks: int


@dataclass(frozen=True, slots=True)
class IdleSpace(StoredSpace):
    """A space that is not in service, and what it takes."""

    vectors: int
    bytes: int


@dataclass(frozen=True, slots=True)
class _Held:
    held: bool


@dataclass(frozen=True, slots=True)
class ChunkText:
    """What is embedded of a chunk."""

    id: int
    document_id: str
    text: str


@dataclass(frozen=True, slots=True)
class FillProgress:
    """How many chunks there are, and how many of them a space lacks."""

    chunks: int
    missing: int


@dataclass(frozen=True, slots=True)
class _Characters:
    characters: int


async def use_space(connection: AsyncConnection[Any], space: EmbeddingSpace, *, any_space: bool = False) -> StoredSpace:
    """The stored space that this embedder writes to; the first one ever becomes the active one.

    With ``any_space`` it is the active one, whichever that is: for moving the knowledge base to another.

    Raises:
        SpaceMismatch: another space is active. Two spaces are never compared, so nothing is searched either.
    """
    active = await queries.one(connection, _SQL["active"], StoredSpace)
    if active is None:
        return await Spaces(connection).register(space)
    if active.space == space or any_space:
        return active
    raise SpaceMismatch(
        f"The knowledge base was embedded with {active.space}, but this process embeds with {space}. Run "
        "`harry reembed` to move it to the new model while the old one serves, or start with the settings of the old "
        "one."
    )


async def require_active(connection: AsyncConnection[Any], own: StoredSpace) -> None:
    """Refuse to write into a space that is not in service: what it wrote would be found by no one.

    Holds until the transaction ends when the writers' queue is held, as the switch takes it too.

    Raises:
        SpaceMismatch: the knowledge base was switched since this process began.
    """
    active = await queries.one(connection, _SQL["active"], StoredSpace)
    if active is None or active.id != own.id:
        raise SpaceMismatch(
            f"The knowledge base was switched to {active.space if active else 'no model'} while this process embeds "
            f"with {own.space}. Nothing was written; start it again with the settings of the new model."
        )


class Spaces:
    """All spaces as one connection sees them. Writing needs a transaction that holds the writers' queue."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    async def register(self, space: EmbeddingSpace) -> StoredSpace:
        """The stored space, made with its room and its index when it is new."""
        if space.dimension > _MOST_DIMENSIONS:
            raise StorageError(f"{space} is over the {_MOST_DIMENSIONS} dimensions that pgvector indexes.")
        added = await queries.one(self._connection, _SQL["add"], StoredSpace, _named(space))
        if added is None:
            raise StorageError
        await queries.run(self._connection, _SQL["create_partition"].numbered(space=added.id))
        await queries.run(self._connection, _SQL["create_index"].numbered(space=added.id, dimension=added.dimension))
        return added

    async def active(self) -> StoredSpace | None:
        return await queries.one(self._connection, _SQL["active"], StoredSpace)

    async def previous(self) -> StoredSpace | None:
        """The space that was in service before this one."""
        return await queries.one(self._connection, _SQL["previous"], StoredSpace)

    async def all(self) -> list[SpaceState]:
        return await queries.many(self._connection, _SQL["all"], SpaceState)

    async def idle(self) -> list[IdleSpace]:
        """The spaces that are not in service."""
        return await queries.many(self._connection, _SQL["idle"], IdleSpace)

    async def hold(self, space: StoredSpace) -> None:
        """Keep a space from being dropped for as long as this connection lives."""
        await queries.one(self._connection, _SQL["hold"], _Held, {"lock": _LOCK_SPACE, "space": space.id})

    async def drop(self, space: IdleSpace) -> bool:
        """Remove a space with its vectors; false when somebody is filling it.

        Raises:
            StorageError: others are at the vectors and do not let go.
        """
        key = {"lock": _LOCK_SPACE, "space": space.id}
        free = await queries.one(self._connection, _SQL["try_drop"], _Held, key)
        if free is None or not free.held:
            return False
        await self.hurry()
        await queries.run(self._connection, _SQL["drop_partition"].numbered(space=space.id))
        await queries.run(self._connection, _SQL["drop_memories"], {"space": space.id})
        await queries.run(self._connection, _SQL["forget"], {"space": space.id})
        return True

    async def hurry(self) -> None:
        """Give up after some seconds what others lock, until this transaction ends."""
        await queries.run(self._connection, _SQL["hurry"])

    async def missing(self, space: StoredSpace, *, after: int, limit: int) -> list[ChunkText]:
        """Chunks that have no vector in the space, in the order of their ids."""
        parameters = {"space": space.id, "after": after, "limit": limit}
        return await queries.many(self._connection, _SQL["missing"], ChunkText, parameters)

    async def whole_documents(self, chunk_ids: Sequence[int]) -> list[ChunkText]:
        """All chunks of the documents of these, document by document in their order."""
        return await queries.many(self._connection, _SQL["whole_documents"], ChunkText, {"ids": list(chunk_ids)})

    async def progress(self, space: StoredSpace) -> FillProgress:
        found = await queries.one(self._connection, _SQL["progress"], FillProgress, {"space": space.id})
        return found or FillProgress(0, 0)

    async def characters_missing(self, space: EmbeddingSpace) -> int:
        """The characters of all that a space lacks, be it registered or not: what filling it is paid by."""
        found = await queries.one(self._connection, _SQL["characters_missing"], _Characters, _named(space))
        return found.characters if found else 0

    async def fill(
        self, space: StoredSpace, chunks: Sequence[ChunkText], vectors: Sequence[npt.NDArray[np.float32]]
    ) -> int:
        """Store vectors; how many were, for chunks may have gone meanwhile."""
        parameters = {
            "space": space.id,
            "chunks": [chunk.id for chunk in chunks],
            "vectors": [Vector(vector) for vector in vectors],
        }
        return await queries.run(self._connection, _SQL["fill"], parameters)

    async def activate(self, space: StoredSpace) -> None:
        await queries.run(self._connection, _SQL["retire"])
        await queries.run(self._connection, _SQL["activate"], {"space": space.id})
        await queries.run(self._connection, _SQL["announce"])


def _named(space: EmbeddingSpace) -> dict[str, object]:
    return {
        "provider": space.provider,
        "model": space.model,
        "dimension": space.dimension,
        "version": space.version,
    }
