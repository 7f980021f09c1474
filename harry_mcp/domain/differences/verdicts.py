"""What the differences mean for one text in the place of another: a cached answer, a correction."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harry_mcp.domain.differences.comparing import NOTHING_KNOWN, differences
from harry_mcp.domain.differences.kinds import Differences, Kind
from harry_mcp.domain.differences.vocabulary import Vocabulary


class Grade(StrEnum):
    """How far the answer to one question answers another."""

    EXACT = "exact"
    PARTIAL = "partial"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Cosines. From ``exact`` on two questions are one if nothing speaks against it; from ``partial`` on the answer is
    worth reading. ``doubtful`` takes the place of ``exact`` where a difference is uncertain."""

    exact: float = 0.85
    partial: float = 0.70
    doubtful: float = 0.85


@dataclass(frozen=True, slots=True)
class QuestionMatch:
    """A grade, and the differences that lowered it or that other evidence may still judge."""

    grade: Grade
    differences: Differences


def same_question(
    a: str, b: str, cosine: float, thresholds: Thresholds, *, vocabulary: Vocabulary = NOTHING_KNOWN
) -> QuestionMatch:
    """Whether the answer to ``a`` may be served for ``b``.

    Never as exact when a number, a name, a negation, a direction or an object differs, whatever the cosine.
    """
    if cosine < thresholds.partial:
        return QuestionMatch(Grade.NONE, Differences())
    found = differences(a, b, vocabulary=vocabulary)
    needed = max(thresholds.exact, thresholds.doubtful) if found.uncertain else thresholds.exact
    exact = cosine >= needed and not found.blocking
    return QuestionMatch(Grade.EXACT if exact else Grade.PARTIAL, found)


def mergeable(a: str, b: str, cosine: float, *, floor: float = 0.92, vocabulary: Vocabulary = NOTHING_KNOWN) -> bool:
    """Whether two lessons are one. Other words for it are allowed, a difference that changes what is true is not."""
    if cosine < floor:
        return False
    found = differences(a, b, vocabulary=vocabulary)
    return not found.blocking and all(each.kind is Kind.OBJECT for each in found.uncertain)
