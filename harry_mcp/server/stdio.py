"""Serving on standard input and output, with lines that the SDK would drop made readable.

A JSON string may hold half of a surrogate pair (``"\\ud800"``), which no Unicode text can. The SDK's parser refuses the
whole line without an answer, and the host waits until it gives up. Each half becomes U+FFFD instead.
"""

from __future__ import annotations

import io
import os
import re
import sys
from typing import TYPE_CHECKING

import anyio
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


class _Lines(io.TextIOWrapper):
    """UTF-8 lines of standard input, whatever the platform's code page."""

    def readline(self, size: int = -1, /) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]
        return whole_characters(super().readline(size))


async def serve_stdio(server: HarryServer) -> None:
    """Serve until standard input ends."""
    lines = _Lines(os.fdopen(_claim_stdin(), "rb"), encoding="utf-8", errors="replace")
    async with stdio_server(stdin=anyio.wrap_file(lines)) as (reading, writing):
        await server.run_on(reading, writing)


def _claim_stdin() -> int:
    """A private descriptor of standard input; the public one reads nothing, so that no child takes a message."""
    private = os.dup(sys.stdin.fileno())
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())
    os.close(nothing)
    return private
