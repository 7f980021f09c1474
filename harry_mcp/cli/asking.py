"""Asking before something is done that cannot simply be done back."""

from __future__ import annotations

import signal
import sys

import typer

from harry_mcp.errors import InputError


def confirm(what: str, *, yes: bool) -> None:
    """Go on when it was allowed beforehand or is allowed now.

    Raises:
        InputError: nobody is there to ask, or the answer is no.
    """
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InputError(f"{what} needs --yes where nobody can be asked. Nothing was changed.")
    if not _agreed(f"{what}: go on?"):
        raise InputError("Stopped; nothing was changed.")


def _agreed(question: str) -> bool:
    # The handler of a running event loop only takes note of Ctrl-C, and the person would still be asked.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return typer.confirm(question, err=True)
    except typer.Abort as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        return False  # the input ended
    finally:
        signal.signal(signal.SIGINT, before)
