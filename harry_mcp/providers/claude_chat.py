"""Claude in a conversation: turns that stream and may call tools.

No setting of thinking is sent, for each model has its own: they decide by ``effort``. Their thoughts go back as they
came within one answer, and never into the next one, for they are bound to the model and to the words before them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from harry_mcp.domain.chat import ChatMessage, ChatTurn, Replied, Said, Stop, ToolCall, ToolSpec
from harry_mcp.errors import ProviderError
from harry_mcp.providers.anthropic import CACHED, billed, connect, failure
from harry_mcp.providers.line import Failed, Line
from harry_mcp.providers.usage import Prices, UsageMeter, dollars
from harry_mcp.providers.wire import sendable
from harry_mcp.settings import ClaudeSection

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types import Message

_STOPS = {
    "end_turn": Stop.END,
    "stop_sequence": Stop.END,
    "tool_use": Stop.TOOLS,
    "max_tokens": Stop.CUT,
    "model_context_window_exceeded": Stop.CUT,
    "pause_turn": Stop.CUT,
    "refusal": Stop.REFUSED,
}
# No text has so many characters to a token, but what a broken gateway sends may.
_TOKEN_CHARACTERS = 100


class ClaudeChat:
    """One model in conversations. The SDK is imported at the first turn."""

    def __init__(
        self,
        key: str,
        settings: ClaudeSection,
        *,
        model: str,
        setting: str,
        prices: Prices,
        effort: str,
        most_tokens: int,
        usage: UsageMeter,
    ) -> None:
        """``setting``: what names the model, for when there is none of that name."""
        self._settings = settings
        self._model = model
        self._setting = setting
        self._prices = prices
        self._effort = effort
        self._most_tokens = most_tokens
        self._usage = usage
        self._line: Line[AsyncAnthropic] = Line(lambda: connect(key, settings), settings, name=model, key=key)

    @property
    def name(self) -> str:
        return self._model

    async def load(self) -> None:
        """Import the SDK now instead of at the first turn."""
        await self._line.load()

    async def close(self) -> None:
        if self._line.client is not None:
            await self._line.client.close()

    async def turn(
        self,
        messages: Sequence[ChatMessage],
        *,
        system: Sequence[str],
        tools: Sequence[ToolSpec],
        may_call: bool,
        timeout: float | None,
        hear: Callable[[str], None],
        start_over: Callable[[], None],
    ) -> ChatTurn:
        request = self._request(messages, system, tools, may_call)
        heard = False

        async def attempt(client: AsyncAnthropic) -> ChatTurn:
            nonlocal heard
            if heard:
                heard = False
                start_over()

            def pass_on(text: str) -> None:
                nonlocal heard
                heard = True
                hear(text)

            message = await self._streamed(client, request, pass_on)
            tokens = billed(message)
            self._usage.add(self.name, tokens, dollars=dollars(tokens, self._prices))
            return _turn(self.name, message)

        return await self._line.call(attempt, timeout=timeout)

    def _request(
        self, messages: Sequence[ChatMessage], system: Sequence[str], tools: Sequence[ToolSpec], may_call: bool
    ) -> dict[str, Any]:
        parts: list[dict[str, Any]] = [{"type": "text", "text": sendable(part)} for part in system if part]
        if parts:
            parts[0]["cache_control"] = CACHED
        told = [_message(each) for each in messages]
        # All of it comes again with the next turn.
        told[-1]["content"][-1]["cache_control"] = CACHED
        request: dict[str, Any] = {
            "model": self._model,
            "max_tokens": self._most_tokens,
            "system": parts,
            "messages": told,
            "output_config": {"effort": self._effort},
        }
        if tools:
            request["tools"] = [
                {"name": tool.name, "description": sendable(tool.description), "input_schema": dict(tool.schema)}
                for tool in tools
            ]
            request["tool_choice"] = {"type": "auto" if may_call else "none"}
        return request

    async def _streamed(
        self, client: AsyncAnthropic, request: dict[str, Any], pass_on: Callable[[str], None]
    ) -> Message:
        import anthropic
        import httpx2

        stream: Any = client.messages.stream  # its overloads cannot follow a dict
        whole: Message | None = None
        left = self._most_tokens * _TOKEN_CHARACTERS
        try:
            async with stream(**request) as events:
                async for event in events:
                    if event.type == "text":
                        left -= len(event.text)
                        if left < 0:
                            raise Failed(ProviderError(f"{self.name} answered far more than it was asked for."))
                        pass_on(event.text)
                    elif event.type == "message_stop":
                        whole = event.message
        except httpx2.TimeoutException as error:
            raise Failed(ProviderError(f"{self.name} stopped in the middle of its answer."), passing=True) from error
        except httpx2.HTTPError as error:
            raise Failed(ProviderError(f"The line to {self.name} broke off."), passing=True) from error
        except (
            anthropic.AnthropicError,
            ValueError,
            TypeError,
            AttributeError,
            LookupError,
            RuntimeError,  # events in an order that makes no message
        ) as error:
            raise failure(error, self.name, self._settings.base_url, setting=self._setting) from error
        if whole is None:
            raise Failed(ProviderError(f"{self.name} broke off its answer."), passing=True)
        return whole


def _message(message: ChatMessage) -> dict[str, Any]:
    if isinstance(message, Said):
        return {"role": message.role, "content": [{"type": "text", "text": sendable(message.text)}]}
    if isinstance(message, Replied):
        return {"role": "assistant", "content": [dict(block) for block in message.turn.content]}
    return {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": result.call_id,
                "content": [{"type": "text", "text": sendable(result.text)}],
                **({"is_error": True} if result.failed else {}),
            }
            for result in message.results
        ],
    }


def _turn(name: str, message: Message) -> ChatTurn:
    """A message read with care: the SDK builds it unchecked from any JSON."""
    content: Any = getattr(message, "content", None)
    blocks = cast(list[Any], content) if isinstance(content, list) else []
    stop = _STOPS.get(str(getattr(message, "stop_reason", "")), Stop.END)
    texts: list[str] = []
    calls: list[ToolCall] = []
    kept: list[Mapping[str, Any]] = []
    for block in blocks:
        kind = getattr(block, "type", "")
        if kind == "text" and isinstance(block.text, str) and block.text.strip():
            texts.append(block.text)
            kept.append({"type": "text", "text": block.text})
        elif kind == "tool_use" and stop is Stop.TOOLS:  # one that was cut off has but half of its arguments
            sent: Any = block.input
            given = cast(dict[str, Any], sent) if isinstance(sent, dict) else {}
            calls.append(ToolCall(str(block.id), str(block.name), given))
            kept.append({"type": "tool_use", "id": str(block.id), "name": str(block.name), "input": given})
        elif kind in ("thinking", "redacted_thinking"):
            kept.append(block.to_dict())
    if stop is Stop.TOOLS and not calls:
        raise Failed(ProviderError(f"{name} says that it calls a tool, and names none."))
    return ChatTurn(text="".join(texts), stop=stop, calls=tuple(calls), content=tuple(kept))
