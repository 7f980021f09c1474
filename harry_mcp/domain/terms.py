"""Term ids as they are stored, four bytes each, little endian, and how alike two passages are in them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


def pack(ids: Iterable[int]) -> bytes:
    """Ids in order, as a row keeps them."""
    return np.fromiter(ids, dtype="<i4").tobytes()


def unpack(packed: bytes) -> list[int]:
    """The ids of a row, in order."""
    return np.frombuffer(packed, dtype="<i4").tolist()


def distinct(packed: bytes) -> frozenset[int]:
    """The ids of a row, each once."""
    return frozenset(unpack(packed))


def alike(a: frozenset[int], b: frozenset[int], share: float) -> bool:
    """Whether the Jaccard similarity of two sets of terms is at least ``share``. An empty set is like nothing."""
    # The sizes alone rule out most pairs before the sets are compared.
    if not a or not b or min(len(a), len(b)) < share * max(len(a), len(b)):
        return False
    common = len(a & b)
    return common >= share * (len(a) + len(b) - common)
