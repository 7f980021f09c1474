"""Deadline: what is left of the whole bounds every part."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harry_mcp.domain.deadlines import Deadline

SECONDS = st.floats(0, 1000)


class Clock:
    """A clock that is set by hand."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("passed", "budget", "left", "within"),
    [
        (0.0, 2.0, 3.5, 2.0),
        (1.0, 2.0, 2.5, 2.0),
        (2.0, 2.0, 1.5, 1.5),
        (3.5, 2.0, 0.0, 0.0),
        (4.0, 2.0, 0.0, 0.0),
        (99.0, 2.0, 0.0, 0.0),
        (0.0, 0.0, 3.5, 0.0),
        (0.0, 9.0, 3.5, 3.5),
    ],
)
def test_four_seconds_with_half_a_second_held_back(passed: float, budget: float, left: float, within: float) -> None:
    clock = Clock(1e6)
    deadline = Deadline(4.0, reserve=0.5, clock=clock)
    clock.now += passed
    assert deadline.left == left
    assert deadline.within(budget) == within


@given(SECONDS, SECONDS, SECONDS, st.lists(SECONDS, max_size=20))
def test_parts_that_keep_their_time_never_pass_the_end(
    seconds: float, reserve: float, start: float, budgets: list[float]
) -> None:
    clock = Clock(start)
    deadline = Deadline(seconds, reserve=reserve, clock=clock)
    before = deadline.left
    for budget in budgets:
        allowed = deadline.within(budget)
        assert 0 <= allowed <= min(budget, deadline.left)
        clock.now += allowed
        assert deadline.left <= before
        before = deadline.left
    # Floats lose a little at each step
    assert clock.now <= max(start, start + seconds - reserve) + 1e-9


def test_its_own_clock_goes_on() -> None:
    deadline = Deadline(1000.0)
    first = deadline.left
    assert 0 < deadline.left <= first <= 1000.0
