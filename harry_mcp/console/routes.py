"""The console's routes under /admin: the page, signing in and out, and calls of tools."""

from __future__ import annotations

import json
import logging
import math
import secrets
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from harry_mcp.console.headers import data, hardened, page
from harry_mcp.console.login_page import login_page
from harry_mcp.console.page import console_page
from harry_mcp.console.requests import BodyTooLarge, body_of, is_from_our_page, media_type
from harry_mcp.console.sessions import Attempts, Marks, Session, Sessions
from harry_mcp.domain.people import Credential, Principal
from harry_mcp.errors import AccessError, HarryError, IssuerUnreachable, ScopeMissing
from harry_mcp.settings import HttpSection

log = logging.getLogger(__name__)

COOKIE = "harry_session"
CSRF = "X-Harry-CSRF"
PATH = "/admin"
_LONGEST_FORM = 8_192

# What the page needs, and no more: it is no way around the roles and limits that other callers have.
TOOLS = frozenset(
    {
        "audit_trail",
        "curation_digest",
        "explain_search",
        "list_corrections",
        "list_gaps",
        "list_review_queue",
        "list_verified",
        "read_document",
        "review_correction",
        "review_documents",
        "review_verified",
        "rollback_review",
        "run_rot_checks",
    }
)


class Door(Protocol):
    """Lets holders of a token in."""

    async def let_in(self, presented: str, /) -> Credential:
        """Who presents a token, or an AccessError."""
        ...

    def still(self, credential: Credential, /) -> Principal | None:
        """Who a credential lets in now; None when it no longer does."""
        ...


class Rates(Protocol):
    """How often one subject may call."""

    def wait(self, subject: str, /) -> float:
        """Count a request; the seconds until it may be sent, or 0."""
        ...


