"""Claude through Anthropic's Messages API: the only importer of its SDK.

The SDK's own retries wait as long as Retry-After says, be it a day, so they are off and those of the line are on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from harry_mcp.errors import ProviderError, ProviderNotConfigured, ProviderTimeout
from harry_mcp.ports import Completion, Shape
from harry_mcp.providers.line import Failed, Line
from harry_mcp.providers.usage import UsageMeter, dollars
from harry_mcp.providers.wire import may_pass, seconds_to_wait, sendable, sendable_key, short, silence
from harry_mcp.settings import ClaudeSection

if TYPE_CHECKING:
    import anthropic
    from anthropic import AsyncAnthropic
    from anthropic.types import Message

T = TypeVar("T")

# Statuses of a request that is the caller's own fault: no sign that the service is down.
_BLAMELESS = (400, 413, 422)
_STATUSES = {
    "overloaded_error": 529,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
}
CACHED = {"type": "ephemeral"}
# No text has so many characters to a token, but what a broken gateway sends may.
_TOKEN_CHARACTERS = 100


class Claude:
    """A Claude model. The SDK is imported at the first question."""

    def __init__(self, key: str, settings: ClaudeSection, usage: UsageMeter | None = None) -> None:
        self._key = key
        self._settings = settings
        self._usage = usage or UsageMeter()
        self._line: Line[AsyncAnthropic] = Line(self._connect, settings, name=settings.model, key=key)

    @property
    def name(self) -> str:
        return self._settings.model

    async def load(self) -> None:
        """Import the SDK now instead of at the first question."""
        await self._line.load()

    async def complete(
        self, question: str, *, system: str, most_tokens: int, document: str = "", timeout: float | None = None
    ) -> Completion:
        request = self._request(question, system, document, most_tokens)
        return await self._asked(request, lambda message: _completion(self.name, message, most_tokens), timeout)

    async def answer(
        self, question: str, *, system: str, shape: type[Shape], most_tokens: int, timeout: float | None = None
    ) -> Shape:
        def read(message: Message) -> Shape:
            text = _completion(self.name, message, most_tokens).text
            try:
                return shape.model_validate_json(text)
            except ValidationError as error:
                raise Failed(_other_shape(self.name, shape.__name__, message, error)) from None

        return await self._asked(self._request(question, system, "", most_tokens), read, timeout, shape)

    async def check(self) -> None:
        """Look the model up, which costs nothing; a ProviderError says that the address or the key is wrong."""

        async def attempt(client: AsyncAnthropic) -> None:
            import anthropic

            try:
                await client.models.retrieve(self._settings.model)
            except anthropic.NotFoundError:
                return  # gateways have other models, or no list of them; the key was taken
            except (anthropic.AnthropicError, ValueError, TypeError, AttributeError) as error:
                raise failure(error, self.name, self._settings.base_url) from error

        await self._line.call(attempt, timeout=None)

    async def close(self) -> None:
        if self._line.client is not None:
            await self._line.client.close()

    def _request(self, question: str, system: str, document: str, most_tokens: int) -> dict[str, Any]:
        """What is sent. What stays the same for many questions ends with the block that is cached.

        The API caches no prompt that is too short for it, and charges nothing for having been asked to.
        """
        content: list[dict[str, Any]] = [{"type": "text", "text": sendable(question)}]
        if document:
            content.insert(0, {"type": "text", "text": sendable(document), "cache_control": CACHED})
        return {
            "model": self._settings.model,
            "max_tokens": most_tokens,
            "system": system if document else [{"type": "text", "text": system, "cache_control": CACHED}],
            "thinking": {"type": "disabled"},
            "messages": [{"role": "user", "content": content}],
        }

    async def _asked(
        self,
        request: dict[str, Any],
        read: Callable[[Message], T],
        timeout: float | None,
        shape: type[BaseModel] | None = None,
    ) -> T:
        async def attempt(client: AsyncAnthropic) -> T:
            message = await self._sent(client, request | (_output(shape) if shape else {}))
            tokens = billed(message)
            self._usage.add(self.name, tokens, dollars=dollars(tokens, self._settings))
            return read(message)

        return await self._line.call(attempt, timeout=timeout)

    async def _sent(self, client: AsyncAnthropic, request: dict[str, Any]) -> Message:
        import anthropic

        create: Any = client.messages.create  # its overloads cannot follow a dict
        try:
            message: Message = await create(**request)
        except (anthropic.AnthropicError, ValueError, TypeError, AttributeError) as error:
            raise failure(error, self.name, self._settings.base_url) from error
        return message

    def _connect(self) -> AsyncAnthropic:
        return connect(self._key, self._settings)


def connect(key: str, settings: ClaudeSection) -> AsyncAnthropic:
    """The SDK's client, without its retries."""
    from anthropic import AsyncAnthropic

    silence("anthropic", "httpx2", "httpcore2")
    sent = sendable_key(key, "ANTHROPIC_API_KEY")
    return AsyncAnthropic(api_key=sent, base_url=settings.base_url, timeout=settings.timeout, max_retries=0)


