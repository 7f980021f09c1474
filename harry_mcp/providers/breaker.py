"""A circuit breaker: a service that keeps failing is left alone for a while, so that nothing waits for it.

Closed, every call goes through. After enough failures in a row, or one refusal of the key, it is open and calls fail at
once. When the pause is over it is half open: one call, the probe, goes through; the others still fail at once until
the probe has shown how the service is. The machine only counts and reads its clock, so that no call can come between
the steps of another one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

from harry_mcp.errors import ProviderError, ProviderNotConfigured


class State(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half open"


class BreakerRules(Protocol):
    """``failures`` in a row open it for ``pause`` seconds, a refused key or model at once for ``refused_pause``."""

    @property
    def failures(self) -> int: ...
    @property
    def pause(self) -> float: ...
    @property
    def refused_pause(self) -> float: ...


class CircuitBreaker:
    """The breaker of one service. Every permit is given back in exactly one way, or the probe never ends."""

    def __init__(self, rules: BreakerRules, clock: Callable[[], float] = time.monotonic) -> None:
        self._rules = rules
        self._clock = clock
        self._failures = 0
        self._error: ProviderError | None = None
        self._closed_until = 0.0
        self._probing = False
        # Moves with every change of state: what was admitted before says nothing about the service as it is now.
        self._era: int = 0

    @property
    def state(self) -> State:
        if self._error is None:
            return State.CLOSED
        return State.OPEN if self._clock() < self._closed_until else State.HALF_OPEN

    def admit(self) -> int:
        """A permit for one call.

        Raises:
            ProviderError: the service is left alone; of the kind of the failure that opened the breaker.
        """
        if self._error is not None:
            left = self._closed_until - self._clock()
            if left > 0:
                raise self._left_alone(f"It is left alone for another {left:.0f} s.")
            if self._probing:
                raise self._left_alone("One call is finding out whether it works again.")
            self._probing = True
        return self._era

    def succeeded(self, permit: int) -> None:
        """The service answered."""
        if permit != self._era:
            return
        if self._error is not None:
            self._era += 1
        self._error, self._failures, self._probing = None, 0, False

    def failed(self, permit: int, error: ProviderError) -> None:
        """The service did not answer, or not what it was asked for."""
        if permit != self._era:
            return
        self._failures += 1
        refused = isinstance(error, ProviderNotConfigured)
        if refused or self._probing or self._failures >= self._rules.failures:
            self._error, self._probing = error, False
            self._closed_until = self._clock() + (self._rules.refused_pause if refused else self._rules.pause)
            self._era += 1

    def abandoned(self, permit: int) -> None:
        """The caller went away, which says nothing about the service."""
        if permit == self._era:
            self._probing = False

    def _left_alone(self, until: str) -> ProviderError:
        error = self._error or ProviderError()
        kind = ProviderNotConfigured if isinstance(error, ProviderNotConfigured) else ProviderError
        return kind(f"{error} {until}")
