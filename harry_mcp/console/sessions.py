"""Who is signed in at the console, for how long; and how often a wrong token may be tried.

A session is in its cookie, sealed with secrets that all processes share, so that any of them serves it and a restart
ends none. What the others are told is that one was signed out.
"""

from __future__ import annotations

import hmac
import json
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from mcp.server.request_state import AESGCMRequestStateCodec, InvalidRequestState

from harry_mcp.domain.people import Credential, Principal, Role

Clock = Callable[[], float]
_SIGNED_OUT = "signed out"
_FREE_ATTEMPTS = 5
_LONGEST_WAIT = 60.0
_FORGOTTEN_AFTER = 900.0
_LONGEST_COOKIE = 4096


class Marks(Protocol):
    """What all processes know for a while."""

    async def set(self, kind: str, name: str, *, seconds: float) -> None: ...

    async def is_set(self, kind: str, name: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class Session:
    """One signed-in browser. ``csrf`` is known to its page alone; ``ends`` is a moment of the clock."""

    id: str
    credential: Credential
    csrf: str
    ends: float

    def allows(self, csrf: str) -> bool:
        """Whether a request that carries this was sent by the session's own page."""
        return hmac.compare_digest(self.csrf.encode(), csrf.encode("utf-8", "surrogatepass"))


class Sessions:
    """Seals sessions and opens them. The first key seals, all of them open."""

    def __init__(self, seconds: float, keys: Sequence[bytes], marks: Marks, clock: Clock = time.time) -> None:
        self._seconds = seconds
        self._codec = AESGCMRequestStateCodec(keys)
        self._marks = marks
        self._clock = clock

    def begin(self, credential: Credential) -> tuple[str, float]:
        """A new session, sealed, and its seconds: as long as sessions last, and no longer than what let it in."""
        now = self._clock()
        ends = now + self._seconds if credential.ends is None else min(now + self._seconds, credential.ends)
        session = Session(secrets.token_urlsafe(32), credential, secrets.token_urlsafe(32), ends)
        return self._codec.seal(json.dumps(_fields(session)).encode()), ends - now

    async def find(self, sealed: str) -> Session | None:
        """The session, unless it ended."""
        session = self._open(sealed)
        if session is None or await self._marks.is_set(_SIGNED_OUT, session.id):
            return None
        return session

    async def end(self, sealed: str) -> None:
        """End a session in all processes; nothing where there is none."""
        if (session := self._open(sealed)) is not None:
            await self._marks.set(_SIGNED_OUT, session.id, seconds=session.ends - self._clock())

    def _open(self, sealed: str) -> Session | None:
        if not sealed or len(sealed) > _LONGEST_COOKIE:
            return None
        try:
            session = _session(json.loads(self._codec.unseal(sealed)))
        except (InvalidRequestState, ValueError):
            return None
        return session if self._clock() < session.ends else None


def _fields(session: Session) -> dict[str, object]:
    credential, principal = session.credential, session.credential.principal
    return {
        "id": session.id,
        "csrf": session.csrf,
        "ends": session.ends,
        "subject": principal.subject,
        "via": principal.via,
        "role": int(principal.role),
        "trusted": principal.trusted,
        "token_ends": credential.ends,
        "fingerprint": credential.fingerprint,
    }


def _session(fields: dict[str, object]) -> Session:
    """What was sealed here, as it was."""
    f: dict[str, object] = fields
    principal = Principal(
        subject=str(f["subject"]), via=str(f["via"]), role=Role(int(str(f["role"]))), trusted=f["trusted"] is True
    )
    ends = f["token_ends"]
    credential = Credential(
        principal=principal, ends=None if ends is None else float(str(ends)), fingerprint=str(f["fingerprint"])
    )
    return Session(str(f["id"]), credential, str(f["csrf"]), float(str(f["ends"])))


class Attempts:
    """Slows down guessing: after some wrong tokens each further one doubles the wait before the next is looked at.

    It counts over all callers, for addresses cost an attacker nothing. So somebody who guesses can make the holder of
    the token wait, for a minute at most; whoever is signed in stays so.
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._wrong = 0
        self._last = 0.0

    def wait(self) -> float:
        """Seconds until the next attempt is looked at; 0 when it may come now."""
        since = self._clock() - self._last
        if self._wrong < _FREE_ATTEMPTS or since > _FORGOTTEN_AFTER:
            return 0.0
        return max(0.0, min(_LONGEST_WAIT, 2.0 ** (self._wrong - _FREE_ATTEMPTS)) - since)

    def failed(self) -> None:
        """Count a wrong token."""
        now = self._clock()
        self._wrong = 1 if now - self._last > _FORGOTTEN_AFTER else self._wrong + 1
        self._last = now

    def succeeded(self) -> None:
        """Forget the wrong ones."""
        self._wrong = 0
