"""How urgent a document is in the review queue, as a number that explains itself."""

from __future__ import annotations

import math
from dataclasses import dataclass

from harry_mcp.domain.counting import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Harm:
    """How much harm it does to leave a document as it is. ``score`` orders the queue; ``why`` explains it.

    ``by_use``, ``by_signals`` and ``by_age`` are its parts.
    """

    uses: int
    age_days: int
    signals: int
    settled: bool
    by_use: float
    by_signals: float
    by_age: float

    @property
    def score(self) -> float:
        return round(self.by_use + self.by_signals + self.by_age, 2)

    @property
    def why(self) -> str:
        uses, days = counted(self.uses, "recent answer"), counted(self.age_days, "day")
        signals = counted(self.signals, "open signal", "different open signals")
        return (
            f"{self.score:.1f} = {self.by_use:.1f} for {uses} that it was among the first of, "
            f"{self.by_signals:.1f} for {signals}, {self.by_age:.1f} for {days} since it changed"
            + ("; a curator looked since, so it comes after the others" if self.settled else "")
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HarmWeights:
    """What a doubling of the use, a different signal, and the full age count for; and the days of the full age."""

    use: float
    signal: float
    age: float
    full_age_days: int


def harm(*, uses: int, age_days: int, signals: int, weights: HarmWeights, settled: bool = False) -> Harm:
    """The sum of three parts: use in doublings, different signals since somebody looked, and age up to a bound.

    ``settled``: a curator looked, and nothing spoke against it since; the queue puts it after all others. Use counts in
    doublings, or one page that everybody reads would hide all others; the kinds of signals are few and independent, so
    each counts in full.
    """
    return Harm(
        uses=uses,
        age_days=age_days,
        signals=signals,
        settled=settled,
        by_use=weights.use * math.log2(1 + uses),
        by_signals=weights.signal * signals,
        by_age=weights.age * min(1.0, age_days / weights.full_age_days),
    )
