"""An agent put together from the settings: its line to a server, its models, and the record of what was said."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from harry_mcp.agent.answers import Answer, Outcome, spent_of
from harry_mcp.agent.connection import Connection, ServerTarget
from harry_mcp.agent.conversation import Conversation, Models
from harry_mcp.errors import InputError
from harry_mcp.profile import load_profile
from harry_mcp.providers.factory import build_chat_models
from harry_mcp.providers.usage import UsageMeter
from harry_mcp.settings import Settings


class Session:
    """Use it as an async context manager, in one task. Nothing is started before the first question."""

    def __init__(self, settings: Settings, target: ServerTarget, *, local: bool = False) -> None:
        """``local``: quote, even where there is a key.

        Raises:
            SettingsError: the profile cannot be read.
        """
        self.usage = UsageMeter()
        chats = None if local else build_chat_models(settings, self.usage)
        self._chats = chats
        self.connection = Connection(target, settings.agent)
        self.conversation = Conversation(
            self.connection,
            Models(*chats) if chats else None,
            settings=settings.agent,
            style=load_profile(settings.profile).answer_style,
            usage=self.usage,
        )
        self._started = datetime.now(UTC)

    @property
    def last(self) -> Answer | None:
        """The last answer to a question; thanks for it are none."""
        asked = [answer for answer in self.conversation.answers if answer.outcome is not Outcome.REPLIED]
        return asked[-1] if asked else None

    def transcript(self) -> dict[str, Any]:
        """Everything that was asked and answered."""
        return {
            "started_at": self._started.isoformat(timespec="seconds"),
            "server": self.connection.target.name,
            "answers": [answer.as_json() for answer in self.conversation.answers],
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


def write_transcript(path: Path, transcript: dict[str, Any]) -> None:
    """Write a transcript in one step: a reader finds the old one or the new one, whole.

    Raises:
        InputError: the file cannot be written.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        beside.write_text(json.dumps(transcript, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise InputError(f"The transcript {path} cannot be written: {error.strerror}. Name another file.") from error
