"""harry chat: a conversation with the reference agent."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from harry_mcp.cli.ask import LocalOption, ServerOption, TranscriptOption, target_of
from harry_mcp.cli.console import run
from harry_mcp.errors import HarryError, InputError
from harry_mcp.settings import Settings, load_settings

if TYPE_CHECKING:
    from harry_mcp.agent.answers import Answer
    from harry_mcp.agent.connection import ServerTarget
    from harry_mcp.agent.session import Session
    from harry_mcp.cli.answer_view import AnswerView

_PROMPT = "\n› "
_HELP = """\
Ask a question, and follow up on it. Commands:
  /up                          the last answer was good
  /down [reason] [n] [words]   it was not: wrong, outdated, incomplete, irrelevant, bad_source or other; n: the source
                               to blame
  /correct WRONG => TRUE       what is true instead; it counts from the next question on
  /correct TRUE                the same, against the last answer
  /sources                     the sources of the last answer
  /help                        this
  /quit                        leave"""


def chat(server: ServerOption = "", local: LocalOption = False, transcript: TranscriptOption = None) -> None:
    """Talk with the knowledge base; rate and correct its answers.

    Type /help for the commands. With ANTHROPIC_API_KEY Claude writes the answers; without one the best passages are
    quoted.
    """
    settings = load_settings()
    run(_chat(settings, target_of(settings, server), local, transcript))


async def _chat(settings: Settings, target: ServerTarget, local: bool, transcript: Path | None) -> None:
    from harry_mcp.agent.session import Session, write_transcript
    from harry_mcp.cli.answer_view import AnswerView

    view, lines = AnswerView(), _Lines()
    if sys.stdin.isatty():
        view.tell("Ask a question. /help lists the commands, /quit leaves.")
    async with Session(settings, target, local=local) as session:
        while (line := await lines.next()) is not None:
            said = line.strip()
            if said in ("/quit", "/exit"):
                return
            try:
                await _turn(session, view, said)
            except HarryError as error:
                view.tell(f"harry: {error}")
            if transcript is not None:
                write_transcript(transcript, session.transcript())


async def _turn(session: Session, view: AnswerView, said: str) -> None:
    if not said:
        return
    if not said.startswith("/"):
        view.finish(await session.conversation.ask(said, view.show))
        return
    for line in await _command(session, said):
        view.tell(line)


async def _command(session: Session, said: str) -> list[str]:
    from harry_mcp.agent.reporting_back import complain, correct, praise
    from harry_mcp.cli.answer_view import source_line

    name, _, rest = said.partition(" ")
    match name:
        case "/help":
            return [_HELP]
        case "/up":
            return await praise(session.connection, _last(session))
        case "/down":
            return await complain(session.connection, _last(session), rest)
        case "/correct":
            return await correct(session.connection, session.last, rest)
        case "/sources":
            return [source_line(source) for source in _last(session).sources] or ["The last answer has no sources."]
        case _:
            raise InputError(f"There is no command {name}. /help lists them.")


def _last(session: Session) -> Answer:
    if session.last is None:
        raise InputError("There is no answer yet. Ask a question first.")
    return session.last


class _Lines:
    """Lines of standard input, UTF-8. Where the platform allows, no thread waits for them: it could not be ended."""

    def __init__(self) -> None:
        self._shows = sys.stdin.isatty()
        self._descriptor = sys.stdin.fileno()
        self._held = b""
        self._ended = False

    async def next(self) -> str | None:
        """The next line; None at the end."""
        if self._shows:
            sys.stdout.write(_PROMPT)
            sys.stdout.flush()
        while b"\n" not in self._held and not self._ended:
            data = await self._read()
            self._held += data
            self._ended = not data
        if not self._held:
            return None
        line, _, self._held = self._held.partition(b"\n")
        return line.decode("utf-8", errors="replace")

    async def _read(self) -> bytes:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        try:
            loop.add_reader(self._descriptor, ready.set)
        except (NotImplementedError, OSError, ValueError):  # a file, which never waits, or Windows
            return await asyncio.to_thread(os.read, self._descriptor, 65_536)
        try:
            await ready.wait()
        finally:
            loop.remove_reader(self._descriptor)
        return os.read(self._descriptor, 65_536)
