"""Asking before something is done that cannot simply be done back."""

from __future__ import annotations

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
    if not typer.confirm(f"{what}: go on?", err=True):
        raise InputError("Stopped; nothing was changed.")
