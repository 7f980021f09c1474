"""OPS-3: the circuit breaker as a machine, with a clock of its own."""

from __future__ import annotations

import pytest
from hypothesis import settings, strategies
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from harry_mcp.errors import ProviderError, ProviderNotConfigured, ProviderTimeout
from harry_mcp.providers.breaker import CircuitBreaker, State
from harry_mcp.settings import ClaudeSection

pytestmark = pytest.mark.promise("OPS-3")

RULES = ClaudeSection(failures=3, pause=10, refused_pause=100)
DOWN = ProviderError("It is down.")
SLOW = ProviderTimeout("It is slow.")
REFUSED = ProviderNotConfigured("The key is refused.")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Bench:
    """A breaker, and one-letter acts: s(uccess), f(ailure), t(imeout), r(efusal), a(bandoned), a digit: seconds."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.breaker = CircuitBreaker(RULES, self.clock)

    def play(self, acts: str) -> None:
        for act in acts:
            if act.isdigit():
                self.clock.now += int(act)
                continue
            permit = self.breaker.admit()
            match act:
                case "s":
                    self.breaker.succeeded(permit)
                case "a":
                    self.breaker.abandoned(permit)
                case _:
                    self.breaker.failed(permit, {"f": DOWN, "t": SLOW, "r": REFUSED}[act])


@pytest.mark.parametrize(
    ("acts", "state"),
    [
        ("", State.CLOSED),
        ("ff", State.CLOSED),
        ("fff", State.OPEN),
        ("tft", State.OPEN),
        ("ffsff", State.CLOSED),
        ("ffaf", State.OPEN),
        ("aaaa", State.CLOSED),
        ("r", State.OPEN),
        ("fff99", State.HALF_OPEN),
        ("fff91", State.HALF_OPEN),
        ("fff9", State.OPEN),
        ("fff99s", State.CLOSED),
        ("fff99sff", State.CLOSED),
        ("fff99f", State.OPEN),
        ("fff99f91", State.HALF_OPEN),
        ("fff99a", State.HALF_OPEN),
        ("fff99as", State.CLOSED),
        ("r99999", State.OPEN),
        ("r999999999999", State.HALF_OPEN),
        ("fff99r99", State.OPEN),
    ],
)
def test_what_happened_decides_the_state(acts: str, state: State) -> None:
    bench = Bench()
    bench.play(acts)
    assert bench.breaker.state is state


@pytest.mark.parametrize(
    ("acts", "kind", "says"),
    [
        ("fff2", ProviderError, "It is down. It is left alone for another 8 s."),
        ("fft", ProviderError, "It is slow. It is left alone for another 10 s."),
        ("r", ProviderNotConfigured, "The key is refused. It is left alone for another 100 s."),
    ],
)
def test_an_open_breaker_fails_at_once_and_says_why_and_until_when(
    acts: str, kind: type[ProviderError], says: str
) -> None:
    bench = Bench()
    bench.play(acts)
    with pytest.raises(ProviderError) as caught:
        bench.breaker.admit()
    assert type(caught.value) is kind  # being left alone is no timeout
    assert str(caught.value) == says


def test_one_probe_goes_through_and_the_others_wait_for_what_it_shows() -> None:
    bench = Bench()
    bench.play("fff99")
    probe = bench.breaker.admit()
    with pytest.raises(ProviderError, match="finding out"):
        bench.breaker.admit()
    bench.breaker.succeeded(probe)
    assert bench.breaker.admit() == bench.breaker.admit()


def test_what_began_before_the_state_changed_no_longer_counts() -> None:
    bench = Bench()
    early = [bench.breaker.admit() for _ in range(8)]
    for permit in early[:3]:
        bench.breaker.failed(permit, DOWN)
    bench.play("5")
    bench.breaker.failed(early[3], REFUSED)  # opens for no longer
    bench.breaker.succeeded(early[4])  # nor closes
    assert bench.breaker.state is State.OPEN
    bench.play("5")
    probe = bench.breaker.admit()
    bench.breaker.abandoned(early[5])  # the probe is still out
    with pytest.raises(ProviderError, match="finding out"):
        bench.breaker.admit()
    bench.breaker.succeeded(probe)
    bench.breaker.failed(early[6], REFUSED)
    assert bench.breaker.state is State.CLOSED


class AnyCourse(RuleBasedStateMachine):
    """Calls that begin and end in any order, beside a plain count of what a breaker must and must not do."""

    permits: Bundle[tuple[int, int]] = Bundle("permits")

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.breaker = CircuitBreaker(RULES, self.clock)
        self.closed_until = 0.0
        self.row = 0
        self.probe: int | None = None
        self.era = 0

    @rule(target=permits)
    def begin(self) -> tuple[int, int]:
        state = self.breaker.state
        free = state is State.CLOSED or (state is State.HALF_OPEN and self.probe is None)
        try:
            permit = self.breaker.admit()
        except ProviderError:
            assert not free
            return (-1, -1)
        assert free
        if state is State.HALF_OPEN:
            self.probe = permit
        return (permit, self.era)

    @rule(permit=consumes(permits), error=strategies.sampled_from([DOWN, SLOW, REFUSED]))
    def fail(self, permit: tuple[int, int], error: ProviderError) -> None:
        number, era = permit
        self.breaker.failed(number, error)
        if era != self.era or number < 0:
            return
        self.row += 1
        refused = error is REFUSED
        if refused or self.probe is not None or self.row >= RULES.failures:
            self.closed_until = self.clock.now + (RULES.refused_pause if refused else RULES.pause)
            self.probe, self.era = None, self.era + 1
            assert self.breaker.state is State.OPEN
        else:
            assert self.breaker.state is State.CLOSED

    @rule(permit=consumes(permits))
    def succeed(self, permit: tuple[int, int]) -> None:
        number, era = permit
        before = self.breaker.state
        self.breaker.succeeded(number)
        if era == self.era and number >= 0:
            if before is not State.CLOSED:
                self.era += 1
            self.row, self.probe, self.closed_until = 0, None, 0.0
            assert self.breaker.state is State.CLOSED
        else:
            assert self.breaker.state is before

    @rule(permit=consumes(permits))
    def abandon(self, permit: tuple[int, int]) -> None:
        before = self.breaker.state
        self.breaker.abandoned(permit[0])
        if permit[1] == self.era and permit[0] >= 0:
            self.probe = None
        assert self.breaker.state is before

    @rule(seconds=strategies.sampled_from([0.5, 5.0, 10.0, 100.0]))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @invariant()
    def open_exactly_as_long_as_it_must(self) -> None:
        assert (self.breaker.state is State.OPEN) == (self.clock.now < self.closed_until)


TestAnyCourse = AnyCourse.TestCase
TestAnyCourse.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
