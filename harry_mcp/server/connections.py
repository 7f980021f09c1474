"""How long one connection may take, and how many there may be."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# As many as one process is likely to serve; what it costs is a table in the kernel.
_MOST_FILES = 65_536


def timed(seconds: float) -> type[H11Protocol]:
    """uvicorn's protocol, with so many seconds for each request to come in whole.

    Without that, who opens connections and sends nothing, or a byte now and then, holds them for ever, until the
    process may open no more. It also holds for what is left of a request that was answered before it was read.
    """

    class Timed(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._expect_all()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._expect_all()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._expect_all()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            super().connection_lost(exc)

        def _expect_all(self) -> None:
            between_two = self.conn.their_state is h11.IDLE and self.timeout_keep_alive_task is not None
            if between_two or self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
                self._stop()
            elif self._deadline is None:
                self._deadline = self.loop.call_later(seconds, self.transport.close)

        def _stop(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return Timed


def raise_limit() -> None:
    """Let this process hold as many connections as the machine allows; the usual limit is 1,024 files."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
