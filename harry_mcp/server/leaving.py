"""Going without breaking a call: callers are told first, and let go of their connections by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Leaving:
    """Whether this process is about to end. It is not ready from then on, and answers all the same."""

    def __init__(self) -> None:
        self.announced = False

    def announce(self) -> None:
        self.announced = True


class LetGo:
    """Has each answer of a process that leaves be the last one on its connection.

    Who keeps connections open would else send the next call on one that is being closed. That call is lost, and a
    load balancer may not send it again, for it cannot know whether it was taken.
    """

    def __init__(self, app: ASGIApp, leaving: Leaving) -> None:
        self._app = app
        self._leaving = leaving

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def last(message: Message) -> None:
            if self._leaving.announced and message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
            await send(message)

        await self._app(scope, receive, last)
