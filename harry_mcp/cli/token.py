"""harry token: tokens for HTTP of which the server knows the digest alone."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from harry_mcp.cli.console import print_json
from harry_mcp.errors import InputError

commands = typer.Typer(help="Make tokens for `harry serve --http`.", no_args_is_help=True)


class _Role(StrEnum):
    READER = "reader"
    CONTRIBUTOR = "contributor"
    CURATOR = "curator"
    ADMIN = "admin"


@commands.callback()
def _root() -> None:
    """Tokens are made here and kept by whoever gets them; the server is given their digests."""


@commands.command("new")
def new(
    name: Annotated[str, typer.Argument(help="How records name its holder: one word.")],
    role: Annotated[_Role, typer.Option(help="What its holder may do.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Make a token. It is shown once; the server is given the line that follows it."""
    from harry_mcp.server.tokens import digest_of, new_token
    from harry_mcp.settings.authorizing import token_line

    token = new_token()
    line = f"{name}:{role.value}:{digest_of(token)}"
    if token_line(line) is None:
        raise InputError("The name is to be one word of at most 100 characters without colons and commas.")
    if as_json:
        print_json({"token": token, "line": line})
        return
    sys.stdout.write(
        f"The token, which is not shown again: {token}\n"
        f"For the server, in HARRY_AUTH__TOKENS or the file of HARRY_AUTH__TOKENS_FILE:\n{line}\n"
    )
