"""harry chat: a conversation with the reference agent."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from typing import TYPE_CHECKING

from harry_mcp.cli.ask import LocalOption, ServerOption, TranscriptOption, target_of
from harry_mcp.cli.console import run
from harry_mcp.errors import HarryError, InputError
from harry_mcp.settings import Settings, load_settings

if TYPE_CHECKING:
    from harry_mcp.agent.answers import Answer
    from harry_mcp.agent.session import Session
    from harry_mcp.agent.target import ServerTarget
    from harry_mcp.agent.transcripts import TranscriptFile
    from harry_mcp.cli.answer_view import AnswerView

_PROMPT = "\n› "
# What keys and pasting put between the words: control sequences, function keys, and Alt with a key.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]?|O[ -~]?|[ -~]?)")
_HELP = """\
Ask a question, and follow up on it. Commands:
  /up                          the last answer was good; it is proposed as an official one
  /down REASON [n] [words]     it was not: wrong, outdated, incomplete, irrelevant, bad_source or other; n: the source
                               to blame
  /correct WRONG => TRUE       what is true instead; it counts from the next question on
  /correct TRUE                the same, against the last answer
  /again                       send once more what could not be sent
  /sources                     the sources of the last answer
  /help                        this
  /quit                        leave"""


def chat(server: ServerOption = "", local: LocalOption = False, transcript: TranscriptOption = None) -> None:
    """Talk with the knowledge base; rate and correct its answers.

    Type /help for the commands. With ANTHROPIC_API_KEY Claude writes the answers; without one the best passages are
    quoted.
    """
    from harry_mcp.agent.transcripts import TranscriptFile

    settings = load_settings()
    file = None if transcript is None else TranscriptFile(transcript)
    run(_chat(settings, target_of(settings, server), local, file))


async def _chat(settings: Settings, target: ServerTarget, local: bool, file: TranscriptFile | None) -> None:
    from harry_mcp.agent.session import Session
    from harry_mcp.cli.answer_view import AnswerView

    view, lines = AnswerView(), _Lines()
    async with Session(settings, target, local=local, tell=view.aside) as session:
        if sys.stdin.isatty():
            await _greet(session, view)
        while (line := await lines.next()) is not None:
            said = line.strip()
            if said in ("/quit", "/exit"):
                break
            try:
                await _turn(session, view, said)
            except HarryError as error:
                view.refuse(error)
            if file is not None:
                _keep(file, session, view)
        for each in session.outbox.waiting:
            view.tell(f"Not sent: {each.report.line}")


async def _greet(session: Session, view: AnswerView) -> None:
    """What to do here, and whether there is a server to do it with."""
    by = f"{session.writer} writes the answers" if session.writer else "Without a model, passages are quoted"
    view.tell(f"Ask a question. {by}. /help lists the commands, /quit leaves.")
    try:
        await session.connection.tools()
    except HarryError as error:
        view.refuse(error)


def _keep(file: TranscriptFile, session: Session, view: AnswerView) -> None:
    """Write the transcript; one that cannot be written is told, and tried again after the next turn."""
    try:
        file.write(session.transcript())
    except HarryError as error:
        view.refuse(error)


async def _turn(session: Session, view: AnswerView, said: str) -> None:
    if not said:
        return
    if not said.startswith("/"):
        view.finish(await session.conversation.ask(said, view.show))
        return
    for line in await _command(session, said):
        view.tell(line)


async def _command(session: Session, said: str) -> list[str]:
    from harry_mcp.agent.reporting_back import complaining, correcting, praising
    from harry_mcp.cli.answer_view import source_line

    name, _, rest = said.partition(" ")
    match name:
        case "/help":
            return [_HELP]
        case "/up":
            return await session.outbox.send(praising(_last(session)))
        case "/down":
            return await session.outbox.send(complaining(_last(session), rest))
        case "/correct":
            return await session.outbox.send(correcting(session.last, rest))
        case "/again":
            return await session.outbox.again()
        case "/sources":
            return [source_line(source) for source in _last(session).sources] or ["The last answer has no sources."]
        case _:
            raise InputError(f"There is no command {name}. /help lists them.")


def _last(session: Session) -> Answer:
    answer = session.last
    if answer is None:
        raise InputError("There is no answer yet. Ask a question first.")
    return answer


class _Lines:
    """Lines of standard input, UTF-8. Where the platform allows, no thread waits for them: it could not be ended.

    There is no line editing but the terminal's own: readline reads in a call that blocks, and Ctrl-C would have to wait
    for it. What the arrow keys send is left out.
    """

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
        return _ESCAPES.sub("", line.decode("utf-8", errors="replace"))

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
