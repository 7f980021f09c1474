"""How often one site is asked: a few requests at a time, a pause between two, and silence when it asks for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


class Pacer:
    """The turnstile before one site. ``delay`` is in seconds, from the start of one request to that of the next."""

    def __init__(self, concurrency: int, delay: float) -> None:
        self._places = asyncio.Semaphore(concurrency)
        self._gate = asyncio.Lock()
        self._next = 0.0
        self.delay = delay

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None, None]:
        """Wait for one's turn; the place is held until the request is over."""
        async with self._places:
            async with self._gate:
                # Again, for silence may be asked for while somebody waits here.
                while (left := self._next - time.monotonic()) > 0:  # noqa: ASYNC110 - time passes, no event happens
                    await asyncio.sleep(left)
                self._next = time.monotonic() + self.delay
            yield

    def silence(self, seconds: float) -> None:
        """Let nobody through for a while."""
        self._next = max(self._next, time.monotonic() + seconds)


def retry_after(value: str, now: datetime) -> float | None:
    """Seconds of a ``Retry-After`` header, in either of its forms; None when there is none that can be read."""
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(min(int(value[:12]), 10**9))
    try:
        when = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return max(0.0, ((when if when.tzinfo else when.replace(tzinfo=UTC)) - now).total_seconds())
