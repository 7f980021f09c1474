"""Signing in at the console and out of it, and whose session a request has."""

from __future__ import annotations

import logging
import math
import secrets
from dataclasses import dataclass, replace
from typing import Protocol
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from harry_mcp.console.headers import data, hardened, page
from harry_mcp.console.login_page import Taken, login_page
from harry_mcp.console.requests import BodyTooLarge, body_of, is_from_our_page, wants_json
from harry_mcp.console.sessions import Attempts, Session, Sessions
from harry_mcp.domain.people import Credential, Principal, Role
from harry_mcp.errors import AccessError, IssuerUnreachable, ScopeMissing, TokenRefused

log = logging.getLogger(__name__)

COOKIE = "harry_session"
CSRF = "X-Harry-CSRF"
PATH = "/admin"
_LONGEST_FORM = 8_192
_ENDED = "You are signed out: your session has ended, or the token that it began with. Sign in again."
_OTHER = "Sign in with another token."
_MAY = {Role.READER: "read", Role.CONTRIBUTOR: "read and contribute"}


class Door(Protocol):
    """Lets holders of a token in."""

    async def let_in(self, presented: str, /) -> Credential:
        """Who presents a token, or an AccessError."""
        ...

    def still(self, credential: Credential, /) -> Principal | None:
        """Who a credential lets in now; None when it no longer does."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """How curators come in, and by which tokens."""

    door: Door
    sessions: Sessions
    taken: Taken

    async def session(self, request: Request) -> Session:
        """The session of a request, in the name of whom its token lets in as the settings are now.

        Raises:
            TokenRefused: there is none, or none any more.
            ScopeMissing: its token may less by now than the console needs.
        """
        session = await self.sessions.find(request.cookies.get(COOKIE, ""))
        if session is None:
            raise TokenRefused(_ENDED)
        principal = self.door.still(session.credential)
        if principal is None:
            raise TokenRefused("The token that you signed in with was taken back. Sign in with another one.")
        _curates(principal)
        return replace(session, credential=replace(session.credential, principal=principal))


class SignIn:
    """The form, and what it is sent to. Slows down guessing."""

    def __init__(self, entry: Entry) -> None:
        self._entry = entry
        self._attempts = Attempts()

    def show(self, fault: str = "", status: int = 200) -> Response:
        """The page that asks for a token."""
        nonce = secrets.token_urlsafe(16)
        return page(login_page(nonce, fault, taken=self._entry.taken), nonce, status)

    async def enter(self, request: Request) -> Response:
        """Take the form."""
        try:
            credential = await self._let_in(request)
        except _Again as again:
            response = self._again(request, again)
            if again.wait:
                response.headers["Retry-After"] = str(again.wait)
            return response
        await self._entry.sessions.end(request.cookies.get(COOKIE, ""))
        sealed, seconds = self._entry.sessions.begin(credential)
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

    async def leave(self, request: Request) -> Response:
        """End the session of a request."""
        session = await self._entry.sessions.find(request.cookies.get(COOKIE, ""))
        try:
            form = parse_qs((await body_of(request, _LONGEST_FORM)).decode("utf-8", "replace"))
        except BodyTooLarge:
            return data({"ok": False, "error": "That is more than signing out takes."}, 413)
        csrf = request.headers.get(CSRF) or form.get("csrf", [""])[0]
        if session is not None and not (is_from_our_page(request) and session.allows(csrf)):
            return data({"ok": False, "error": "Sign out on the page itself."}, 403)
        await self._entry.sessions.end(request.cookies.get(COOKIE, ""))
        response = RedirectResponse(PATH, status_code=303)
        response.delete_cookie(COOKIE, path=PATH, httponly=True, samesite="strict")
        return hardened(response)

    async def _let_in(self, request: Request) -> Credential:
        if not is_from_our_page(request):
            raise _Again("Sign in on this page itself.", 403)
        try:
            form = parse_qs((await body_of(request, _LONGEST_FORM)).decode("utf-8", "replace"))
        except BodyTooLarge:
            raise _Again("That is no token of this server.", 413) from None
        if wait := math.ceil(self._attempts.wait()):
            raise _Again(f"Too many wrong tokens. Try again in {wait} seconds.", 429, wait)
        # Counted before it is looked at, and forgotten if it was right: attempts that come together cannot pass
        # together while an issuer's keys are fetched.
        self._attempts.failed()
        try:
            credential = await self._entry.door.let_in(form.get("token", [""])[0].strip())
            _curates(credential.principal)
        except IssuerUnreachable as error:
            raise _Again(str(error), 503) from error
        except ScopeMissing as error:
            self._attempts.succeeded()
            raise _Again(str(error), 403) from error
        except AccessError as error:
            log.warning("somebody tried to sign in with a wrong token")
            raise _Again(f"{error} {_OTHER}", 401) from error
        self._attempts.succeeded()
        return credential

    def _again(self, request: Request, again: _Again) -> Response:
        if wants_json(request):
            return data({"ok": False, "error": again.fault}, again.status)
        return self.show(again.fault, again.status)


class _Again(Exception):
    """Why the form is to be sent again; ``wait`` are seconds until it is looked at."""

    def __init__(self, fault: str, status: int, wait: int = 0) -> None:
        super().__init__(fault)
        self.fault = fault
        self.status = status
        self.wait = wait


def _curates(principal: Principal) -> None:
    if principal.may(Role.CURATOR):
        return
    does = f"This token may {_MAY[principal.role]}; the console needs the role curator."
    if principal.via == "jwt":
        raise ScopeMissing(f"{does} Ask your identity provider for one with the scope harry:curate.")
    raise ScopeMissing(
        f"{does} Ask whoever runs the server for one of `harry token new NAME --role curator`. What the server's own "
        "token may, HARRY_ROLE says."
    )
