"""An agent put together from the settings: its line to a server, its models, and the record of what was said."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from harry_mcp.agent.answering import Models
from harry_mcp.agent.answers import Answer, Outcome, spent_of
from harry_mcp.agent.connection import Connection
from harry_mcp.agent.conversation import Conversation
from harry_mcp.agent.outbox import Outbox
from harry_mcp.agent.target import ServerTarget
from harry_mcp.errors import InputError
from harry_mcp.profile import load_profile
from harry_mcp.providers.factory import build_chat_models
from harry_mcp.providers.usage import UsageMeter
from harry_mcp.settings import Settings


class Session:
    """Use it as an async context manager, in one task. Nothing is started before the first question."""

    def __init__(
        self,
        settings: Settings,
        target: ServerTarget,
        *,
        local: bool = False,
        tell: Callable[[str], None] = lambda _line: None,
    ) -> None:
        """``local``: quote, even where there is a key. ``tell`` is given lines for people who are kept waiting.

        Raises:
            SettingsError: the profile cannot be read.
        """
        self.usage = UsageMeter()
        chats = None if local else build_chat_models(settings, self.usage)
        self._chats = chats
        self.connection = Connection(target, settings.agent, tell)
        self.outbox = Outbox(self.connection)
        self.conversation = Conversation(
            self.connection,
            Models(*chats) if chats else None,
            settings=settings.agent,
            style=load_profile(settings.profile).answer_style,
            usage=self.usage,
        )
        self._started = datetime.now(UTC)

    @property
    def writer(self) -> str:
        """The model that writes the answers; empty where passages are quoted."""
        return self._chats[0].name if self._chats else ""

    @property
    def last(self) -> Answer | None:
        """The answer to the last question; thanks for it are none.

        Raises:
            InputError: it got none; what is said now would go to an answer that nobody means.
        """
        if self.conversation.failed:
            raise InputError("The last question got no answer, so nothing can be said of it. Ask it again first.")
        asked = [answer for answer in self.conversation.answers if answer.outcome is not Outcome.REPLIED]
        return asked[-1] if asked else None

    def transcript(self) -> dict[str, Any]:
        """All that was asked, answered and said of answers; ``answer`` counts from 1."""
        answers = self.conversation.answers
        return {
            "started_at": self._started.isoformat(timespec="seconds"),
            "server": self.connection.target.name,
            "answers": [answer.as_json() for answer in answers],
            "feedback": [
                {"answer": answers.index(each.report.about) + 1, **each.as_json()} for each in self.outbox.sent
            ],
            "unanswered": [
                {"question": each.question, "why": each.why, "asked_at": each.asked_at.isoformat(timespec="seconds")}
                for each in self.conversation.failures
            ],
            "spent": spent_of(self.usage).as_json(),
        }

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.connection.close()
        for chat in dict.fromkeys(self._chats or ()):
            await chat.close()