class ToolCall(Protocol):
    """Runs a tool and gives its structured result, or raises a HarryError whose message says what is wrong."""

    def __call__(self, name: str, arguments: Mapping[str, Any], *, caller: Principal) -> Awaitable[dict[str, Any]]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the console stands on. ``keys`` seal its sessions; processes that share them share the sessions."""

    door: Door
    rates: Rates
    marks: Marks
    keys: Sequence[bytes]
    call: ToolCall


class Console:
    """The console back end of one process."""

    def __init__(self, settings: HttpSection, parts: Parts) -> None:
        self._settings = settings
        self._door = parts.door
        self._rates = parts.rates
        self._call = parts.call
        self._attempts = Attempts()
        self._sessions = Sessions(settings.session_hours * 3600, parts.keys, parts.marks)

    def routes(self) -> list[Route]:
        """What to serve."""
        return [
            Route(PATH, self._show),
            Route(f"{PATH}/login", self._sign_in, methods=["POST"]),
            Route(f"{PATH}/logout", self._sign_out, methods=["POST"]),
            Route(f"{PATH}/call", self._run, methods=["POST"]),
        ]

    async def _show(self, request: Request) -> Response:
        nonce = secrets.token_urlsafe(16)
        session = await self._session(request)
        if session is None:
            return page(login_page(nonce), nonce)
        return page(console_page(mode="admin", nonce=nonce, csrf=session.csrf), nonce)

    async def _sign_in(self, request: Request) -> Response:
        if not is_from_our_page(request):
            return _login_again("Sign in on this page itself.", 403)
        try:
            form = parse_qs((await body_of(request, _LONGEST_FORM)).decode("utf-8", "replace"))
        except BodyTooLarge:
            return _login_again("That is no token of this server.", 413)
        if wait := math.ceil(self._attempts.wait()):
            response = _login_again(f"Too many wrong tokens. Try again in {wait} seconds.", 429)
            response.headers["Retry-After"] = str(wait)
            return response
        # Counted before it is looked at, and forgotten if it was right: attempts that come together cannot pass
        # together while an issuer's keys are fetched.
        self._attempts.failed()
        try:
            credential = await self._door.let_in(form.get("token", [""])[0].strip())
        except IssuerUnreachable as error:
            return _login_again(str(error), 503)
        except ScopeMissing as error:
            self._attempts.succeeded()
            return _login_again(str(error), 403)
        except AccessError:
            log.warning("somebody tried to sign in with a wrong token")
            return _login_again("That is not the token of this server.", 401)
        self._attempts.succeeded()
        return await self._signed_in(request, credential)

    async def _signed_in(self, request: Request, credential: Credential) -> Response:
        await self._sessions.end(request.cookies.get(COOKIE, ""))
        sealed, seconds = self._sessions.begin(credential)
        response = RedirectResponse(PATH, status_code=303)
        response.set_cookie(
            COOKIE,
            sealed,
            max_age=round(seconds),
            path=PATH,
            secure=request.url.scheme == "https",
            httponly=True,
            samesite="strict",
        )
        return hardened(response)

    async def _sign_out(self, request: Request) -> Response:
        session = await self._session(request)
        try:
            form = parse_qs((await body_of(request, _LONGEST_FORM)).decode("utf-8", "replace"))
        except BodyTooLarge:
            return _refused("That is more than signing out takes.", 413)
        csrf = request.headers.get(CSRF) or form.get("csrf", [""])[0]
        if session is not None and not (is_from_our_page(request) and session.allows(csrf)):
            return _refused("Sign out on the page itself.", 403)
        await self._sessions.end(request.cookies.get(COOKIE, ""))
        response = RedirectResponse(PATH, status_code=303)
        response.delete_cookie(COOKIE, path=PATH, httponly=True, samesite="strict")
        return hardened(response)

    async def _run(self, request: Request) -> Response:
        session = await self._session(request)
        if session is None:
            return data({"ok": False, "error": "You are signed out. Sign in again.", "login": True}, 401)
        if not is_from_our_page(request) or not session.allows(request.headers.get(CSRF, "")):
            return _refused("The request did not come from the console. Load the page again.", 403)
        if wait := math.ceil(self._rates.wait(session.credential.principal.caller)):
            response = _refused(f"That was too much at once. Try again in {wait} seconds.", 429)
            response.headers["Retry-After"] = str(wait)
            return response
        if media_type(request) != "application/json":
            return _refused("Send JSON.", 415)
        try:
            wanted = _wanted(await body_of(request, self._settings.body_bytes))
        except BodyTooLarge:
            most = self._settings.body_bytes
            return _refused(f"That is too large: at most {most:,} bytes. HARRY_HTTP__BODY_BYTES sets it.", 413)
        if wanted is None:
            return _refused('Send {"tool": name, "arguments": {...}}.', 400)
        name, arguments = wanted
        if name not in TOOLS:
            return _refused(f"The console has no tool {name[:80]!r}.", 200)
        return await self._answer(name, arguments, session)

    async def _answer(self, name: str, arguments: dict[str, Any], session: Session) -> Response:
        try:
            return data({"ok": True, "result": await self._call(name, arguments, caller=session.credential.principal)})
        except HarryError as error:
            return _refused(str(error), 200)
        except Exception:
            log.exception("the console's call of %s failed", name)
            return _refused("Something went wrong here; the server's log says what.", 200)

    async def _session(self, request: Request) -> Session | None:
        """The session of a request, in the name of whom its token lets in as the settings are now."""
        session = await self._sessions.find(request.cookies.get(COOKIE, ""))
        principal = self._door.still(session.credential) if session is not None else None
        if session is None or principal is None:
            return None
        return replace(session, credential=replace(session.credential, principal=principal))


def _wanted(body: bytes) -> tuple[str, dict[str, Any]] | None:
    try:
        sent = json.loads(body)
        if b"\\ud" in body.lower():
            # A JSON string may hold half of a surrogate pair, which no text can; it becomes U+FFFD.
            text = json.dumps(sent, ensure_ascii=False).encode("utf-16-le", "surrogatepass")
            sent = json.loads(text.decode("utf-16-le", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(sent, dict):
        return None
    fields = cast(dict[str, Any], sent)
    name, arguments = fields.get("tool"), fields.get("arguments", {})
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return None
    return name, cast(dict[str, Any], arguments)


def _refused(why: str, status: int) -> Response:
    return data({"ok": False, "error": why}, status)


def _login_again(fault: str, status: int) -> Response:
    nonce = secrets.token_urlsafe(16)
    return page(login_page(nonce, fault), nonce, status)
