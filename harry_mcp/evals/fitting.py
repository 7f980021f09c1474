"""Fitting the curve from a ranker's raw scores to chances: isotonic or Platt, judged by cross-validation.

A sample is one question: the raw score of its first hit, and whether that hit answered it. Answerable and unanswerable
questions weigh half each, whatever their numbers, because the mix of a golden set says nothing about the mix that is
asked; so a chance reads "if every other question could be answered".
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.calibration import interpolated
from harry_mcp.evals.metrics import balanced

Method = Literal["isotonic", "platt"]
Floats = npt.NDArray[np.float64]

# No number of questions makes a chance certain.
_LEAST, _MOST = 0.01, 1 - 0.01
# Raw scores of 0 and 1 have no log-odds; beyond these edges Platt's curve is level.
_EDGE = 0.01
# A step of the isotonic curve stands on at least so many questions, for fewer say too little.
_STEP = 8
_FOLDS = 10
# Knots of Platt's curve, at equal steps of the chance's log-odds; between two of them a straight line is off by less
# than 0.01, wherever the ranker's scores lie.
_KNOTS = 41


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A question of the golden set as the ranker saw it. ``answered``: its first hit is one that answers it."""

    id: str
    raw: float
    answerable: bool
    answered: bool


class Curve(NamedTuple):
    """The knots of a calibration."""

    raw: tuple[float, ...]
    chance: tuple[float, ...]

    def of(self, raw: float) -> float:
        return interpolated(raw, self.raw, self.chance)

    @property
    def rises(self) -> bool:
        """Whether a higher raw score ever means a higher chance."""
        return self.chance[-1] - self.chance[0] > 1e-6


def fit(samples: Sequence[Sample], method: Method) -> Curve:
    """The curve of all samples. Both kinds of question must be among them."""
    weights = np.array(balanced([sample.answerable for sample in samples]))
    raw = np.array([sample.raw for sample in samples])
    truth = np.array([float(sample.answered) for sample in samples])
    fitted = _isotonic if method == "isotonic" else _platt
    return fitted(raw, truth, weights * len(samples))


def cross_validated(samples: Sequence[Sample], method: Method) -> list[float]:
    """The chance of each sample from a curve that was fitted without its fold. It takes two questions of each kind."""
    found = [0.0] * len(samples)
    for fold in _folds(samples):
        held = set(fold)
        curve = fit([sample for number, sample in enumerate(samples) if number not in held], method)
        for number in fold:
            found[number] = curve.of(samples[number].raw)
    return found


def log_loss(chances: Sequence[float], samples: Sequence[Sample]) -> float:
    """Mean surprise in nats, both kinds of question weighing half: lower is better, and bluffing costs most."""
    weights = balanced([sample.answerable for sample in samples])
    return -sum(
        weight * math.log(chance if sample.answered else 1 - chance)
        for weight, chance, sample in zip(weights, chances, samples, strict=True)
    )


def _folds(samples: Sequence[Sample]) -> list[list[int]]:
    """Folds of about one mix, the same for the same ids: dealt out by hash, one kind of question after the other."""
    order = sorted(
        range(len(samples)),
        key=lambda i: (samples[i].answerable, samples[i].answered, hashlib.sha256(samples[i].id.encode()).digest()),
    )
    answerable = sum(sample.answerable for sample in samples)
    folds = min(_FOLDS, answerable, len(samples) - answerable)
    return [order[start::folds] for start in range(folds)]


def _isotonic(raw: Floats, truth: Floats, weights: Floats) -> Curve:
    """Pool adjacent violators (Ayer et al., 1955), each pool at the middle of its raw scores (Oron and Flournoy, 2017).

    Pools that stand on few questions join a neighbour, and each is drawn towards a half by one question of either
    kind (Laplace), so that no chance is 0 or 1.
    """
    levels, place = np.unique(raw, return_inverse=True)
    weight = np.bincount(place, weights)
    pools = [
        _Pool(level * size, truths, size)
        for level, truths, size in zip(levels.tolist(), np.bincount(place, weights * truth), weight, strict=True)
    ]
    pools = _large_enough(_pooled(pools))
    drawn = [_Pool(pool.raw, pool.weight * (pool.truth + 1) / (pool.weight + 2), pool.weight) for pool in pools]
    kept = _pooled(drawn)
    return _curve([pool.centre for pool in kept], [pool.mean for pool in kept])


