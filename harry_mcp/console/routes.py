"""The console's routes under /admin: the page, and calls of tools."""

from __future__ import annotations

import json
import logging
import math
import secrets
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from harry_mcp.console.headers import data, page
from harry_mcp.console.login_page import Taken
from harry_mcp.console.page import console_page
from harry_mcp.console.requests import BodyTooLarge, body_of, is_from_our_page, media_type
from harry_mcp.console.sessions import Marks, Session, Sessions
from harry_mcp.console.signing_in import CSRF, PATH, Door, Entry, SignIn
from harry_mcp.domain.people import Principal
from harry_mcp.errors import AccessError, HarryError, ScopeMissing
from harry_mcp.settings import HttpSection

log = logging.getLogger(__name__)

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
    """What the console stands on. ``keys`` seal its sessions; processes that share them share the sessions.
    ``taken``: which tokens open it."""

    door: Door
    taken: Taken
    rates: Rates
    marks: Marks
    keys: Sequence[bytes]
    call: ToolCall


class Console:
    """The console back end of one process."""

    def __init__(self, settings: HttpSection, parts: Parts) -> None:
        self._settings = settings
        self._rates = parts.rates
        self._call = parts.call
        self._entry = Entry(
            door=parts.door,
            sessions=Sessions(settings.session_hours * 3600, parts.keys, parts.marks),
            taken=parts.taken,
        )
        self._form = SignIn(self._entry)

    def routes(self) -> list[Route]:
        """What to serve."""
        return [
            Route(PATH, self._show),
            Route(f"{PATH}/login", self._form.enter, methods=["POST"]),
            Route(f"{PATH}/logout", self._form.leave, methods=["POST"]),
            Route(f"{PATH}/call", self._run, methods=["POST"]),
        ]

    async def _show(self, request: Request) -> Response:
        nonce = secrets.token_urlsafe(16)
        try:
            session = await self._entry.session(request)
        except ScopeMissing as error:
            return self._form.show(str(error), 403)
        except AccessError:
            return self._form.show()
        return page(console_page(mode="admin", nonce=nonce, csrf=session.csrf), nonce)

    async def _run(self, request: Request) -> Response:
        try:
            session = await self._entry.session(request)
        except AccessError as error:
            return data({"ok": False, "error": str(error), "login": True}, 401)
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
