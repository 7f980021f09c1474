"""What stands around a passage speaks for it too: the passage before and after, and its page.

Passages are cut by size, so that a function, or an answer, often ends up in two of them, and only one holds the word
that was asked for. A passage therefore also gets a share of what the words of its neighbours would add to it, and a
share of what the best passage of its page has more than it. Both reach up to that best passage and never past it: the
order of the pages, and how far the first stands out, stay what their best passages say.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.groups import group_of
from harry_mcp.domain.search import Candidate

NEIGHBOUR_SHARE = 0.35
PAGE_SHARE = 0.1

Floats = npt.NDArray[np.float64]


def lifted(own: Floats, words: Floats, candidates: Sequence[Candidate]) -> Floats:
    """The F of each candidate with its surroundings, shape ``(candidates,)``.

    ``own`` is F without them, and ``words`` is what each word of the question adds to it in each passage, shape
    ``(candidates, words)``. Neighbours count when they are candidates too.
    """
    best = _best_of_group(own, candidates)
    gain = (_with_neighbours(words, candidates) - words).sum(axis=1)
    near = np.minimum(own + NEIGHBOUR_SHARE * gain, best)
    return best - (best - near) / (1 + PAGE_SHARE)


def _best_of_group(own: Floats, candidates: Sequence[Candidate]) -> Floats:
    numbers: dict[tuple[str, int], int] = {}
    groups = np.array(
        [numbers.setdefault(group_of(item.document_id, item.ordinal), len(numbers)) for item in candidates],
        dtype=np.int64,
    )
    best = np.full(len(numbers), -np.inf)
    np.maximum.at(best, groups, own)
    return best[groups]


def _with_neighbours(words: Floats, candidates: Sequence[Candidate]) -> Floats:
    """Each word at the best that the passage, the one before or the one after has of it."""
    rows = {(item.document_id, item.ordinal): row for row, item in enumerate(candidates)}
    nobody = len(candidates)
    padded = np.vstack([words, np.zeros((1, words.shape[1]))])
    found = words
    for step in (-1, 1):
        beside = [rows.get((item.document_id, item.ordinal + step), nobody) for item in candidates]
        found = np.maximum(found, padded[beside])
    return found
