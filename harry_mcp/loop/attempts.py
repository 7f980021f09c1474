"""What a search holds on its way: one way of asking with what it found, and the notes of its course."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harry_mcp.domain.deadlines import Deadline
from harry_mcp.domain.search import Candidate, OptimizedQuery, Passage, Retrieval, Verdict
from harry_mcp.loop.remembered import Nearby


@dataclass(frozen=True, slots=True)
class Attempt:
    """A question, and what one way of asking it found. ``nearby`` is None where the question has no vector.

    ``found`` are the documents that the question itself finds, None where the ranking has them.
    """

    query: OptimizedQuery
    retrieval: Retrieval
    ranking: Sequence[Candidate]
    passages: Mapping[int, Passage]
    verdict: Verdict
    nearby: Nearby | None = None
    found: Sequence[str] | None = None


@dataclass(slots=True)
class Course:
    """What one search notes on its way."""

    deadline: Deadline
    timings: dict[str, float] = field(default_factory=dict[str, float])
    degraded: list[str] = field(default_factory=list[str])
    told: dict[str, str] = field(default_factory=dict[str, str])

    def lost(self, *parts: str) -> None:
        self.degraded.extend(part for part in parts if part and part not in self.degraded)

    def beside(self) -> Course:
        """Empty notes for one of two ways of asking, under the same deadline."""
        return Course(self.deadline)

    def take(self, other: Course) -> None:
        """What was noted beside counts from now on."""
        self.timings.update(other.timings)
        self.told.update(other.told)
        self.lost(*other.degraded)


def documents_found(ranking: Sequence[Candidate]) -> list[str]:
    """The ids of the documents in a ranking, best first."""
    return list(dict.fromkeys(item.document_id for item in ranking))
