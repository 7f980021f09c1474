"""What a request passes before it reaches anything: the name it was sent to, its token, and how many came before it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from harry_mcp.errors import AccessError, IssuerUnreachable, ScopeMissing, TokenRefused
from harry_mcp.server.door import Door
from harry_mcp.server.rates import Rates
from harry_mcp.server.scopes import LEAST
from harry_mcp.server.state import PRINCIPAL

_AUTHORITY = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?", re.IGNORECASE)
_UNSENT = "Send the token of this server as a bearer token: Authorization: Bearer TOKEN."
_UNREACHABLE_SECONDS = "10"
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


@dataclass(frozen=True, slots=True)
class Entrance:
    """What a request is let in by. ``metadata``: where clients read which issuer to ask (RFC 9728), or empty."""

    door: Door
    rates: Rates
    metadata: str = ""


class TokenGate:
    """Lets holders of a token through, each at most so often, and notes in the scope who they are."""

    def __init__(self, app: ASGIApp, entrance: Entrance) -> None:
        self._app = app
        self._entrance = entrance

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = Headers(scope=scope).getlist("authorization")
        if len(given) > 1:
            # Which one counts would be for each server on the way to say.
            challenge = {"WWW-Authenticate": 'Bearer realm="harry", error="invalid_request"'}
            await _refused("Send one Authorization header.", 400, challenge)(scope, receive, send)
            return
        scheme, _, token = "".join(given).partition(" ")
        presented = token.strip() if scheme.lower() == "bearer" else None
        try:
            if presented is None:
                raise TokenRefused(_UNSENT)
            principal = (await self._entrance.door.let_in(presented)).principal
        except AccessError as error:
            await self._refusal(error, presented is not None)(scope, receive, send)
            return
        if wait := self._entrance.rates.wait(principal.caller):
            await too_many(wait)(scope, receive, send)
            return
        await self._app({**scope, PRINCIPAL: principal}, receive, send)

    def _refusal(self, error: AccessError, presented: bool) -> JSONResponse:
        if isinstance(error, IssuerUnreachable):
            return _refused(str(error), 503, {"Retry-After": _UNREACHABLE_SECONDS})
        missing = isinstance(error, ScopeMissing)
        fault = "insufficient_scope" if missing else "invalid_token" if presented else ""
        words = [f'error="{fault}"'] if fault else []
        if self._entrance.metadata:
            # For clients that can go and get a token by themselves; where there is no issuer they could not.
            words += [f'error_description="{error}"'] if presented else []
            words += [f'resource_metadata="{self._entrance.metadata}"']
        if self._entrance.metadata or missing:
            words += [f'scope="{LEAST}"']
        challenge = ", ".join(['Bearer realm="harry"', *words])
        return _refused(str(error) if presented else _UNSENT, 403 if missing else 401, {"WWW-Authenticate": challenge})


def too_many(wait: float) -> JSONResponse:
    """The answer to one request too many."""
    seconds = math.ceil(wait)
    return _refused(f"Too many requests. Send the next one in {seconds} seconds.", 429, {"Retry-After": str(seconds)})


def _refused(why: str, status: int, headers: dict[str, str]) -> JSONResponse:
    return JSONResponse({"error": why}, status_code=status, headers={**headers, "Cache-Control": "no-store"})
