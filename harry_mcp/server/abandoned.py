"""Calls whose caller has gone: closing the connection is how clients cancel over HTTP."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# A usual search is over by then, and ending it earlier costs more than it saves: PostgreSQL has to be told over a
# connection of its own, and the one that was interrupted is made anew.
_LEFT_SECONDS = 1.0


class Abandoned:
    """Ends the work on a request soon after its client has closed the connection.

    The SDK looks for that while it streams alone, and would else search to the end for nobody: clients that give up
    and ask again then make a busy server busier. What is written is a transaction, so it is there whole or not at all.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        line = _Line(receive)
        serving = asyncio.ensure_future(self._app(scope, line.receive, send))
        watching = asyncio.create_task(line.watch())
        try:
            await asyncio.wait((serving, watching), return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait((serving,), timeout=_LEFT_SECONDS)
        finally:
            for task in (serving, watching):
                task.cancel()
            await asyncio.gather(serving, watching, return_exceptions=True)
        if not serving.cancelled():
            serving.result()


class _Line:
    """What a client sends: its request, and then that it has gone. One reader at a time, whoever asks."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._whole = asyncio.Event()
        self._gone = asyncio.Event()

    async def receive(self) -> Message:
        if self._whole.is_set():
            await self._gone.wait()
            return {"type": "http.disconnect"}
        message = await self._receive()
        if message["type"] == "http.request":
            if not message.get("more_body"):
                self._whole.set()
            return message
        # Half a request is nothing to work on, nor to report as a failure: whoever waits for the rest is ended.
        self._gone.set()
        self._whole.set()
        return await asyncio.get_running_loop().create_future()

    async def watch(self) -> None:
        """Until the client has gone, whether or not it sent all of its request."""
        await self._whole.wait()
        while not self._gone.is_set():
            if (await self._receive())["type"] == "http.disconnect":
                self._gone.set()
