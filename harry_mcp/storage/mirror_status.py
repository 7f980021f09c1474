"""How far an index outside of PostgreSQL is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harry_mcp.storage.outbox import Backlog, Collection


@dataclass(frozen=True, slots=True)
class MirroredCollection:
    """A collection and how many points the store says it holds, None where it has no such collection."""

    collection: Collection
    points: int | None

    @property
    def whole(self) -> bool:
        """Whether it holds as many as it should, as far as it was told."""
        return self.points is not None and abs(self.points - self.collection.vectors) <= self.collection.pending


@dataclass(frozen=True, slots=True)
class MirrorStatus:
    """How far the index is. ``watched``: changes are written to the outbox."""

    watched: bool
    backlog: Backlog
    collections: Sequence[MirroredCollection]

    @property
    def whole(self) -> bool:
        return self.watched and bool(self.collections) and all(each.whole for each in self.collections)
