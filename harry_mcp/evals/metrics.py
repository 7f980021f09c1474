"""The figures, each in [0, 1], as information retrieval defines them.

They are ours and not a library's because each is a line or two, while the one light library (ir-measures) would bring
scipy to every installation; the tests hold these to it, to the last digit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


def hit_at(ranks: Sequence[int], k: int) -> float:
    """1 when any relevant one is among the first ``k``; ``ranks`` are the places of the relevant ones, from 1."""
    return float(any(rank <= k for rank in ranks))


def recall_at(ranks: Sequence[int], relevant: int, k: int) -> float:
    """Share of the ``relevant`` ones among the first ``k``; its mean over questions is the Pass@k of Anthropic's
    contextual retrieval benchmark."""
    return sum(rank <= k for rank in ranks) / relevant


def reciprocal_rank(ranks: Sequence[int]) -> float:
    """1 / place of the first relevant one, 0 when there is none."""
    return 1 / min(ranks) if ranks else 0.0


def ndcg_at(ranks: Sequence[int], relevant: int, k: int) -> float:
    """Normalised discounted cumulative gain with gains of 0 and 1 (Jarvelin and Kekalainen, TOIS 2002)."""
    gain = sum(1 / math.log2(rank + 1) for rank in ranks if rank <= k)
    return gain / sum(1 / math.log2(rank + 1) for rank in range(1, min(relevant, k) + 1))


def auroc(scores: Sequence[float], truths: Sequence[bool]) -> float:
    """Chance that a true case scores above a false one, ties counting half; nan when one kind is missing."""
    above, _ = placements(scores, truths)
    return float(above.mean()) if len(above) else math.nan


def placements(
    scores: Sequence[float], truths: Sequence[bool]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """For each true case the share of false ones that score under it, for each false one the share of true ones above.

    Ties count half; both are empty when one kind is missing. Their means are the AUROC, their spread how far chance
    may move it (DeLong, DeLong and Clarke-Pearson, Biometrics 1988).
    """
    score, truth = np.asarray(scores, dtype=float), np.asarray(truths, dtype=bool)
    up, down = score[truth], score[~truth]
    if not len(up) or not len(down):
        return np.empty(0), np.empty(0)
    ranks = _average_ranks(score)
    return (ranks[truth] - _average_ranks(up)) / len(down), 1 - (ranks[~truth] - _average_ranks(down)) / len(up)


def _average_ranks(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Ranks from 1; equal values share the mean of theirs."""
    _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[group]


class Bin(NamedTuple):
    """Questions whose scores lie between ``low`` and ``high``: how many, their share of all, mean score and truth."""

    low: float
    high: float
    questions: int
    weight: float
    score: float
    truth: float


def reliability(
    scores: Sequence[float], truths: Sequence[bool], *, weights: Sequence[float] | None = None, bins: int = 10
) -> list[Bin]:
    """The questions in bins of equal width, empty ones left out; ``weights`` stand for another mix than this one."""
    if not scores:
        return []
    score, truth = np.asarray(scores, dtype=float), np.asarray(truths, dtype=float)
    weight = np.ones(len(score)) if weights is None else np.asarray(weights, dtype=float)
    weight = weight / weight.sum()
    number = _bin_of(score, bins)
    found: list[Bin] = []
    for i in range(bins):
        inside = number == i
        share = float(weight[inside].sum())
        if share > 0:
            of = weight[inside] / share
            means = float(of @ score[inside]), float(of @ truth[inside])
            found.append(Bin(i / bins, (i + 1) / bins, int(inside.sum()), share, *means))
    return found


def expected_calibration_error(
    scores: Sequence[float], truths: Sequence[bool], *, weights: Sequence[float] | None = None, bins: int = 10
) -> float:
    """Mean gap between score and truth over bins of equal width, weighted by their size (Naeini et al., AAAI 2015)."""
    if not scores:
        return math.nan
    weight = np.full(len(scores), 1 / len(scores)) if weights is None else np.asarray(weights) / sum(weights)
    return float(np.abs(weight @ calibration_gaps(scores, truths, bins=bins)).sum())


def calibration_gaps(scores: Sequence[float], truths: Sequence[bool], *, bins: int = 10) -> npt.NDArray[np.float64]:
    """What each question adds to the gap of its bin, shape ``(questions, bins)``."""
    score = np.asarray(scores, dtype=float)
    gaps = np.zeros((len(score), bins))
    gaps[np.arange(len(score)), _bin_of(score, bins)] = score - np.asarray(truths, dtype=float)
    return gaps


def _bin_of(scores: npt.NDArray[np.float64], bins: int) -> npt.NDArray[np.int64]:
    return np.minimum((scores * bins).astype(np.int64), bins - 1)


def balanced(truths: Sequence[bool]) -> list[float]:
    """Weights, one in sum, under which the true ones and the false ones count as much as each other."""
    positives = sum(truths)
    negatives = len(truths) - positives
    return [0.5 / (positives if truth else negatives) for truth in truths]
