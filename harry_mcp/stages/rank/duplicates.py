"""Passages that say all but the same count as one, so that copies of a page do not fill the result.

First by their words alone, which are at hand; then, where two were folded, by their texts, for a number, a name or a
"not" more makes another fact of the same words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harry_mcp.domain.search import Candidate, Passage
from harry_mcp.domain.terms import alike, distinct
from harry_mcp.domain.variants import changed, contradict

# Nine words in ten the same move a cosine to the question, and a passage's length, by less than this.
_NEAR_IN_MEANING = 0.08
_NEAR_IN_LENGTH = 0.8


def collapse(ranked: Sequence[Candidate], share: float, depth: int) -> list[Candidate]:
    """Each candidate that shares at least ``share`` of its distinct terms (Jaccard) with a better one joins it.

    The better one names it in ``duplicates`` and holds it in ``folded``. A candidate without terms is kept as it is,
    and so are those behind the first ``depth``, which are too far down to become hits.
    """
    kept: list[Candidate] = []
    also: list[list[Candidate]] = []
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
            also[twin].append(candidate)
        else:
            kept.append(candidate)
            also.append([])
            marks.append((length, cosine))
    return [*map(_holding, kept, also), *ranked[depth:]]


def unfold(ranking: Sequence[Candidate], passages: Mapping[int, Passage], question: str) -> list[Candidate]:
    """Give those a place of their own again whose texts differ in a way that matters from all that stand before them.

    Each goes back to its place in the order. ``passages`` holds the texts; a candidate without one stays folded. Which
    of them deny each other about the question is noted in ``denied_by``.
    """
    parted = [
        each
        for candidate in ranking
        for each in (_parted(candidate, passages, question) if candidate.folded else (candidate,))
    ]
    return sorted(parted, key=lambda each: -each.fusion)


def _parted(head: Candidate, passages: Mapping[int, Passage], question: str) -> list[Candidate]:
    kept, also = [head], [list[Candidate]()]
    for item in head.folded:
        twin = next((n for n, other in enumerate(kept) if not _tell_apart(item, other, passages)), -1)
        if twin >= 0:
            also[twin].append(item)
        else:
            kept.append(item)
            also.append([])
    if len(kept) == 1:
        return [head._replace(folded=())]
    told = [passages[item.chunk_id] for item in kept]
    return [
        _holding(item, others)._replace(
            folded=(),
            denied_by=tuple(
                there.chunk_id for there in told if there is not here and contradict(question, here, there)
            ),
        )
        for item, others, here in zip(kept, also, told, strict=True)
    ]


def _tell_apart(one: Candidate, other: Candidate, passages: Mapping[int, Passage]) -> bool:
    here, there = passages.get(one.chunk_id), passages.get(other.chunk_id)
    return here is not None and there is not None and bool(changed(there.raw_content, here.raw_content))


def _holding(candidate: Candidate, others: Sequence[Candidate]) -> Candidate:
    if not others and not candidate.duplicates:
        return candidate
    return candidate._replace(duplicates=tuple(each.public_id for each in others), folded=tuple(others))


def _terms(candidate: Candidate, sets: dict[int, frozenset[int]]) -> frozenset[int]:
    found = sets.get(candidate.chunk_id)
    if found is None:
        found = sets[candidate.chunk_id] = distinct(candidate.terms)
    return found
