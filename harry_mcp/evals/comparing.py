"""Two runs of one golden set: what changed by more than chance.

The questions are the same, so they are compared one by one: a paired bootstrap (Efron and Tibshirani, 1993; for
retrieval see Sakai, SIGIR 2006) draws the questions again and again, and a change is called one when zero lies outside
of what 99 in 100 draws give. Nine figures are looked at, so a stricter level than the usual keeps false alarms rare.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from harry_mcp.evals import figures, metrics
from harry_mcp.evals.answers import Answer

Floats = npt.NDArray[np.float64]

AUROC = "auroc"
ECE = "ece"
_LEVEL = 0.99
# The standard deviations to either side that hold this share of a normal distribution.
_DEVIATIONS = 2.5758
_DRAWS = 4000
_BATCH = 200
# Sums of floats leave traces that are no change.
_EPSILON = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A figure before and now. ``low`` to ``high`` holds the change in 99 of 100 draws of the questions."""

    figure: str
    before: float
    now: float
    low: float
    high: float

    @property
    def verdict(self) -> Literal["better", "worse", "same"]:
        """Whether it is more than chance; a calibration error is better when it falls."""
        falls_well = self.figure.endswith(ECE)
        if self.low > _EPSILON:
            return "worse" if falls_well else "better"
        if self.high < -_EPSILON:
            return "better" if falls_well else "worse"
        return "same"

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "verdict": self.verdict}


def compare(before: Sequence[Answer], now: Sequence[Answer]) -> list[Change]:
    """The figures of the last rung, and of the verdict. Questions that only one of the runs has are left out."""
    earlier = {answer.id: answer for answer in before}
    pairs = [(earlier[answer.id], answer) for answer in now if answer.id in earlier]
    if not pairs:
        return []
    return [*_retrieval(pairs), *_verdict(pairs)]


def _retrieval(pairs: Sequence[tuple[Answer, Answer]]) -> list[Change]:
    """Figures that are means over questions. The last rung of each run: what the agent got then and gets now."""
    found = [(old, new) for old, new in pairs if old.findable and new.findable]
    if not found:
        return []
    was = [figures.measured(old, old.stage) for old, _ in found]
    is_now = [figures.measured(new, new.stage) for _, new in found]
    names = list(is_now[0])
    first, second = (np.array([[row[name] for name in names] for row in rows]) for rows in (was, is_now))
    low, high = _interval(_mean_draws(second - first))
    return [
        Change(figure=name, before=float(b), now=float(n), low=float(lo), high=float(hi))
        for name, b, n, lo, hi in zip(names, first.mean(0), second.mean(0), low, high, strict=True)
    ]


def _mean_draws(changes: Floats) -> Floats:
    """The mean change in each draw, shape ``(draws, figures)``."""
    dice = np.random.default_rng(0)
    n = len(changes)
    batches = [changes[dice.integers(0, n, (_BATCH, n))].mean(axis=1) for _ in range(_DRAWS // _BATCH)]
    return np.concatenate(batches)


def _verdict(pairs: Sequence[tuple[Answer, Answer]]) -> list[Change]:
    truths = [new.answerable for _, new in pairs]
    if all(truths) or not any(truths):
        return []
    before, now = [old.score for old, _ in pairs], [new.score for _, new in pairs]
    return [_auroc(before, now, truths), _ece(before, now, truths)]


def _auroc(before: Sequence[float], now: Sequence[float], truths: Sequence[bool]) -> Change:
    """AUROC is no mean of single questions: its interval comes from the placements, as DeLong gives it."""
    was, is_now = metrics.placements(before, truths), metrics.placements(now, truths)
    spread = sum(
        float(np.var(new - old, ddof=1)) / len(old) if len(old) > 1 else 0.0
        for old, new in zip(was, is_now, strict=True)
    )
    old, new = float(was[0].mean()), float(is_now[0].mean())
    reach = _DEVIATIONS * math.sqrt(spread)
    return Change(figure=AUROC, before=old, now=new, low=new - old - reach, high=new - old + reach)


def _ece(before: Sequence[float], now: Sequence[float], truths: Sequence[bool]) -> Change:
    """Drawn as the others are; each draw adds up the gaps of its bins anew."""
    gaps = [metrics.calibration_gaps(scores, truths) for scores in (before, now)]
    dice = np.random.default_rng(0)
    n = len(truths)
    changes: list[Floats] = []
    for _ in range(_DRAWS // _BATCH):
        draw = dice.multinomial(n, np.full(n, 1 / n), size=_BATCH) / n
        was, is_now = (np.abs(draw @ own).sum(axis=1) for own in gaps)
        changes.append(is_now - was)
    low, high = _interval(np.concatenate(changes)[:, None])
    old, new = (metrics.expected_calibration_error(scores, truths) for scores in (before, now))
    return Change(figure=ECE, before=old, now=new, low=float(low[0]), high=float(high[0]))


def _interval(draws: Floats) -> tuple[Floats, Floats]:
    tail = (1 - _LEVEL) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], axis=0)
    return low, high


def differing(before: dict[str, Any], now: dict[str, Any], prefix: str = "") -> dict[str, tuple[Any, Any]]:
    """What differs between two trees of settings, by dotted name."""
    found: dict[str, tuple[Any, Any]] = {}
    for name in sorted({*before, *now}):
        old, new = before.get(name), now.get(name)
        if isinstance(old, dict) and isinstance(new, dict):
            found |= differing(old, new, f"{prefix}{name}.")  # pyright: ignore[reportUnknownArgumentType] - JSON
        elif old != new:
            found[prefix + name] = (old, new)
    return found
