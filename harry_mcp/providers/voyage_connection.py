"""The connection to Voyage AI: the only importer of its SDK.

The SDK opens a connection for every request, takes a status such as 529 for an answer, loses Retry-After when the body
is not what it expects, and retries without regard to it. It lets its caller bring the HTTP session, so ours keeps its
connections and looks at every response before the SDK does; the retries are those of the line.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from harry_mcp.errors import ProviderError, ProviderNotConfigured, ProviderTimeout
from harry_mcp.ports import Completion
from harry_mcp.providers.line import Failed, Line
from harry_mcp.providers.usage import UsageMeter
from harry_mcp.providers.wire import may_pass, seconds_to_wait, sendable, sendable_key, short, silence
from harry_mcp.settings import VoyageSection

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession
    from voyageai.client_async import AsyncClient

T = TypeVar("T")

# Statuses of a request that is the caller's own fault: no sign that the service is down.
_BLAMELESS = (400, 413, 422)


class VoyageConnection:
    """Calls for one model. Without a key every use fails."""

    def __init__(
        self, key: str, settings: VoyageSection, *, model: str, local: str, usage: UsageMeter | None = None
    ) -> None:
        """``local``: the setting that does without this model when it is ``local``; errors advise it."""
        self._key = key
        self._settings = settings
        self._model = model
        self._local = local
        self._usage = usage or UsageMeter()
        self._line: Line[AsyncClient] = Line(self._connect, settings, name=model, key=key)
        # Generators are closed by the event loop at its end: nobody has to remember the session.
        self._sessions: AsyncGenerator[ClientSession, None] | None = None
        self._session: ClientSession | None = None

    async def load(self) -> None:
        """Import the SDK now instead of at the first call."""
        await self._line.load()

    async def close(self) -> None:
        """Let go of the connections now instead of at the end of the event loop."""
        if self._sessions is not None:
            await self._sessions.aclose()
        self._sessions = self._session = None

    async def call(self, request: Callable[[AsyncClient], Awaitable[T]], *, timeout: float | None = None) -> T:
        """What ``request`` makes of the SDK's answer.

        It raises :class:`Failed` for an answer that cannot be used, and may trip over one that is not of its form.
        """

        async def attempt(client: AsyncClient) -> T:
            import voyageai

            mine = voyageai.aiosession.set(await self._kept_session())
            try:
                return await self._translated(client, request)
            finally:
                voyageai.aiosession.reset(mine)

        return await self._line.call(attempt, timeout=timeout)

    def used(self, tokens: object, price: float) -> None:
        """Count an answer that was billed by so many tokens."""
        count = tokens if isinstance(tokens, int) and tokens > 0 else 0
        self._usage.add(self._model, Completion(text="", input_tokens=count), dollars=count * price / 1_000_000)

    async def _translated(self, client: AsyncClient, request: Callable[[AsyncClient], Awaitable[T]]) -> T:
        from voyageai import error as voyage

        try:
            return await request(client)
        except voyage.Timeout as error:
            slow = ProviderTimeout(f"{self._model} did not answer in time. Try again later.")
            raise Failed(slow, passing=True) from error
        except voyage.APIConnectionError as error:
            why = short(error.__cause__ or error)
            gone = ProviderError(f"{self._model} cannot be reached at {self._settings.base_url}: {why}.")
            raise Failed(gone, passing=True) from error
        # A body that is no JSON, or JSON without the fields that the SDK reads.
        except (voyage.VoyageError, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            odd = ProviderError(f"{self._model} answered what it was not asked for: {short(error)}.")
            raise Failed(odd) from error

    async def _looked_at(self, response: ClientResponse) -> None:
        """The whole body is here, and the status is one of success; else the attempt failed."""
        body = await response.read()
        status = response.status
        if status < 400:
            return
        why = _detail(body)
        if status in (401, 402, 403):
            advice = f"Check the key, or set {self._local} to local."
            raise Failed(ProviderNotConfigured(f"VOYAGE_API_KEY is missing or refused ({status}): {why}. {advice}"))
        if status == 404:
            where = self._settings.base_url
            raise Failed(ProviderNotConfigured(f"There is no {self._model} at {where} ({why}). Check both settings."))
        raise Failed(
            ProviderError(f"{self._model} failed with status {status}: {why}."),
            passing=may_pass(status),
            retry_after=seconds_to_wait({name.lower(): value for name, value in response.headers.items()}),
            blameless=status in _BLAMELESS,
        )

    async def _kept_session(self) -> ClientSession:
        if self._session is None:
            self._sessions = self._opened()
            self._session = await anext(self._sessions)
        return self._session

    async def _opened(self) -> AsyncGenerator[ClientSession, None]:
        from aiohttp import ClientSession

        async with ClientSession(raise_for_status=self._looked_at) as session:
            yield session

    def _connect(self) -> AsyncClient:
        if not self._key:
            raise ProviderNotConfigured(
                f"There is no VOYAGE_API_KEY for {self._model}. Set it, or {self._local} to local."
            )
        from voyageai.client_async import AsyncClient

        silence("voyage")
        s = self._settings
        key = sendable_key(self._key, "VOYAGE_API_KEY")
        return AsyncClient(api_key=key, max_retries=0, timeout=s.timeout, base_url=s.base_url)


def filled(text: str) -> str:
    """The text, a full stop for an empty one: the service refuses those, and they have no meaning to embed."""
    return sendable(text) if text.strip() else "."


def _detail(body: bytes) -> str:
    """What the service says about it: the ``detail`` of its errors, or the body as it is."""
    text = body.decode("utf-8", "replace")
    try:
        found: Any = json.loads(text)
    except ValueError:
        found = None
    detail: Any = cast(dict[str, Any], found).get("detail") if isinstance(found, dict) else None
    return short(detail or text or "no reason given")
