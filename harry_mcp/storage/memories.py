"""Vectors of what is remembered beside the documents: official answers, corrections, what went wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt
from pgvector import Vector
from psycopg import AsyncConnection

from harry_mcp.storage import queries
from harry_mcp.storage.spaces import StoredSpace

Floats = npt.NDArray[np.float32]
_SQL = queries.load("memories")


class MemoryKind(StrEnum):
    """What a vector belongs to. ``asked`` is a question that a correction was made on; it goes with its correction."""

    VERIFIED = "verified"
    NEVER_SERVE = "never_serve"
    CORRECTION = "correction"
    ASKED = "asked"
    FAILURE = "failure"


_MISSING = {
    MemoryKind.VERIFIED: _SQL["missing_verified"],
    MemoryKind.NEVER_SERVE: _SQL["missing_never_serve"],
    MemoryKind.CORRECTION: _SQL["missing_correction"],
    MemoryKind.ASKED: _SQL["missing_asked"],
    MemoryKind.FAILURE: _SQL["missing_failure"],
}


@dataclass(frozen=True, slots=True)
class MemoryText:
    """Something to embed, and whether it is to be found."""

    owner_id: str
    text: str
    active: bool


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory near to a vector."""

    kind: MemoryKind
    owner_id: str
    cosine: float


@dataclass(frozen=True, slots=True)
class _Row:
    kind: str
    owner_id: str
    cosine: float


class Memories:
    """The vectors of one space as one connection sees them."""

    def __init__(self, connection: AsyncConnection[Any], space: StoredSpace) -> None:
        self._connection = connection
        self._space = space

    async def put(self, kind: MemoryKind, texts: Sequence[MemoryText], vectors: Sequence[Floats]) -> None:
        """Store the vector of each text's owner."""
        await queries.run(
            self._connection,
            _SQL["put"],
            {
                "space": self._space.id,
                "kind": kind.value,
                "owners": [text.owner_id for text in texts],
                "active": [text.active for text in texts],
                "vectors": [Vector(vector) for vector in vectors],
            },
        )

    async def set_active(self, kind: MemoryKind, owners: Sequence[str], *, active: bool) -> None:
        """Let owners be found from now on, or not any more; corrections with the questions that they were made on."""
        parameters = {"kind": kind.value, "owners": list(owners), "active": active}
        await queries.run(self._connection, _SQL["set_active"], parameters)

    async def recall(self, query: Floats, limits: Mapping[MemoryKind, int]) -> list[Recalled]:
        """The memories nearest to a vector, at most so many of each kind, the nearest of a kind first."""
        parameters = {
            "space": self._space.id,
            "query": Vector(query),
            "kinds": [kind.value for kind in limits],
            "limits": list(limits.values()),
        }
        rows = await queries.many(self._connection, _SQL["recall"], _Row, parameters)
        found = [Recalled(MemoryKind(row.kind), row.owner_id, row.cosine) for row in rows]
        return sorted(found, key=lambda item: (item.kind, -item.cosine, item.owner_id))

    async def missing(self, kind: MemoryKind, limit: int) -> list[MemoryText]:
        """Owners that have no vector in this space, as after a change of the embedding model."""
        parameters = {"space": self._space.id, "limit": limit}
        return await queries.many(self._connection, _MISSING[kind], MemoryText, parameters)
