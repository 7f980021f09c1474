"""How long there is left to answer."""

from __future__ import annotations

import time
from collections.abc import Callable


class Deadline:
    """A moment by which the whole answer must be there. Each part gets its own budget, or what is left of the whole.

    ``reserve``: seconds that no part may have, for what comes after it.
    """

    def __init__(self, seconds: float, *, reserve: float = 0.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = clock() + seconds
        self._reserve = reserve

    @property
    def left(self) -> float:
        """Seconds until the end, less the reserve; never negative."""
        return max(0.0, self._end - self._clock() - self._reserve)

    def within(self, budget: float) -> float:
        """Seconds that a part with this budget may take now."""
        return min(budget, self.left)
