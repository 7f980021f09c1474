"""Two texts held against each other: how far they are apart, which facts changed, and the passages that show it."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from harry_mcp.domain.alignment import Aligned, changed_statements, distance
from harry_mcp.domain.differences import differences
from harry_mcp.domain.evidence import LONGEST_PASSAGE
from harry_mcp.settings import CurateSection
from harry_mcp.stages.curate.judging import FactJudge
from harry_mcp.storage.signals import Neighbour, StoredText

# What is compared of one text, and what is kept of the differences: a curator reads it.
_LONGEST = 400_000
_MOST_PASSAGES = 20


@dataclass(frozen=True, slots=True)
class Change:
    """A statement that changed, and how likely a fact was superseded by it, 0 to 1."""

    pair: Aligned
    score: float

    def as_json(self) -> dict[str, object]:
        """For the log: both sides, the score, and in what they differ, in words."""
        before, after = self.pair.before[:LONGEST_PASSAGE], self.pair.after[:LONGEST_PASSAGE]
        told = [str(each) for each in differences(before, after).found][:5] if before and after else []
        return {"before": before, "after": after, "score": round(self.score, 2), "differences": told}


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two texts that contradict each other: by their distance, by facts, or both. ``by`` judged the facts."""

    distance: float
    facts: int
    changes: Sequence[Change]
    by: str

    @property
    def why(self) -> str:
        """In half a sentence."""
        apart = f"the words differ by {self.distance:.2f}"
        return f"{self.facts} facts changed, and {apart}" if self.facts else apart

    def as_json(self) -> dict[str, object]:
        """For the log: ``passages`` holds the differing passages side by side, those with changed facts first."""
        shown = sorted(self.changes, key=lambda each: (-each.score, not (each.pair.before and each.pair.after)))
        return {
            "distance": round(self.distance, 3),
            "facts": self.facts,
            "judged_by": self.by,
            "passages": [each.as_json() for each in shown[:_MOST_PASSAGES]],
            "passages_omitted": max(0, len(shown) - _MOST_PASSAGES),
        }


async def compare(before: str, after: str, judge: FactJudge, settings: CurateSection) -> Contradiction | None:
    """What speaks against two texts of one address; None when nothing does."""
    before, after = before[:_LONGEST], after[:_LONGEST]
    if before == after:
        return None
    apart, aligned = await asyncio.to_thread(lambda: (distance(before, after), changed_statements(before, after)))
    both = [pair for pair in aligned if pair.before and pair.after]
    judgement = await judge.superseded(both)
    scores = dict(zip(map(id, both), judgement.scores, strict=True))
    changes = [Change(pair, scores.get(id(pair), 0.0)) for pair in aligned]
    facts = sum(change.score >= settings.fact for change in changes)
    if apart <= settings.distance and not facts:
        return None
    return Contradiction(apart, facts, changes, judgement.by)


def named(document: StoredText | Neighbour) -> dict[str, object]:
    """A document as the log names it."""
    return {"document_id": document.id, "title": document.title, "url": document.url, "version": document.version}


def evidence_of(kind: str, *documents: StoredText | Neighbour) -> str:
    """The same for the same versions, whichever of them is looked at."""
    key = ",".join(sorted(f"{each.id}:{each.version}" for each in documents))
    return f"{kind}:{hashlib.sha256(key.encode()).hexdigest()[:16]}"