class _Pool(NamedTuple):
    """Neighbouring questions under one chance: the weighted sums of their raw scores and truths."""

    raw: float
    truth: float
    weight: float

    @property
    def centre(self) -> float:
        return self.raw / self.weight

    @property
    def mean(self) -> float:
        return self.truth / self.weight

    def and_(self, other: _Pool) -> _Pool:
        return _Pool(self.raw + other.raw, self.truth + other.truth, self.weight + other.weight)


def _pooled(pools: Sequence[_Pool]) -> list[_Pool]:
    """The fewest joins after which the means rise."""
    kept: list[_Pool] = []
    for pool in pools:
        kept.append(pool)
        while len(kept) > 1 and kept[-2].mean >= kept[-1].mean:
            last = kept.pop()
            kept[-1] = kept[-1].and_(last)
    return kept


def _large_enough(pools: Sequence[_Pool]) -> list[_Pool]:
    """Small pools joined with the neighbour that is nearer in chance."""
    kept = list(pools)
    while len(kept) > 2:
        smallest = min(range(len(kept)), key=lambda i: kept[i].weight)
        if kept[smallest].weight >= _STEP:
            break
        sides = [i for i in (smallest - 1, smallest + 1) if 0 <= i < len(kept)]
        side = min(sides, key=lambda i: abs(kept[i].mean - kept[smallest].mean))
        first = min(side, smallest)
        kept[first : first + 2] = [kept[first].and_(kept[first + 1])]
    return kept


def _platt(raw: Floats, truth: Floats, weights: Floats) -> Curve:
    """sigmoid(slope * log-odds of the raw score + offset), by Newton's method on Platt's smoothed targets (1999).

    A slope under zero would call the worse score the better one; it becomes zero.
    """
    positives, negatives = float(weights @ truth), float(weights @ (1 - truth))
    target = np.where(truth > 0, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    slope, offset = _newton(_log_odds(raw), target, weights)
    if slope < 0:
        slope, offset = 0.0, float(_log_odds(np.array([(weights @ target) / weights.sum()]))[0])
    ends = np.array([_EDGE, 1 - _EDGE])
    if slope > 0:
        reach = math.log(_MOST / _LEAST)
        chances = np.linspace(-reach, reach, _KNOTS)
        inner = _sigmoid((chances - offset) / slope)
        ends = np.array([ends[0], *inner[(inner > ends[0]) & (inner < ends[1])], ends[1]])
    return _curve(ends.tolist(), _sigmoid(slope * _log_odds(ends) + offset).tolist())


def _newton(x: Floats, target: Floats, weights: Floats) -> tuple[float, float]:
    """The weighted logistic regression on one feature; a trace of a ridge keeps it solvable when all x are equal."""
    design = np.stack([x, np.ones_like(x)], axis=1)
    beta = np.zeros(2)
    ridge = 1e-3 * np.eye(2)
    for _ in range(100):
        chance = _sigmoid(design @ beta)
        gradient = design.T @ (weights * (chance - target)) + ridge @ beta
        hessian = design.T @ (design * (weights * chance * (1 - chance))[:, None]) + ridge
        step = np.linalg.solve(hessian, gradient)
        # Far from the answer a full step may overshoot.
        beta = beta - step * min(1.0, 4.0 / max(float(np.abs(step).max()), 1e-12))
        if float(np.abs(step).max()) < 1e-9:
            break
    return float(beta[0]), float(beta[1])


def _log_odds(share: Floats) -> Floats:
    inside = np.clip(share, _EDGE, 1 - _EDGE)
    return np.log(inside / (1 - inside))


def _sigmoid(x: Floats) -> Floats:
    return 1 / (1 + np.exp(-np.clip(x, -30, 30)))


def _curve(raw: Sequence[float], chance: Sequence[float]) -> Curve:
    return Curve(tuple(float(x) for x in raw), tuple(float(min(max(y, _LEAST), _MOST)) for y in chance))
