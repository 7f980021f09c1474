"""Models that write: one answer to one question, or a turn of a conversation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from pydantic import BaseModel

from harry_mcp.domain.chat import ChatMessage, ChatTurn, ToolSpec

Shape = TypeVar("Shape", bound=BaseModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """An answer, and the tokens that it is billed by."""

    text: str
    input_tokens: int = 0
    cache_write_tokens: int = 0
    cache_read_tokens: int = 0
    output_tokens: int = 0


class LanguageModel(Protocol):
    """Answers a question with text, or with an object of a given shape.

    ``timeout`` is in seconds, retries included; None takes what the settings give. A call that is not answered in time
    is cancelled.
    """

    @property
    def name(self) -> str:
        """The model, as recipes and reports name it."""
        ...

    async def complete(
        self, question: str, *, system: str, most_tokens: int, document: str = "", timeout: float | None = None
    ) -> Completion:
        """The answer to a question, about a document when one is given.

        ``system`` and ``document`` come first and are the same for many questions: a provider that can keeps them
        cached between calls. The answer may be cut off at ``most_tokens``.

        Raises:
            ProviderTimeout: no answer in time.
            ProviderNotConfigured: the key or the model is refused; asking again is no use.
            ProviderError: the service failed, or gave no text.
        """
        ...

    async def answer(
        self, question: str, *, system: str, shape: type[Shape], most_tokens: int, timeout: float | None = None
    ) -> Shape:
        """The answer as an object of ``shape``, whose docstring and field descriptions the model reads.

        Raises:
            ProviderTimeout: no answer in time.
            ProviderNotConfigured: the key or the model is refused; asking again is no use.
            ProviderError: the service failed, or the answer does not have the shape.
        """
        ...


class ChatModel(Protocol):
    """Takes part in a conversation and may call tools."""

    @property
    def name(self) -> str: ...

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
        """The next turn. The first part of ``system`` is the same for all conversations and may be cached.

        ``hear`` gets the text piece by piece as it comes. When an attempt breaks off and the next one begins,
        ``start_over`` says that what was heard of this turn is void. ``tools`` stay listed, for earlier turns name
        them; without ``may_call`` none may be called.

        Raises:
            ProviderTimeout: no answer in time.
            ProviderNotConfigured: the key or the model is refused; asking again is no use.
            ProviderError: the service failed.
        """
        ...
