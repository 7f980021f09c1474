"""RNK-2: the curve from raw scores to chances, on samples whose truth is known."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from harry_mcp.evals import metrics
from harry_mcp.evals.fitting import Curve, Method, Sample, cross_validated, fit, log_loss

pytestmark = pytest.mark.promise("RNK-2")
METHODS: tuple[Method, ...] = get_args(Method)


def drawn(questions: int, raw: Callable[[random.Random, bool], float], *, answerable: float = 0.5) -> list[Sample]:
    """Questions, of which a share can be answered; the first hit answers nine in ten of them. ``raw`` scores one."""
    dice = random.Random(11)
    found: list[Sample] = []
    for number in range(questions):
        can = number < answerable * questions
        answered = can and dice.random() < 0.9
        score = min(max(raw(dice, answered), 0.0), 1.0)
        found.append(Sample(id=f"q{number}", raw=score, answerable=can, answered=answered))
    return found


def fine(dice: random.Random, good: bool) -> float:
    return dice.gauss(0.7 if good else 0.3, 0.15)


def squeezed(dice: random.Random, good: bool) -> float:
    """A ranker that knows as much, and says it between .10 and .20."""
    return 0.10 + fine(dice, good) / 10


def coarse(dice: random.Random, good: bool) -> float:
    return dice.choices((0.0, 0.5, 1.0), (0.05, 0.15, 0.8) if good else (0.75, 0.2, 0.05))[0]


@st.composite
def samples(draw: st.DrawFn) -> list[Sample]:
    """Any questions at all with both kinds among them, many of them with equal scores."""
    score = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))
    rows = draw(st.lists(st.tuples(score, st.booleans(), st.booleans()), max_size=60))
    kinds = [(0.3, True, True), (0.6, False, False), (0.9, True, False), (0.1, False, False), *rows]
    return [
        Sample(id=str(number), raw=raw, answerable=can, answered=can and right)
        for number, (raw, can, right) in enumerate(kinds)
    ]


@pytest.mark.parametrize("method", METHODS)
@given(found=samples())
@settings(deadline=None, max_examples=80)
def test_any_samples_give_a_rising_curve_of_honest_chances(method: Method, found: list[Sample]) -> None:
    curve = fit(found, method)
    assert len(curve.raw) == len(curve.chance)
    assert all(left < right for left, right in zip(curve.raw, curve.raw[1:], strict=False))
    assert all(left <= right for left, right in zip(curve.chance, curve.chance[1:], strict=False))
    assert all(0.01 <= chance <= 0.99 for chance in curve.chance)
    assert all(type(value) is float for value in (*curve.raw, *curve.chance))
    chances = cross_validated(found, method)
    assert len(chances) == len(found)
    assert math.isfinite(log_loss(chances, found))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("raw", [fine, squeezed, coarse])
def test_chances_mean_the_same_whatever_the_scale_of_the_scores(
    method: Method, raw: Callable[[random.Random, bool], float]
) -> None:
    """The share of right answers at a chance is that chance, on questions that the curve had not seen."""
    found = drawn(600, raw)
    chances = cross_validated(found, method)
    answered = [sample.answered for sample in found]
    assert metrics.expected_calibration_error(chances, answered) <= 0.05
    strong = [sample.answered for sample, chance in zip(found, chances, strict=True) if chance >= 0.60]
    weak = [sample.answered for sample, chance in zip(found, chances, strict=True) if chance < 0.45]
    assert sum(strong) / len(strong) >= 0.85
    assert sum(weak) / len(weak) <= 0.25
    raw_error = metrics.expected_calibration_error([sample.raw for sample in found], answered)
    assert raw_error > 0.2 or raw is not squeezed


@pytest.mark.parametrize("method", METHODS)
def test_the_mix_of_the_golden_set_does_not_move_the_curve(method: Method) -> None:
    """One answerable question in five, or four: the chance reads as if half could be answered."""
    rare, common = (fit(drawn(12_000, fine, answerable=share), method) for share in (0.2, 0.8))
    for raw in (0.3, 0.4, 0.5, 0.6, 0.7):
        assert rare.of(raw) == pytest.approx(common.of(raw), abs=0.06)


@pytest.mark.parametrize("method", METHODS)
def test_few_questions_give_a_curve_that_is_not_sure(method: Method) -> None:
    """Ten and ten, told apart without fault: that is no certainty."""
    found = [Sample(id=f"q{n}", raw=0.9 if n < 10 else 0.2, answerable=n < 10, answered=n < 10) for n in range(20)]
    curve = fit(found, method)
    assert 0.80 <= curve.of(0.9) <= 0.95
    assert 0.05 <= curve.of(0.2) <= 0.20


@pytest.mark.parametrize("method", METHODS)
def test_scores_that_tell_nothing_give_a_level_curve(method: Method) -> None:
    assert not fit(drawn(60, lambda _dice, _good: 0.5), method).rises
    assert not fit(drawn(60, lambda _dice, good: 0.2 if good else 0.8), method).rises
    assert fit(drawn(60, fine), method).rises


def test_isotonic_agrees_with_scipy_where_every_level_is_well_filled() -> None:
    """Eleven levels of hundreds of questions: neither smoothing nor joining of small steps can move it much."""
    found = drawn(6000, lambda dice, good: round(fine(dice, good), 1))
    curve = fit(found, "isotonic")
    weights = np.array(metrics.balanced([sample.answerable for sample in found]))
    raw = np.array([sample.raw for sample in found])
    truth = np.array([float(sample.answered) for sample in found])
    library: Any = optimize
    levels = np.unique(raw)
    share = [float(np.average(truth[raw == level], weights=weights[raw == level])) for level in levels]
    sizes = [float(weights[raw == level].sum()) for level in levels]
    theirs = library.isotonic_regression(share, weights=sizes).x
    for level, size, expected in zip(levels, sizes, theirs, strict=True):
        if size * len(found) > 100:
            assert curve.of(float(level)) == pytest.approx(float(expected), abs=0.02)


@pytest.mark.parametrize("raw", [fine, squeezed])
def test_platts_curve_is_written_down_closely_enough(raw: Callable[[random.Random, bool], float]) -> None:
    """Between two knots the straight line stays by the sigmoid that it stands for."""
    curve = fit(drawn(600, raw), "platt")
    inner = [(odds(r), odds(c)) for r, c in zip(*curve, strict=True) if 0.02 < c < 0.98]
    slope = (inner[-1][1] - inner[0][1]) / (inner[-1][0] - inner[0][0])
    offset = inner[0][1] - slope * inner[0][0]
    low, high = curve.raw[1], curve.raw[-2]
    for step in range(1000):
        at = low + (high - low) * step / 1000
        exact = 1 / (1 + math.exp(-(slope * odds(at) + offset)))
        assert curve.of(at) == pytest.approx(exact, abs=0.01)


def odds(share: float) -> float:
    return math.log(share / (1 - share))


def test_outside_of_its_knots_a_curve_is_level() -> None:
    curve = Curve((0.2, 0.4), (0.1, 0.9))
    assert [curve.of(raw) for raw in (-1.0, 0.2, 0.3, 0.4, 2.0)] == pytest.approx([0.1, 0.1, 0.5, 0.9, 0.9])


def test_cross_validation_does_not_depend_on_the_order() -> None:
    found = drawn(100, fine)
    shuffled = random.Random(5).sample(found, len(found))
    by_id = dict(zip((sample.id for sample in shuffled), cross_validated(shuffled, "platt"), strict=True))
    assert [by_id[sample.id] for sample in found] == pytest.approx(cross_validated(found, "platt"))
