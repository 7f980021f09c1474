"""EVL-1: the figures, against a library and against values worked out by hand."""

from __future__ import annotations

import math
import random
from typing import Any

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, R, Success, nDCG  # pyright: ignore[reportUnknownVariableType] - it has no types

from harry_mcp.evals import metrics

pytestmark = pytest.mark.promise("EVL-1")


@st.composite
def rankings(draw: st.DrawFn) -> tuple[list[str], set[str]]:
    """Documents, best first, and the relevant ones, some of which were not found."""
    found = [f"d{number}" for number in range(draw(st.integers(0, 30)))]
    lost = [f"x{number}" for number in range(draw(st.integers(0, 4)))]
    relevant = draw(st.sets(st.sampled_from([*found, *lost]), min_size=1)) if found or lost else {"x"}
    return found, relevant


@given(rankings())
def test_ranking_metrics_are_those_of_ir_measures(case: tuple[list[str], set[str]]) -> None:
    found, relevant = case
    ranks = [rank for rank, item in enumerate(found, start=1) if item in relevant]
    ours = {
        "Success@1": metrics.hit_at(ranks, 1),
        "Success@5": metrics.hit_at(ranks, 5),
        "RR": metrics.reciprocal_rank(ranks),
        "nDCG@10": metrics.ndcg_at(ranks, len(relevant), 10),
        "R@5": metrics.recall_at(ranks, len(relevant), 5),
        "R@20": metrics.recall_at(ranks, len(relevant), 20),
    }
    assert ours == pytest.approx(_theirs(found, relevant))


def _theirs(found: list[str], relevant: set[str]) -> dict[str, float]:
    library: Any = ir_measures
    measures: list[Any] = [Success @ 1, Success @ 5, RR, nDCG @ 10, R @ 5, R @ 20]
    if not found:
        return {str(measure): 0.0 for measure in measures}
    run = [library.ScoredDoc("q", item, 1000.0 - rank) for rank, item in enumerate(found)]
    judged = [library.Qrel("q", item, 1) for item in relevant]
    return {str(name): float(value) for name, value in library.calc_aggregate(measures, judged, run).items()}


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
    above, under = metrics.placements(scores, truths)
    assert above.tolist() == pytest.approx([1.0, 0.75, 0.0])
    assert under.tolist() == pytest.approx([0.5, 2 / 3])
    assert math.isnan(metrics.auroc([0.5], [True]))


def test_calibration_error_is_zero_for_a_true_chance_and_large_for_bluff() -> None:
    dice = random.Random(3)
    scores = [dice.random() for _ in range(20_000)]
    honest = [dice.random() < score for score in scores]
    assert metrics.expected_calibration_error(scores, honest) < 0.02
    assert metrics.expected_calibration_error([0.95] * 10, [False] * 10) == pytest.approx(0.95)
    assert metrics.expected_calibration_error([1.0, 0.0], [True, False]) == 0.0


def test_weights_stand_for_another_mix() -> None:
    """Three unanswerable questions for each answerable one; half and half, the same score is right as often as not."""
    scores, truths = [0.5] * 4, [True, False, False, False]
    assert metrics.expected_calibration_error(scores, truths) == pytest.approx(0.25)
    weights = metrics.balanced(truths)
    assert sum(weights) == pytest.approx(1)
    assert metrics.expected_calibration_error(scores, truths, weights=weights) == pytest.approx(0)


def test_reliability_counts_every_question_once() -> None:
    bins = metrics.reliability([0.0, 0.05, 0.5, 0.99, 1.0], [False, False, True, True, True])
    assert [(item.low, item.high, item.questions) for item in bins] == [(0.0, 0.1, 2), (0.5, 0.6, 1), (0.9, 1.0, 2)]
    assert [item.truth for item in bins] == [0.0, 1.0, 1.0]
    assert sum(item.weight for item in bins) == pytest.approx(1)
    assert metrics.reliability([], []) == []
