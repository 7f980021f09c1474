"""Serving on standard input and output, with lines that the SDK would drop made readable.

A JSON string may hold half of a surrogate pair (``"\\ud800"``), which no Unicode text can. The SDK's parser refuses the
whole line without an answer, and the host waits until it gives up. Each half becomes U+FFFD instead.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import re
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mcp.server.stdio import stdio_server

if TYPE_CHECKING:
    from harry_mcp.server.server import HarryServer

# A backslash escape, then a whole pair, are consumed first, so that what is left of \uD8.. to \uDF.. is half a pair.
_HALF = re.compile(r"(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


def whole_characters(line: str) -> str:
    """A line of JSON with every half of a surrogate pair replaced."""
    if "\\ud" not in line and "\\uD" not in line:
        return line
    return _HALF.sub(lambda match: match[1] or "\\ufffd", line)


class _Lines:
    """The lines of standard input, UTF-8 whatever the platform's code page.

    A thread of its own reads them, for a read cannot be cancelled: it is a daemon, so that a host that asks the server
    to go by a signal, and keeps the pipe open, need not wait for it.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        # Bounded, so that a host that floods the pipe waits instead of filling the memory.
        self._waiting: asyncio.Queue[bytes | None] = asyncio.Queue(maxsize=64)
        threading.Thread(target=self._read, name="harry-stdin", daemon=True).start()

    def __aiter__(self) -> _Lines:
        return self

    async def __anext__(self) -> str:
        line = await self._waiting.get()
        if line is None:
            raise StopAsyncIteration
        return whole_characters(line.decode("utf-8", errors="replace"))

    def _read(self) -> None:
        pieces: list[bytes] = []
        # The loop may be closed while this waits for a line that never comes.
        with suppress(RuntimeError, concurrent.futures.CancelledError):
            while data := self._next():
                *lines, rest = data.split(b"\n")
                for line in lines:
                    self._hand_over(b"".join([*pieces, line]))
                    pieces = []
                pieces.append(rest)
            if last := b"".join(pieces):
                self._hand_over(last)
            self._hand_over(None)

    def _next(self) -> bytes:
        try:
            return os.read(self._descriptor, 65_536)
        except OSError:
            return b""

    def _hand_over(self, line: bytes | None) -> None:
        asyncio.run_coroutine_threadsafe(self._waiting.put(line), self._loop).result()


async def serve_stdio(server: HarryServer) -> None:
    """Serve until standard input ends or the task is cancelled."""
    lines: Any = _Lines(_claim_stdin())
    async with stdio_server(stdin=lines) as (reading, writing):
        await server.run_on(reading, writing)


def _claim_stdin() -> int:
    """A private descriptor of standard input; the public one reads nothing, so that no child takes a message."""
    private = os.dup(sys.stdin.fileno())
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())
    os.close(nothing)
    return private
