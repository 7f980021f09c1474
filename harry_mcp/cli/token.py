"""harry token: tokens for HTTP of which the server knows the digest alone."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
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
    file: Annotated[
        Path | None, typer.Option(help="Add the line for the server to this file, that of HARRY_AUTH__TOKENS_FILE.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Make a token. It is shown once and is for its holder; the server gets a line with its digest.

    With --file the line is added there, and a server that reads the file takes the token within a second or two.
    """
    from harry_mcp.server.tokens import digest_of, new_token
    from harry_mcp.settings.authorizing import token_line

    token = new_token()
    line = f"{name}:{role.value}:{digest_of(token)}"
    if token_line(line) is None:
        raise InputError(
            "The name is to be one word of at most 100 characters without colons and commas, and not to begin with #."
        )
    if file is not None:
        from harry_mcp.server.token_file import append_line

        append_line(file, line)
    if as_json:
        print_json({"token": token, "line": line})
        return
    for_server = (
        f"A line of {file}, which is to be HARRY_AUTH__TOKENS_FILE of the server:"
        if file is not None
        else "For the server, as a line of the file that HARRY_AUTH__TOKENS_FILE names, or in HARRY_AUTH__TOKENS:"
    )
    sys.stdout.write(
        f"For {name}, not shown again; a client sends it as a bearer token: {token}\n{for_server}\n{line}\n"
    )
