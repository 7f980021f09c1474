"""The line to a service: bounded attempts within a time, silence while the service is down, no key in what it says."""

from __future__ import annotations

import asyncio
import random
import traceback
from collections.abc import Awaitable, Callable
from typing import Generic, Protocol, TypeVar

from harry_mcp.errors import ProviderError, ProviderTimeout
from harry_mcp.metering import provider_call
from harry_mcp.providers.breaker import BreakerRules, CircuitBreaker
from harry_mcp.providers.wire import redacted

Client = TypeVar("Client")
T = TypeVar("T")

_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 8.0


class Failed(Exception):
    """One attempt failed.

    ``passing``: the next attempt may go better. ``retry_after``: seconds that the service asks to wait, None when it
    names none. ``blameless``: the request was at fault and not the service.
    """

    def __init__(
        self,
        error: ProviderError,
        *,
        passing: bool = False,
        retry_after: float | None = None,
        blameless: bool = False,
    ) -> None:
        super().__init__(str(error))
        self.error = error
        self.passing = passing
        self.retry_after = retry_after
        self.blameless = blameless


class LineRules(BreakerRules, Protocol):
    """``retries`` attempts after the first, all of them within ``patience`` seconds where the caller names no time."""

    @property
    def retries(self) -> int: ...
    @property
    def patience(self) -> float: ...


class Line(Generic[Client]):
    """Calls to one service through its SDK's client, which is made at the first call, off the event loop."""

    def __init__(self, connect: Callable[[], Client], rules: LineRules, *, name: str, key: str) -> None:
        """``name``: the model, as errors call it. ``key`` is kept out of them."""
        self._connect = connect
        self._rules = rules
        self._name = name
        self._key = key
        self._breaker = CircuitBreaker(rules)
        self._connecting: asyncio.Task[Client] | None = None
        self.client: Client | None = None

    async def load(self) -> Client:
        """Import the SDK and make the client now instead of at the first call."""
        if self.client is not None:
            return self.client
        connecting = self._connecting or asyncio.create_task(asyncio.to_thread(self._connect))
        self._connecting = connecting
        try:
            # A caller whose time is over goes away; the import goes on for the next one.
            client = await asyncio.shield(connecting)
        except BaseException:
            if connecting.done():
                self._connecting = None
            raise
        self.client = client
        return client

    async def call(self, attempt: Callable[[Client], Awaitable[T]], *, timeout: float | None = None) -> T:
        """What ``attempt`` returns, tried as often as the rules say within ``timeout`` seconds.

        ``attempt`` raises :class:`Failed` for what is the service's doing.

        Raises:
            ProviderTimeout: the time is over; the attempt was cancelled.
            ProviderError: the last attempt failed, or the service is left alone.
        """
        with provider_call(self._name):
            return await self._call(attempt, self._rules.patience if timeout is None else timeout)

    async def _call(self, attempt: Callable[[Client], Awaitable[T]], seconds: float) -> T:
        permit = self._breaker.admit()
        late = ProviderTimeout(f"{self._name} did not answer in time ({seconds:.3g} s). Try again later.")
        limit = asyncio.timeout(seconds)
        reached = False
        try:
            async with limit:
                client = await self.load()
                reached = True
                answer = await self._attempts(client, attempt, limit)
        except TimeoutError as error:
            # Importing an SDK takes a second or two on a slow disk, for which the service is not to blame.
            self._settle(permit, late if reached else None)
            raise late from error
        except Failed as failed:
            error = self._redacted(failed.error)
            if failed.blameless:
                self._breaker.succeeded(permit)
            else:
                self._settle(permit, error)
            raise error from self._cause(failed)
        except BaseException:
            self._settle(permit, None)
            raise
        self._breaker.succeeded(permit)
        return answer

    async def _attempts(self, client: Client, attempt: Callable[[Client], Awaitable[T]], limit: asyncio.Timeout) -> T:
        number = 0
        while True:
            try:
                return await attempt(client)
            except Failed as failed:
                if not failed.passing or number >= self._rules.retries:
                    raise
                await self._pause(failed, number, limit)
                number += 1

    async def _pause(self, failed: Failed, number: int, limit: asyncio.Timeout) -> None:
        """Wait for the next attempt, or fail now when it would come too late."""
        wait = failed.retry_after
        if wait is None:
            wait = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**number) * random.uniform(0.75, 1)
        left = (limit.when() or 0.0) - asyncio.get_running_loop().time()
        if wait < left:
            await asyncio.sleep(wait)
        elif failed.retry_after is None:
            raise failed
        else:
            told = f"{failed.error} It asks to wait {wait:.0f} s, and there are {max(left, 0.0):.1f} s left."
            raise Failed(type(failed.error)(told)) from failed.__cause__

    def _settle(self, permit: int, error: ProviderError | None) -> None:
        if error is None:
            self._breaker.abandoned(permit)
        else:
            self._breaker.failed(permit, error)

    def _redacted(self, error: ProviderError) -> ProviderError:
        return type(error)(redacted(str(error), self._key))

    def _cause(self, failed: Failed) -> BaseException | None:
        """What the SDK raised, unless a traceback of it would show the key."""
        cause = failed.__cause__
        shown = "".join(traceback.format_exception(cause)) if cause else ""
        return None if redacted(shown, self._key) != shown else cause