def failure(error: Exception, model: str, base_url: str, *, setting: str = "HARRY_CLAUDE__MODEL") -> Failed:
    """What an exception of the SDK says of the service. ``setting`` names the model that was asked for."""
    import anthropic

    if isinstance(error, anthropic.APITimeoutError):
        return Failed(ProviderTimeout(f"{model} did not answer in time. Try again later."), passing=True)
    if isinstance(error, anthropic.APIStatusError):
        return _refused(error, model, setting)
    if isinstance(error, anthropic.APIConnectionError):
        why = short(error.__cause__ or error)
        return Failed(ProviderError(f"{model} cannot be reached at {base_url}: {why}."), passing=True)
    # A body that is no message.
    return Failed(ProviderError(f"{model} answered what is no message: {short(error)}."))


def _refused(error: anthropic.APIStatusError, model: str, setting: str) -> Failed:
    status, why = _status(error), _reason(error)
    if status in (401, 402, 403):
        return Failed(ProviderNotConfigured(f"ANTHROPIC_API_KEY is refused ({status}): {why}. Check the key."))
    if status == 404:
        return Failed(ProviderNotConfigured(f"There is no model {model} ({why}). Check {setting}."))
    headers = error.response.headers
    advised = headers.get("x-should-retry", "")
    return Failed(
        ProviderError(f"{model} failed with status {status}: {why}."),
        passing=advised == "true" or (may_pass(status) and advised != "false"),
        retry_after=seconds_to_wait(headers),
        blameless=status in _BLAMELESS,
    )


def _status(error: anthropic.APIStatusError) -> int:
    """The status; that of a fault told in the middle of a stream, which began with 200, by its kind."""
    if error.status_code != 200:
        return error.status_code
    found: Any = getattr(error, "body", None)
    for name in ("error", "type"):
        found = cast(dict[str, Any], found).get(name) if isinstance(found, dict) else None
    return _STATUSES.get(str(found), 500)


def _output(shape: type[BaseModel]) -> dict[str, Any]:
    """The part of a request that holds the answer to a shape."""
    from anthropic import transform_schema

    return {"output_config": {"format": {"type": "json_schema", "schema": transform_schema(shape)}}}


def _reason(error: Exception) -> str:
    """What the service says about it."""
    found: Any = getattr(error, "body", None)
    for name in ("error", "message"):
        found = cast(dict[str, Any], found).get(name) if isinstance(found, dict) else None
    return short(found or error)


def _completion(name: str, message: Message, most_tokens: int) -> Completion:
    """The text and the tokens of a message, nothing taken on trust: the SDK builds it unchecked from any JSON."""
    content: Any = getattr(message, "content", None)
    blocks = cast(list[Any], content) if isinstance(content, list) else []
    texts = [getattr(block, "text", None) for block in blocks if getattr(block, "type", "") == "text"]
    text = "".join(each for each in texts if isinstance(each, str))
    if getattr(message, "stop_reason", "") == "refusal":
        raise Failed(ProviderError(f"{name} refused to answer."), blameless=True)
    if not text.strip():
        raise Failed(ProviderError(f"{name} answered without text."))
    if len(text) > most_tokens * _TOKEN_CHARACTERS:
        raise Failed(ProviderError(f"{name} answered far more than the {most_tokens} tokens that it was asked for."))
    return replace(billed(message), text=text)


def billed(message: Message) -> Completion:
    """The tokens of a message, without its text."""
    usage = getattr(message, "usage", None)

    def tokens(field: str) -> int:
        found = getattr(usage, field, 0)
        return max(0, found) if isinstance(found, int) else 0

    return Completion(
        text="",
        input_tokens=tokens("input_tokens"),
        cache_write_tokens=tokens("cache_creation_input_tokens"),
        cache_read_tokens=tokens("cache_read_input_tokens"),
        output_tokens=tokens("output_tokens"),
    )


def _other_shape(name: str, shape: str, message: Message, error: ValidationError) -> ProviderError:
    """What is wrong with an answer, without repeating it: it may quote a document."""
    if getattr(message, "stop_reason", "") == "max_tokens":
        return ProviderError(f"{name} did not finish its {shape} within the tokens that it had.")
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "the whole"
    return ProviderError(f"{name} answered what is no {shape}: {where}: {short(first['msg'])}.")
