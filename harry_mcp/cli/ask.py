"""harry ask: one question to the reference agent."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harry_mcp.cli.console import ExitCode, print_json, run
from harry_mcp.settings import Settings, load_settings

if TYPE_CHECKING:
    from harry_mcp.agent.answers import Answer
    from harry_mcp.agent.target import ServerTarget

ServerOption = Annotated[
    str,
    typer.Option(
        "--server",
        help="The MCP server: a command in quotes, or an http(s) address. Default: HARRY_AGENT__SERVER, else our own "
        "`harry serve`.",
    ),
]
LocalOption = Annotated[bool, typer.Option("--local", help="Quote the best passages, even where there is a key.")]
TranscriptOption = Annotated[
    Path | None,
    typer.Option("--transcript", help="Write all that was asked, answered and said of answers to this JSON file."),
]


def ask(
    question: Annotated[str, typer.Argument(help="The question, in quotes.")],
    server: ServerOption = "",
    local: LocalOption = False,
    transcript: TranscriptOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer with all that is known of it.")] = False,
) -> None:
    """Answer a question from the knowledge base, with its sources, as an agent that follows the score contract.

    With ANTHROPIC_API_KEY Claude writes the answer; without one the best passages are quoted. Ends with 5 when a part
    that was to help did not; the notes say which.
    """
    from harry_mcp.agent.transcripts import TranscriptFile

    settings = load_settings()
    file = None if transcript is None else TranscriptFile(transcript)
    answer, kept = run(_ask(settings, target_of(settings, server), question, local, as_json))
    if as_json:
        print_json(answer.as_json())
    if file is not None:
        file.write(kept)
    if answer.degraded:
        raise typer.Exit(ExitCode.PARTIAL)


async def _ask(
    settings: Settings, target: ServerTarget, question: str, local: bool, quiet: bool
) -> tuple[Answer, dict[str, Any]]:
    from harry_mcp.agent.session import Session
    from harry_mcp.cli.answer_view import AnswerView

    view = AnswerView(quiet=quiet)
    async with Session(settings, target, local=local, tell=view.aside) as session:
        answer = await session.conversation.ask(question, view.show)
        view.finish(answer)
        return answer, session.transcript()


def target_of(settings: Settings, given: str) -> ServerTarget:
    """The server that was named, by the option first.

    What the SDK logs of a server that talks nonsense is for those who look for it; people get a sentence. So with the
    log of our own server.
    """
    if settings.log_level != "DEBUG":
        logging.getLogger("mcp").setLevel(logging.CRITICAL)
    from harry_mcp.agent.target import ServerTarget

    own = (sys.executable, "-m", "harry_mcp.cli.main", "serve")
    named = (given or settings.agent.server).strip()
    if named:
        return ServerTarget.of(named, own)
    quiet = {} if "log_level" in settings.model_fields_set else {"HARRY_LOG_LEVEL": "CRITICAL"}
    return ServerTarget(command=own, environment=quiet)
