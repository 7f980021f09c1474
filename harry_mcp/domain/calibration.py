"""What a model's raw score means: a curve fitted on a golden set, which belongs to that model and to no other."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A monotone curve from raw scores to chances, by linear interpolation between its knots.

    ``raw`` rises strictly and ``chance`` does not fall; outside of the knots the nearest one holds. ``ranker`` is the
    name of the ranker that gave the raw scores, ``corpus`` the golden set. The figures are of questions that the curve
    had not seen (cross-validated), answerable and unanswerable ones weighing half each.
    """

    id: str
    ranker: str
    method: str
    raw: tuple[float, ...]
    chance: tuple[float, ...]
    corpus: str
    questions: int
    answerable: int
    auroc: float
    calibration_error: float
    fitted_at: datetime

    def of(self, raw: float) -> float:
        """The chance that a passage with this raw score answers the question."""
        return interpolated(raw, self.raw, self.chance)


def interpolated(at: float, x: Sequence[float], y: Sequence[float]) -> float:
    """The broken line through the points at ``at``; left and right of them it is level. ``x`` rises strictly."""
    if at <= x[0]:
        return y[0]
    if at >= x[-1]:
        return y[-1]
    right = bisect_right(x, at)
    left = right - 1
    share = (at - x[left]) / (x[right] - x[left])
    return y[left] + share * (y[right] - y[left])
