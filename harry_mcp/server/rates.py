"""How many requests one subject may send: a bucket for each, in this process.

In this process and not in PostgreSQL: there each request would write a row that all replicas wait for, and nobody
would be let in while it is away. A load balancer that takes turns gives each process its share of a subject's
requests, so each lets its share of the limit through. One that does not lets a subject have less, never more.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from harry_mcp.domain.recent import Recent

_MOST_SUBJECTS = 4096


class Rates:
    """Counts by subject. ``per_minute`` and ``burst`` hold over ``processes`` that share the callers."""

    def __init__(
        self, per_minute: int, *, burst: int, processes: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_second = per_minute / 60 / processes
        self._burst = max(1.0, burst / processes)
        self._clock = clock
        # When each bucket is full again; who is not among the last ones has a full bucket.
        self._full: Recent[str, float] = Recent(_MOST_SUBJECTS)

    def wait(self, subject: str) -> float:
        """Count a request of a subject: 0 when it may go on, else the seconds until it may; then it was not counted."""
        if not self._per_second:
            return 0.0
        now = self._clock()
        full = max(now, self._full.get(subject) or now) + 1 / self._per_second
        over = full - now - self._burst / self._per_second
        if over > 1e-9:
            return over
        self._full.put(subject, full)
        return 0.0
