"""Passages that say all but the same count as one, so that copies of a page do not fill the result."""

from __future__ import annotations

from collections.abc import Sequence

from harry_mcp.domain.search import Candidate
from harry_mcp.domain.terms import alike, distinct

# Nine words in ten the same move a cosine to the question, and a passage's length, by less than this.
_NEAR_IN_MEANING = 0.08
_NEAR_IN_LENGTH = 0.8


def collapse(ranked: Sequence[Candidate], share: float, depth: int) -> list[Candidate]:
    """Each candidate that shares at least ``share`` of its distinct terms (Jaccard) with a better one joins it.

    The better one names it in ``duplicates``. A candidate without terms is kept as it is, and so are those behind the
    first ``depth``, which are too far down to become hits.
    """
    kept: list[Candidate] = []
    also: list[list[str]] = []
    # What rules out nearly all pairs before any words are compared: length and likeness to the question.
    marks: list[tuple[int, float]] = []
    sets: dict[int, frozenset[int]] = {}
    for candidate in ranked[:depth]:
        length, cosine = len(candidate.terms), candidate.cosine or 0.0
        twin = -1
        for number, (other_length, other_cosine) in enumerate(marks):
            if (
                _NEAR_IN_LENGTH * other_length <= length <= other_length / _NEAR_IN_LENGTH
                and -_NEAR_IN_MEANING < cosine - other_cosine < _NEAR_IN_MEANING
                and alike(_terms(candidate, sets), _terms(kept[number], sets), share)
            ):
                twin = number
                break
        if twin >= 0:
            also[twin].append(candidate.public_id)
        else:
            kept.append(candidate)
            also.append([])
            marks.append((length, cosine))
    named = [
        candidate._replace(duplicates=tuple(names)) if names else candidate
        for candidate, names in zip(kept, also, strict=True)
    ]
    return [*named, *ranked[depth:]]


def _terms(candidate: Candidate, sets: dict[int, frozenset[int]]) -> frozenset[int]:
    found = sets.get(candidate.chunk_id)
    if found is None:
        found = sets[candidate.chunk_id] = distinct(candidate.terms)
    return found
