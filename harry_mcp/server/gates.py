"""What a request passes before it reaches anything: the name it was sent to, and the token it brings."""

from __future__ import annotations

import re
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from harry_mcp.domain.people import Principal
from harry_mcp.server.state import PRINCIPAL

Holder = Callable[[str], Principal | None]
_AUTHORITY = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?", re.IGNORECASE)
_FOREIGN = "Pages of another origin may not call this server."


class HostGate:
    """Lets requests through that were sent to a name of ours, and none that a page of another origin sent.

    A name that others control can be made to point at this machine (DNS rebinding), and its pages would then be of
    one origin with ours; the Host header tells. Every route is behind this gate.
    """

    def __init__(self, app: ASGIApp, names: frozenset[str]) -> None:
        self._app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (refused := self._refusal(scope)) is not None:
            await refused(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        named = _AUTHORITY.fullmatch(hosts[0]) if len(hosts) == 1 else None
        if named is None or named["name"].lower() not in self._names:
            return PlainTextResponse(
                "This server does not go by that name. HARRY_HTTP__HOSTS lists the names it may have.", status_code=421
            )
        return None if _is_own(headers, hosts[0]) else PlainTextResponse(_FOREIGN, status_code=403)


def _is_own(headers: Headers, host: str) -> bool:
    origin = headers.get("origin")
    if origin == "null":
        # What browsers send with a form of a page that keeps its address to itself, as ours do; and a sandboxed frame.
        return headers.get("sec-fetch-site") == "same-origin"
    return origin is None or origin.lower() in (f"http://{host.lower()}", f"https://{host.lower()}")


class TokenGate:
    """Lets holders of a token through and notes in the scope who they are."""

    def __init__(self, app: ASGIApp, holder: Holder) -> None:
        self._app = app
        self._holder = holder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scheme, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
        principal = self._holder(token.strip()) if scheme.lower() == "bearer" else None
        if principal is None:
            wrong = ', error="invalid_token"' if scheme.lower() == "bearer" else ""
            refused = JSONResponse(
                {"error": "Send the token of this server as a bearer token: Authorization: Bearer TOKEN."},
                status_code=401,
                headers={"WWW-Authenticate": f'Bearer realm="harry"{wrong}', "Cache-Control": "no-store"},
            )
            await refused(scope, receive, send)
            return
        await self._app({**scope, PRINCIPAL: principal}, receive, send)
