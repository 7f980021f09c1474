"""The Messages API as a script of streamed turns, and a session of the agent against a real server."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from pydantic import SecretStr

from harry_mcp.agent.answers import Answer as AgentAnswer
from harry_mcp.agent.answers import Called, Event, Heard, Withdrawn
from harry_mcp.agent.session import Session
from harry_mcp.agent.target import ServerTarget
from harry_mcp.settings import Settings
from tests.providers.vendor import Answer, Asked, Vendor, vendor
from tests.server.test_stdio import COMMAND

KEY = "sk-ant-hush-hush-hush"
Turn = Answer | Callable[[Asked], Answer]


def text(words: str, *, pieces: int = 12) -> dict[str, Any]:
    """A block of text that comes in pieces of so many characters."""
    return {"type": "text", "text": words, "pieces": pieces}


def tool(name: str, arguments: Any, *, call: str = "toolu_1") -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": name, "input": arguments}


def thinking(words: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": words, "signature": "signed"}


def streamed(*blocks: dict[str, Any], stop: str = "", cut: int = 0, fault: str = "", half: bool = False) -> Answer:
    """A streamed turn. ``cut`` leaves out so many events of its end; ``fault`` ends it with an error of that
    kind; ``half`` loses the line in the middle."""
    reason = stop or ("tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn")
    start: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5-5",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 1000, "output_tokens": 1, "cache_read_input_tokens": 500},
    }
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(blocks):
        events += _block(index, block)
    delta = {"stop_reason": reason, "stop_sequence": None}
    events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 100}})
    events.append({"type": "message_stop"})
    events = events[: len(events) - cut] if cut else events
    if fault:
        events[-2:] = [{"type": "error", "error": {"type": fault, "message": "Overloaded"}}]
    body = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    return Answer(body, headers={"content-type": "text/event-stream"}, half=half)


def _block(index: int, block: dict[str, Any]) -> list[dict[str, Any]]:
    kind = block["type"]
    if kind == "text":
        words, size = block["text"], block["pieces"]
        shell: dict[str, Any] = {"type": "text", "text": ""}
        deltas = [{"type": "text_delta", "text": words[place : place + size]} for place in range(0, len(words), size)]
    elif kind == "thinking":
        shell = {"type": "thinking", "thinking": "", "signature": ""}
        deltas = [
            {"type": "thinking_delta", "thinking": block["thinking"]},
            {"type": "signature_delta", "signature": block["signature"]},
        ]
    else:
        shell = {**block, "input": {}}
        deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
    return [
        {"type": "content_block_start", "index": index, "content_block": shell},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def said(*words: str) -> Answer:
    """A turn that says something and ends."""
    return streamed(text(" ".join(words)))


class ScriptedChat:
    """Plays turns in their order, the last one for ever; ``asked`` holds the bodies of the requests."""

    def __init__(self, *turns: Turn) -> None:
        self._turns = turns
        self.asked: list[dict[str, Any]] = []

    def play(self, *turns: Turn) -> None:
        """Another script from now on."""
        self._turns = turns
        self.asked = []

    def __call__(self, asked: Asked, _number: int) -> Answer:
        turn = self._turns[min(len(self.asked), len(self._turns) - 1)]
        self.asked.append(asked.body)
        return turn if isinstance(turn, Answer) else turn(asked)


@dataclass
class Talk:
    """A session, its scripted model, and what a person saw."""

    session: Session
    chat: ScriptedChat
    api: Vendor
    events: list[Event] = field(default_factory=list[Event])

    async def ask(self, question: str, *turns: Turn) -> AgentAnswer:
        """Ask; ``turns`` are played for it where there are any."""
        self.events.clear()
        if turns:
            self.chat.play(*turns)
        return await self.session.conversation.ask(question, self.events.append)

    @property
    def heard(self) -> str:
        """The text on the screen at the end."""
        shown = ""
        for event in self.events:
            if isinstance(event, Heard):
                shown += event.text
            elif isinstance(event, Withdrawn):
                shown = ""
        return shown

    @property
    def tools(self) -> list[tuple[str, str, bool]]:
        return [(event.use.by, event.use.name, event.use.ok) for event in self.events if isinstance(event, Called)]


def own_server(settings: Settings, **environment: str) -> ServerTarget:
    """`harry serve` on the database of a test, without keys."""
    given = {"HARRY_DATABASE_URL": settings.database_url.get_secret_value(), **environment}
    return ServerTarget(command=tuple(COMMAND), environment={"ANTHROPIC_API_KEY": "", **given})


@asynccontextmanager
async def talking(
    settings: Settings,
    *turns: Turn,
    target: ServerTarget | None = None,
    agent: Mapping[str, object] | None = None,
    claude: Mapping[str, object] | None = None,
) -> AsyncGenerator[Talk]:
    """The agent with the real SDK against scripted turns, or without a key where there are none."""
    chat = ScriptedChat(*turns)
    async with vendor(chat) as api:
        rules: dict[str, object] = {"retries": 1, "timeout": 20.0, "patience": 20.0, "base_url": api.url}
        changed = settings.model_copy(
            update={
                "anthropic_api_key": SecretStr(KEY if turns else ""),
                "claude": settings.claude.model_copy(update=rules | dict(claude or {})),
                "agent": settings.agent.model_copy(update=dict(agent or {})),
            }
        )
        async with Session(changed, target or own_server(settings)) as session:
            yield Talk(session, chat, api)
