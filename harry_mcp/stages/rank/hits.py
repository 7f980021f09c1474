"""From ranked candidates to hits: neighbours of one section are joined, so that a passage reads whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from harry_mcp.domain.documents import DocumentStatus, caveats
from harry_mcp.domain.search import Band, Candidate, Hit, Passage
from harry_mcp.domain.variants import told_otherwise

# A joined hit stays readable in one glance and leaves room for the others.
_MOST_CHUNKS = 3


@dataclass(slots=True)
class _Group:
    """Chunks that follow one another, and the best of their candidates."""

    best: Candidate
    members: list[Passage] = field(default_factory=list[Passage])
    denied_by: dict[str, Passage] = field(default_factory=dict[str, Passage])

    def takes(self, passage: Passage) -> bool:
        first, last = self.members[0], self.members[-1]
        return (
            len(self.members) < _MOST_CHUNKS
            and passage.document_id == first.document_id
            and passage.heading_path == first.heading_path
            and passage.ordinal in (first.ordinal - 1, last.ordinal + 1)
        )

    def take(self, passage: Passage) -> None:
        self.members.append(passage)
        self.members.sort(key=lambda member: member.ordinal)

    def note(self, candidate: Candidate, passages: Mapping[int, Passage]) -> None:
        """Which documents deny one of its chunks."""
        for chunk in candidate.denied_by:
            if chunk in passages:
                self.denied_by.setdefault(passages[chunk].document_id, passages[chunk])


def assemble(
    ranking: Sequence[Candidate],
    passages: Mapping[int, Passage],
    k: int,
    band: Callable[[float], Band],
) -> tuple[Hit, ...]:
    """At most ``k`` hits, best first. A chunk that continues a better hit joins it instead of taking a place."""
    groups: list[_Group] = []
    for candidate in ranking:
        passage = passages.get(candidate.chunk_id)
        if passage is None:  # archived or replaced since it was ranked
            continue
        home = next((group for group in groups if group.takes(passage)), None)
        if home is not None:
            home.take(passage)
        elif len(groups) < k:
            home = _Group(candidate, [passage])
            groups.append(home)
        if home is not None:
            home.note(candidate, passages)
    return tuple(_hit(rank, group, band) for rank, group in enumerate(groups, start=1))


def _hit(rank: int, group: _Group, band: Callable[[float], Band]) -> Hit:
    first = group.members[0]
    return Hit(
        rank=rank,
        passage=first,
        candidate=group.best,
        text="\n\n".join(member.raw_content for member in group.members),
        chunk_ids=tuple(member.public_id for member in group.members),
        band=band(group.best.score),
        caveats=(
            *caveats(DocumentStatus(first.status), first.caveats),
            *(told_otherwise(other) for other in group.denied_by.values()),
        ),
        disputed=bool(group.denied_by),
    )
