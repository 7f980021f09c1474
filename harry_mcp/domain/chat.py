"""A conversation with a model that may call tools: what is said, what comes back, and the tools that it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal


class Stop(StrEnum):
    """Why a turn ended."""

    END = "end"
    TOOLS = "tools"
    CUT = "cut"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it. ``schema`` is the JSON schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model wants a tool called. Nothing in it is to be trusted."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call came to."""

    call_id: str
    text: str
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTurn:
    """One turn of the model.

    ``content`` is for sending back and for nothing else: the provider's own form, thinking included, unchanged.
    """

    text: str
    stop: Stop
    calls: tuple[ToolCall, ...] = ()
    content: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Said:
    """Something said in words."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Replied:
    """A turn of the model earlier in the same answer."""

    turn: ChatTurn


@dataclass(frozen=True, slots=True)
class Returned:
    """What the calls of the turn before came to."""

    results: tuple[ToolResult, ...]


ChatMessage = Said | Replied | Returned
