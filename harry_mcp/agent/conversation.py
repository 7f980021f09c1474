"""The agent: a question goes through the score contract, and what comes back is an answer with its sources."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from harry_mcp.agent.answering import Answerer, Asked, Models
from harry_mcp.agent.answers import Answer, Listener, spent_of
from harry_mcp.agent.connection import Connection
from harry_mcp.agent.contract import CorrectionNote
from harry_mcp.agent.course import wants_web
from harry_mcp.agent.remembering import as_history, said_before
from harry_mcp.agent.sources import Source, Sources
from harry_mcp.agent.toolbox import Toolbox
from harry_mcp.domain.chat import Said
from harry_mcp.domain.courtesies import courtesy
from harry_mcp.domain.plain import one_line, visible
from harry_mcp.errors import HarryError, InputError, ServerUnavailable, ToolFailed
from harry_mcp.providers.usage import UsageMeter
from harry_mcp.settings import AgentSection


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A question that failed, and why."""

    question: str
    why: str
    asked_at: datetime


class Conversation:
    """One conversation with one server. Each answer's sources are numbered anew; addresses stay known.

    ``failed``: the last question got no answer. ``failures`` are all that got none.
    """

    def __init__(
        self, connection: Connection, models: Models | None, *, settings: AgentSection, style: str, usage: UsageMeter
    ) -> None:
        self._connection = connection
        self._answerer = Answerer(models, settings=settings, style=style)
        self._settings = settings
        self._usage = usage
        self._known: set[str] = set()
        self.answers: list[Answer] = []
        self.failures: list[Unanswered] = []
        self.failed = False

    async def ask(self, question: str, listen: Listener) -> Answer:
        """The answer to a question.

        Raises:
            InputError: there is no question.
            ServerUnavailable: the server cannot be asked.
            ToolFailed: the search failed, or the server speaks another contract. That is no "I do not know".
        """
        # It is not cut here: how long it may be is for the server to say.
        question = visible(question).strip()
        if not any(character.isalnum() for character in question) and not courtesy(question, answered=True):
            raise InputError("Ask a question: there are no words in it.")
        self.failed = True
        try:
            answer = await self._answered(question, listen)
        except HarryError as error:
            self.failures.append(Unanswered(question, str(error), datetime.now(UTC)))
            raise
        self.failed = False
        self.answers.append(answer)
        return answer

    async def _answered(self, question: str, listen: Listener) -> Answer:
        started, before = time.monotonic(), spent_of(self._usage)
        asked = await self._looked_up(question, listen)
        answer = await self._answerer.answer(
            asked,
            listen,
            said=self._said_before(),
            spent=lambda: (spent_of(self._usage) - before).dollars,
        )
        self._known |= asked.sources.known
        return replace(
            answer,
            tools=tuple(asked.toolbox.uses),
            spent=spent_of(self._usage) - before,
            seconds=time.monotonic() - started,
        )

    async def _looked_up(self, question: str, listen: Listener) -> Asked:
        """The search, and the web where the contract asks for it."""
        sources = Sources(known=set(self._known))
        toolbox = Toolbox(self._connection, sources, self._settings, listen)
        search = await toolbox.search(question, as_history(self.answers, turns=self._settings.history))
        # Corrections that answer the question outrank hits, so they come first; the others are last.
        first = _numbered(sources, [each for each in search.corrections if each.answers])
        added = sources.add_search(search)
        corrections = first + _numbered(sources, [each for each in search.corrections if not each.answers])
        numbers = {
            hit.url or hit.source or hit.document_id: source for hit, source in zip(search.hits, added, strict=True)
        }
        asked = Asked(question, search, None, toolbox, sources, numbers, corrections)
        if search.degraded:
            asked.degraded = True
            asked.notes.append(f"A part of the search was down: {one_line(', '.join(search.degraded), 200)}.")
        if wants_web(search):
            try:
                asked.web = await toolbox.ask_web(search.query or question, search)
            except (ServerUnavailable, ToolFailed) as error:
                asked.degraded = True
                asked.notes.append(f"The web could not be asked: {error}")
            if asked.web is not None:
                for source in sources.add_web(asked.web):
                    numbers[source.url] = source
        return asked

    def _said_before(self) -> list[Said]:
        longest = self._settings.history_characters
        return said_before(self.answers, turns=self._settings.history, longest=longest)


def _numbered(sources: Sources, notes: Sequence[CorrectionNote]) -> list[tuple[Source, CorrectionNote]]:
    return list(zip(sources.add_corrections(notes), notes, strict=True))
