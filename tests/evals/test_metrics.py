"""EVL-1: the figures, against values worked out by hand."""

from __future__ import annotations

import math
import random

import pytest

from harry_mcp.evals import metrics


@pytest.mark.promise("EVL-1")
def test_ranking_metrics() -> None:
    ranking = ["a", "b", "c", "d"]
    assert metrics.hit_at(ranking, {"b"}, 1) == 0.0
    assert metrics.hit_at(ranking, {"b"}, 2) == 1.0
    assert metrics.recall_at(ranking, ["b", "x"], 4) == 0.5
    assert metrics.reciprocal_rank(ranking, {"c"}) == pytest.approx(1 / 3)
    assert metrics.reciprocal_rank(ranking, {"x"}) == 0.0
    assert metrics.ndcg_at(ranking, {"a", "c"}, 10) == pytest.approx((1 + 1 / 2) / (1 + 1 / math.log2(3)))
    assert metrics.ndcg_at([], {"a"}, 10) == 0.0


@pytest.mark.promise("EVL-1")
def test_auroc_counts_pairs() -> None:
    scores = [0.9, 0.8, 0.8, 0.3, 0.1]
    truths = [True, True, False, False, True]
    pairs = [
        1.0 if p > n else 0.5 if p == n else 0.0
        for p, t in zip(scores, truths, strict=True)
        if t
        for n, u in zip(scores, truths, strict=True)
        if not u
    ]
    assert metrics.auroc(scores, truths) == pytest.approx(sum(pairs) / len(pairs))
    assert math.isnan(metrics.auroc([0.5], [True]))


@pytest.mark.promise("EVL-1")
def test_calibration_error_is_zero_for_a_true_chance_and_large_for_bluff() -> None:
    dice = random.Random(3)
    scores = [dice.random() for _ in range(20_000)]
    honest = [dice.random() < score for score in scores]
    assert metrics.expected_calibration_error(scores, honest) < 0.02
    assert metrics.expected_calibration_error([0.95] * 10, [False] * 10) == pytest.approx(0.95)
    assert metrics.expected_calibration_error([1.0, 0.0], [True, False]) == 0.0
