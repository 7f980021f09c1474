"""Who is signed in at the console, for how long; and how often a wrong token may be tried."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

from harry_mcp.domain.people import Principal

Clock = Callable[[], float]
# A browser that signs in again and again leaves its sessions behind; the oldest go.
_MOST_SESSIONS = 256
_FREE_ATTEMPTS = 5
_LONGEST_WAIT = 60.0
_FORGOTTEN_AFTER = 900.0


@dataclass(frozen=True, slots=True)
class Session:
    """One signed-in browser. ``csrf`` is known to its page alone; ``ends`` is a moment of the clock."""

    principal: Principal
    csrf: str
    ends: float

    def allows(self, csrf: str) -> bool:
        """Whether a request that carries this was sent by the session's own page."""
        return hmac.compare_digest(self.csrf.encode(), csrf.encode("utf-8", "surrogatepass"))


class Sessions:
    """The sessions of this process. They are kept under digests of their ids, and end with it."""

    def __init__(self, seconds: float, clock: Clock = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._open: dict[bytes, Session] = {}

    def begin(self, principal: Principal) -> str:
        """The id of a new session, 256 random bits that no request ever named before."""
        self._drop_ended()
        while len(self._open) >= _MOST_SESSIONS:
            del self._open[next(iter(self._open))]
        name = secrets.token_urlsafe(32)
        self._open[_key(name)] = Session(principal, secrets.token_urlsafe(32), self._clock() + self._seconds)
        return name

    def find(self, name: str) -> Session | None:
        """The session of an id, unless it ended."""
        session = self._open.get(_key(name))
        return session if session is not None and self._clock() < session.ends else None

    def end(self, name: str) -> None:
        """Forget a session; nothing where there is none."""
        self._open.pop(_key(name), None)

    def _drop_ended(self) -> None:
        now = self._clock()
        self._open = {key: session for key, session in self._open.items() if now < session.ends}


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


def _key(name: str) -> bytes:
    return sha256(name.encode("utf-8", "surrogatepass")).digest()
