"""The figures, each in [0, 1], as information retrieval defines them."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence


def hit_at(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """1 when any of the first ``k`` is relevant."""
    return float(any(item in relevant for item in ranking[:k]))


def recall_at(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Share of the relevant ones among the first ``k``; its mean over questions is the Pass@k of Anthropic's
    contextual retrieval benchmark."""
    return len(set(ranking[:k]) & set(relevant)) / len(set(relevant)) if relevant else 0.0


def reciprocal_rank(ranking: Sequence[str], relevant: Collection[str]) -> float:
    """1 / rank of the first relevant one, 0 when there is none."""
    return next((1 / rank for rank, item in enumerate(ranking, start=1) if item in relevant), 0.0)


def ndcg_at(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Normalised discounted cumulative gain with gains of 0 and 1 (Jarvelin and Kekalainen, TOIS 2002)."""
    wanted = set(relevant)
    gain = sum(1 / math.log2(rank + 1) for rank, item in enumerate(ranking[:k], start=1) if item in wanted)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(wanted), k) + 1))
    return gain / ideal if ideal else 0.0


def auroc(scores: Sequence[float], truths: Sequence[bool]) -> float:
    """Chance that a true case scores above a false one, ties counting half; nan when one kind is missing."""
    positives = sum(truths)
    negatives = len(truths) - positives
    if not positives or not negatives:
        return math.nan
    ranks = _average_ranks(scores)
    rank_sum = sum(rank for rank, truth in zip(ranks, truths, strict=True) if truth)
    return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives)


def _average_ranks(values: Sequence[float]) -> list[float]:
    order = sorted(range(len(values)), key=lambda i: values[i])
    ranks = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for position in range(start, end + 1):
            ranks[order[position]] = (start + end) / 2 + 1
        start = end + 1
    return ranks


def expected_calibration_error(scores: Sequence[float], truths: Sequence[bool], bins: int = 10) -> float:
    """Mean gap between score and truth over bins of equal width, weighted by their size (Naeini et al., AAAI 2015)."""
    if not scores:
        return math.nan
    total = 0.0
    for number in range(bins):
        inside = [
            (score, truth)
            for score, truth in zip(scores, truths, strict=True)
            if min(int(score * bins), bins - 1) == number
        ]
        if inside:
            total += abs(sum(score for score, _ in inside) - sum(truth for _, truth in inside))
    return total / len(scores)
