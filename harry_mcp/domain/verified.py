"""Verified responses: official answers to questions, and the rules by which one is served."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

# Characters. A longer answer is no official one; of a longer question the beginning is kept, which is all that is
# embedded of it.
LONGEST_ANSWER = 8000
LONGEST_QUESTION = 2000
# Two questions this near are one question.
_SAME = 0.98
_MAY_BE_MISMATCH = frozenset({"irrelevant", "wrong", "other"})


class VerifiedStatus(StrEnum):
    """Only ``active`` ones are ever served. A ``retired`` one is kept to be read."""

    CANDIDATE = "candidate"
    ACTIVE = "active"
    RETIRED = "retired"
    REJECTED = "rejected"


class VerifiedAction(StrEnum):
    """What may be done with an entry."""

    APPROVE = "approve"
    REJECT = "reject"
    RETIRE = "retire"
    NEVER_SERVE = "never_serve"


class Match(StrEnum):
    """How far an entry answers a question: officially, as context, or not."""

    EXACT = "exact"
    PARTIAL = "partial"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedSource:
    """What an answer rests on. ``document_id`` is empty for a page that the knowledge base does not hold."""

    title: str
    url: str = ""
    source: str = ""
    document_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedResponse:
    """A question and its answer as somebody brings them, to become a candidate."""

    question: str
    answer: str
    sources: tuple[VerifiedSource, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedResponse:
    """An entry. ``held`` says why it is not served as exact for now (a cited document changed or died), or is empty."""

    id: str
    question: str
    answer: str
    sources: tuple[VerifiedSource, ...]
    status: VerifiedStatus
    origin: str
    result_id: str
    submitted_by: str
    approved_by: str
    approved_at: datetime | None
    uses: int
    negatives: int
    threshold: float
    created_at: datetime
    updated_at: datetime
    held: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedMatch:
    """The entry that serves a question, None for ``none``. ``reason`` says why it is no better match.

    ``caveats`` are to be told with the answer. ``lookup_id`` names this serving, for feedback.
    """

    match: Match
    response: VerifiedResponse | None = None
    cosine: float = 0.0
    reason: str = ""
    caveats: tuple[str, ...] = ()
    lookup_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheRules:
    """The thresholds of the settings that decide how an entry is served."""

    exact: float
    partial: float
    degrade: float
    retire: float
    retire_negatives: int
    wrong_bound: float


@dataclass(frozen=True, slots=True)
class ServedHit:
    """An exact serving that was seen: its cosine, and whether someone said that it answers another question."""

    cosine: float
    wrong: bool


def verified_id(question: str, answer: str) -> str:
    """``ver_`` and 20 hex digits of the SHA-256 of both, spacing and letter case of the question aside."""
    key = f"{' '.join(question.casefold().split())}\x00{answer.strip()}"
    return "ver_" + hashlib.sha256(key.encode()).hexdigest()[:20]


def negative_share(uses: int, negatives: int) -> float:
    """negatives / (uses + negatives); 0 when there is neither."""
    return negatives / (uses + negatives) if negatives else 0.0


def degraded(uses: int, negatives: int, rules: CacheRules) -> bool:
    """Whether so many complaints came that an exact match is served as a partial one."""
    return negative_share(uses, negatives) >= rules.degrade


def retired(uses: int, negatives: int, rules: CacheRules) -> bool:
    """Whether so many complaints came that the entry is never served again. One vote alone never does it."""
    return negatives >= rules.retire_negatives and negative_share(uses, negatives) >= rules.retire


def mismatches(cosine: float) -> frozenset[str]:
    """The complaints which can mean that an entry, served at a cosine, answers another question than the one asked.

    None when the two questions are the same; then, as with all other complaints, the answer itself is at fault.
    """
    return _MAY_BE_MISMATCH if cosine < _SAME else frozenset()


def learnt_threshold(seen: Sequence[ServedHit], rules: CacheRules) -> float:
    """The lowest cosine, from ``rules.exact`` up, from which wrong servings stayed within ``rules.wrong_bound``.

    An entry without wrong hits keeps the threshold of the settings. One that was wrong at a cosine is not served there
    again until its right servings outweigh it: the share of wrong ones among all servings at or above the threshold is
    bounded, whatever their order. The idea of a threshold for each entry, learnt from what it was right and wrong
    about, is vCache's (Schroeder et al., arXiv 2502.03771); the rule here is simpler, for feedback is rare
    and mostly negative.
    """
    steps = sorted({_just_above(hit.cosine) for hit in seen if hit.wrong and hit.cosine >= rules.exact})
    # Above the last step nothing was wrong, so there always is one.
    return next(threshold for threshold in (rules.exact, *steps) if _is_bounded(seen, threshold, rules.wrong_bound))


def _is_bounded(seen: Sequence[ServedHit], threshold: float, bound: float) -> bool:
    served = [hit.wrong for hit in seen if hit.cosine >= threshold]
    return sum(served) <= bound * len(served)


def _just_above(cosine: float) -> float:
    """The next threshold that leaves a hit out. Embeddings are only so exact, hence the thousandth."""
    return cosine + 0.001
