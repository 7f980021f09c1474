"""A name for each request, in the log and in the answer, so that what a client saw can be found again."""

from __future__ import annotations

import logging
import re
import secrets
import time
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger(__name__)

HEADER = "X-Request-ID"
_GIVEN = re.compile(rb"[A-Za-z0-9._:/+=-]{1,128}")
_current: ContextVar[str] = ContextVar("harry_request", default="")


def current_request() -> str:
    """The name of the request that is being served; empty outside of one."""
    return _current.get()


class RequestIds:
    """Takes the name that a proxy or a client gave, or makes one; says it in the answer, and logs how it ended."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        name = _name(scope)
        status, began = 0, time.perf_counter()

        async def named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], (HEADER.lower().encode(), name.encode())]}
            await send(message)

        token = _current.set(name)
        try:
            await self._app(scope, receive, named)
        finally:
            took = (time.perf_counter() - began) * 1000
            log.info("%s %s: %s in %.0f ms", scope["method"], scope["path"], status or "no answer", took)
            _current.reset(token)


def _name(scope: Scope) -> str:
    wanted = HEADER.lower().encode()
    given = [value for name, value in scope["headers"] if name == wanted]
    # Another shape could break a log apart, or be another's whole header.
    return given[0].decode() if len(given) == 1 and _GIVEN.fullmatch(given[0]) else secrets.token_hex(8)
