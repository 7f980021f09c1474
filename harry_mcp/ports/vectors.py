"""Where vectors are searched: the index that retrieval asks, and a store that may lie behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.search import Scored, SearchFilters


@dataclass(frozen=True, slots=True)
class Nearest:
    """One list for each query, its best chunks first. ``degraded`` names what the lists may lack."""

    legs: Sequence[Sequence[Scored]] = ()
    degraded: tuple[str, ...] = ()


class VectorIndex(Protocol):
    """Finds the searchable chunks whose vectors are nearest to queries."""

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
        """For each query at most ``limit`` chunks with their cosine, ties by id.

        Those under ``floor`` only among the first ``at_least``. None of them is one that PostgreSQL does not hold as
        searchable, or that the filters do not let through, at the moment when it is returned. ``timeout`` is in
        seconds, for what is asked of another service.

        Raises:
            ProviderTimeout: the service did not answer in time.
            ProviderError: the service failed, or was left alone because it kept failing.
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """What must hold of a point, empty fields of none. It may let through more than the filters of a search do, never
    less: ``topic`` and ``language`` are in small letters, ``under`` is one of the point's prefixes, ``since`` is in
    seconds of the epoch."""

    topic: str = ""
    language: str = ""
    under: str = ""
    since: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorPoint:
    """A searchable chunk as a store keeps it; ``under`` are the prefixes of its source and its address."""

    chunk_id: int
    vector: Sequence[float]
    topic: str
    language: str
    updated_at: float
    under: Sequence[str]


class VectorStore(Protocol):
    """A service that keeps copies of vectors, in collections that are searched by cosine.

    Every method raises ProviderTimeout when it is not answered in time, ProviderNotConfigured when the service refuses
    the key or cannot be used as set, and ProviderError when it fails or the collection is not there.
    """

    @property
    def name(self) -> str:
        """The service and where it is, without secrets."""
        ...

    async def make(self, collection: str, dimension: int) -> None:
        """A new, empty collection."""
        ...

    async def drop(self, collection: str) -> None:
        """Remove a collection; one that is not there is no error."""
        ...

    async def put(self, collection: str, points: Sequence[VectorPoint]) -> None:
        """Store points in place of those of the same chunks. Searches see them when this returns."""
        ...

    async def remove(self, collection: str, chunk_ids: Sequence[int]) -> None:
        """Remove points, those that are there. Searches see none of them when this returns."""
        ...

    async def nearest(
        self,
        collection: str,
        queries: Sequence[npt.NDArray[np.float32]],
        *,
        limit: int,
        narrowing: Narrowing,
        timeout: float,
    ) -> list[list[int]]:
        """For each query the chunks nearest by cosine, the best first. ``timeout`` is in seconds."""
        ...

    async def count(self, collection: str) -> int | None:
        """How many points a collection holds, None where there is none of this name."""
        ...

    async def close(self) -> None:
        """Give the connections back."""
        ...
