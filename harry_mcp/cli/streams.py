"""The standard streams: UTF-8 whatever the platform's code page, and a sentence where output goes nowhere."""

from __future__ import annotations

import io
import os
import sys
from typing import BinaryIO, TextIO, cast

from harry_mcp.errors import SourceError


class Output(io.TextIOWrapper):
    """Standard output. After a failure the rest goes to nobody, for the interpreter would try again as it leaves.

    ``write`` and ``flush`` raise:
        BrokenPipeError: whoever read it has enough.
        SourceError: it cannot be written for another reason, a full disk say.
    """

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except OSError as error:
            raise self._lost(error) from error

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            raise self._lost(error) from error

    def _lost(self, error: OSError) -> Exception:
        os.dup2(_nowhere(), self.fileno())
        if isinstance(error, BrokenPipeError):
            return error
        return SourceError(f"Standard output cannot be written: {error.strerror or error}.")


def prepare_streams() -> None:
    """Put both streams in order, also those that whoever started us had closed."""
    out, err = cast(TextIO | None, sys.stdout), cast(TextIO | None, sys.stderr)
    if isinstance(out, io.TextIOWrapper):
        sys.stdout = Output(
            cast(BinaryIO, out.buffer),  # pyright: ignore[reportUnknownMemberType]
            encoding="utf-8",
            errors="replace",
            line_buffering=out.line_buffering,
            write_through=out.write_through,
        )
    # None where it was closed; its number must not go to a file of ours.
    elif out is None:
        sys.stdout = os.fdopen(_nowhere(), "w", encoding="utf-8")
    if isinstance(err, io.TextIOWrapper):
        err.reconfigure(encoding="utf-8", errors="replace")
    elif err is None:
        sys.stderr = os.fdopen(_nowhere(), "w", encoding="utf-8")


def _nowhere() -> int:
    return os.open(os.devnull, os.O_WRONLY)
