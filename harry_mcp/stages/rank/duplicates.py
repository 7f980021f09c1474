"""Passages that say all but the same count as one, so that copies of a page do not fill the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harry_mcp.domain.search import Candidate
from harry_mcp.domain.terms import alike, distinct


def collapse(ranked: Sequence[Candidate], share: float, depth: int) -> list[Candidate]:
    """Each candidate that shares at least ``share`` of its distinct terms (Jaccard) with a better one joins it.

    The better one names it in ``duplicates``. A candidate without terms is kept as it is, and so are those behind the
    first ``depth``, which are too far down to become hits.
    """
    kept: list[Candidate] = []
    sets: list[frozenset[int]] = []
    also: list[list[str]] = []
    for candidate in ranked[:depth]:
        terms = distinct(candidate.terms)
        twin = next((i for i, other in enumerate(sets) if alike(terms, other, share)), None)
        if twin is None:
            kept.append(candidate)
            sets.append(terms)
            also.append([])
        else:
            also[twin].append(candidate.public_id)
    named = [
        replace(candidate, duplicates=tuple(names)) if names else candidate
        for candidate, names in zip(kept, also, strict=True)
    ]
    return [*named, *ranked[depth:]]
