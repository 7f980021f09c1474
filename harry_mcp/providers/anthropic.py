"""Claude through Anthropic's Messages API: the only importer of its SDK."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from harry_mcp.errors import ProviderError, ProviderNotConfigured, ProviderTimeout
from harry_mcp.ports import Completion
from harry_mcp.settings import ClaudeSection

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types import Message


class Claude:
    """A Claude model. The SDK is imported at the first question."""

    def __init__(self, key: str, settings: ClaudeSection) -> None:
        self._key = key
        self._settings = settings
        self._client: AsyncAnthropic | None = None

    @property
    def name(self) -> str:
        return self._settings.model

    async def complete(self, question: str, *, system: str, document: str, most_tokens: int) -> Completion:
        client = self._client or await asyncio.to_thread(self._connect)
        self._client = client
        import anthropic

        try:
            # The SDK waits as long as Retry-After says, be it a day: all attempts together have a limit too.
            async with asyncio.timeout(self._settings.patience):
                message = await client.messages.create(
                    model=self._settings.model,
                    max_tokens=most_tokens,
                    system=system,
                    thinking={"type": "disabled"},
                    messages=[
                        {
                            "role": "user",
                            "content": [
                                {"type": "text", "text": document, "cache_control": {"type": "ephemeral"}},
                                {"type": "text", "text": question},
                            ],
                        }
                    ],
                )
        except (TimeoutError, anthropic.APITimeoutError) as error:
            raise ProviderTimeout(f"{self.name} did not answer in time. Try again later.") from error
        except anthropic.APIStatusError as error:
            raise _refused(self.name, error.status_code, _reason(error)) from error
        except anthropic.APIConnectionError as error:
            raise ProviderError(
                f"{self.name} cannot be reached at {self._settings.base_url}: {error.__cause__ or error}."
            ) from error
        except (anthropic.AnthropicError, ValueError) as error:  # a body that is no message
            raise ProviderError(f"{self.name} answered what is no message: {_short(error)}.") from error
        return _completion(self.name, message)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    def _connect(self) -> AsyncAnthropic:
        from anthropic import AsyncAnthropic

        s = self._settings
        return AsyncAnthropic(api_key=self._key, base_url=s.base_url, timeout=s.timeout, max_retries=s.retries)


def _refused(name: str, status: int, reason: str) -> ProviderError:
    if status in (401, 403):
        return ProviderNotConfigured(f"ANTHROPIC_API_KEY is refused ({status}): {reason}. Check the key.")
    if status == 404:
        return ProviderNotConfigured(f"There is no model {name} ({reason}). Check HARRY_CLAUDE__MODEL.")
    return ProviderError(f"{name} failed with status {status}: {reason}.")


def _reason(error: Exception) -> str:
    """What the service says, without the key or the prompt: the SDK's message repeats neither."""
    found: Any = getattr(error, "body", None)
    for name in ("error", "message"):
        found = cast(dict[str, Any], found).get(name) if isinstance(found, dict) else None
    return _short(found or error)


def _short(what: object) -> str:
    return " ".join(str(what).split())[:200].rstrip(". ") or type(what).__name__


def _completion(name: str, message: Message) -> Completion:
    """The text and the tokens of a message, nothing taken on trust: the SDK builds it unchecked from any JSON."""
    content: Any = getattr(message, "content", None)
    blocks = cast(list[Any], content) if isinstance(content, list) else []
    texts = [getattr(block, "text", None) for block in blocks if getattr(block, "type", "") == "text"]
    text = "".join(each for each in texts if isinstance(each, str))
    if getattr(message, "stop_reason", "") == "refusal":
        raise ProviderError(f"{name} refused to answer.")
    if not text.strip():
        raise ProviderError(f"{name} answered without text.")
    usage = getattr(message, "usage", None)

    def tokens(field: str) -> int:
        found = getattr(usage, field, 0)
        return found if isinstance(found, int) else 0

    return Completion(
        text=text,
        input_tokens=tokens("input_tokens"),
        cache_write_tokens=tokens("cache_creation_input_tokens"),
        cache_read_tokens=tokens("cache_read_input_tokens"),
        output_tokens=tokens("output_tokens"),
    )
