"""From a ranker's order to a chance: how far a hit stands out from the other documents, read by a fitted curve.

A question whose answer is missing still has good neighbours, but none of them stands out. So the evidence for a hit
is its F less a share of the background, the mean of the best F of the documents behind the first, and a sigmoid of
its logarithm gives the chance that it answers. The form and the constants were fitted on real support questions whose
pages were taken away (techqa) and on halves of other corpora with half of their golden documents removed; the README
gives the figures. They assume that about half of the questions can be answered.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from harry_mcp.domain.groups import group_of
from harry_mcp.domain.search import Candidate
from harry_mcp.domain.terms import alike, distinct

# The documents that a good hit stands out from: the second to the sixth.
_FIRST, _LAST = 2, 6
# F of a background document that a small corpus does not have: what an unrelated page gets on average.
_PAD = 0.30
# A copy of a better document is no other document, and would hide how far the first stands out.
_COPY = 0.8


@dataclass(frozen=True, slots=True)
class ContrastCurve:
    """score = sigmoid(slope * ln(max(F - share * background, 0) + shift) + offset)."""

    name: str
    slope: float
    offset: float
    share: float
    shift: float

    def score(self, fusion: float, background: float) -> float:
        """The chance that a hit with this F answers the question."""
        evidence = max(fusion - self.share * background, 0.0) + self.shift
        return 1 / (1 + math.exp(-(self.slope * math.log(evidence) + self.offset)))


LOCAL = ContrastCurve("contrast-1", slope=2.6, offset=1.8, share=0.8, shift=0.05)


@dataclass(frozen=True, slots=True)
class ShortQuestion:
    """One or two words say too little to be sure of: without some likeness of meaning they are never strong."""

    terms: int = 2
    cosine: float = 0.25
    cap: float = 0.59

    def applies(self, terms: int, candidate: Candidate) -> bool:
        return terms <= self.terms and candidate.cosine is not None and candidate.cosine < self.cosine


SHORT = ShortQuestion()


def background(ranked: Sequence[Candidate]) -> float:
    """The mean of the best F of the documents ranked second to sixth; ``ranked`` is best first."""
    groups: dict[tuple[str, int], frozenset[int]] = {}
    best: list[float] = []
    for candidate in ranked:
        group = group_of(candidate.document_id, candidate.ordinal)
        if group in groups:
            continue
        terms = distinct(candidate.terms)
        copy = any(alike(terms, other, _COPY) for other in groups.values())
        groups[group] = terms
        if not copy:
            best.append(candidate.fusion)
        if len(best) >= _LAST:
            break
    others = best[_FIRST - 1 : _LAST]
    return fmean([*others, *[_PAD] * (_LAST - _FIRST + 1 - len(others))])
