"""Passages that say all but the same count as one, so that copies of a page neither fill the result nor hide how far
it stands out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from harry_mcp.domain.search import Candidate


def collapse(ranked: Sequence[Candidate], share: float) -> list[Candidate]:
    """Each candidate that shares at least ``share`` of its distinct terms (Jaccard) with a better one joins it.

    The better one names it in ``duplicates``. A candidate without terms is kept as it is.
    """
    kept: list[Candidate] = []
    sets: list[frozenset[int]] = []
    names: list[list[str]] = []
    for candidate in ranked:
        terms = frozenset(np.frombuffer(candidate.terms, dtype="<i4").tolist())
        twin = next((i for i, other in enumerate(sets) if _alike(terms, other, share)), None)
        if twin is None:
            kept.append(candidate)
            sets.append(terms)
            names.append([])
        else:
            names[twin].append(candidate.public_id)
    return [
        replace(candidate, duplicates=tuple(also)) if also else candidate
        for candidate, also in zip(kept, names, strict=True)
    ]


def _alike(a: frozenset[int], b: frozenset[int], share: float) -> bool:
    # The sizes alone rule out most pairs before the sets are compared.
    if not a or not b or min(len(a), len(b)) < share * max(len(a), len(b)):
        return False
    common = len(a & b)
    return common >= share * (len(a) + len(b) - common)
