"""From a ranker's order to a chance: the shape of the whole list, read by a fitted curve.

A question whose answer is missing still has good neighbours, but none of them stands out. So the evidence for a hit
is how far its F rises over the mean of the hits behind it, and a sigmoid turns that into the chance that it answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

# The crowd that a good hit stands out from: ranks 4 to 20.
CROWD_FROM = 3
CROWD_TO = 20


@dataclass(frozen=True, slots=True)
class ContrastCurve:
    """score = sigmoid(slope * ln(contrast + shift) + offset)."""

    name: str
    slope: float
    offset: float
    shift: float

    def score(self, contrast: float) -> float:
        x = self.slope * math.log(max(contrast, 0.0) + self.shift) + self.offset
        return 1 / (1 + math.exp(-x))


LOCAL = ContrastCurve("techqa-1", slope=2.724, offset=2.495, shift=0.05)


def contrasts(fusion: Sequence[float]) -> list[float]:
    """How far each F of a list, best first, rises over the crowd; 0 for those within it."""
    crowd = fusion[CROWD_FROM:CROWD_TO] or fusion[-1:]
    mean = fmean(crowd) if crowd else 0.0
    return [max(value - mean, 0.0) for value in fusion]
