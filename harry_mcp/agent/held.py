"""A client of the MCP SDK that is open, in a task of its own.

When a request to an address breaks off, the SDK cancels the task that opened the client, whatever that task does by
then. A conversation that had opened it would end with it, without a word.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from mcp.client import Client

T = TypeVar("T")

# Seconds to take leave of a server; beyond them it is left as it is.
_LEAVING = 10.0


class Held:
    """Made by :meth:`opened`; ``client`` may be used by any task until :meth:`close`."""

    def __init__(self, client: Client, holder: asyncio.Task[None], leave: asyncio.Event) -> None:
        self.client = client
        self._holder = holder
        self._leave = leave

    @classmethod
    async def opened(cls, dial: Callable[[AsyncExitStack], Awaitable[Client]]) -> Held:
        """The client that ``dial`` makes, opened. It may put what is to be closed after the client on the stack.

        Raises what ``dial`` and the client raise.
        """
        leave, ready = asyncio.Event(), asyncio.get_running_loop().create_future()
        holder = asyncio.create_task(_hold(dial, ready, leave), name="harry-mcp-client")
        try:
            await asyncio.wait({holder, ready}, return_when=asyncio.FIRST_COMPLETED)
            if not ready.done():
                raise _end_of(holder) or ConnectionError("the connection ended at once")
        except BaseException:
            holder.cancel()
            await asyncio.wait({holder})
            _end_of(holder)
            raise
        return cls(ready.result(), holder, leave)

    async def ask(self, request: Coroutine[Any, Any, T]) -> T:
        """What a request returns or raises; the end of the connection ends it."""
        asked = asyncio.create_task(request)
        try:
            await asyncio.wait({asked, self._holder}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not asked.done():
                asked.cancel()
                await asyncio.wait({asked})
        if asked.cancelled():
            raise _end_of(self._holder) or ConnectionError("the connection ended")
        return asked.result()

    async def close(self) -> BaseException | None:
        """Close the client; what had ended it before, if something had."""
        self._leave.set()
        await asyncio.wait({self._holder}, timeout=_LEAVING)
        if not self._holder.done():
            self._holder.cancel()
            await asyncio.wait({self._holder})
        return _end_of(self._holder)


async def _hold(
    dial: Callable[[AsyncExitStack], Awaitable[Client]], ready: asyncio.Future[Client], leave: asyncio.Event
) -> None:
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(await dial(stack))
        ready.set_result(client)
        await leave.wait()


def _end_of(holder: asyncio.Task[None]) -> BaseException | None:
    return holder.exception() if holder.done() and not holder.cancelled() else None
