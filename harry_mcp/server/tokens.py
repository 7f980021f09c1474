"""Tokens of the settings: the one that opens everything, and those of which only the digest is known."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from harry_mcp.domain.people import Credential, Principal, Role
from harry_mcp.errors import SettingsError
from harry_mcp.server.token_file import Line, lines_of
from harry_mcp.settings import AuthSection, Settings
from harry_mcp.settings.authorizing import token_line

_SHOWN = 16
# Between two looks at the file, and how long it has to lie still before it is read.
_LOOK_SECONDS = 1.0
_SETTLED_SECONDS = 0.2

log = logging.getLogger(__name__)


class KnownTokens:
    """Knows who holds which token. It keeps digests, so that no trace or repr of it shows a token.

    A token has 128 random bits or more, so its digest tells nothing of it, and looking the digest up tells nothing
    about other tokens, however long that takes.
    """

    def __init__(self, holders: Mapping[str, Principal]) -> None:
        self._hold(holders)

    def _hold(self, holders: Mapping[str, Principal]) -> None:
        self._holders = dict(holders)
        self._named = {digest[:_SHOWN]: principal for digest, principal in holders.items()}

    def __len__(self) -> int:
        return len(self._holders)

    def holder(self, presented: str) -> Credential | None:
        """Who presents this token; None when it is another."""
        digest = digest_of(presented)
        principal = self._holders.get(digest)
        return None if principal is None else Credential(principal=principal, fingerprint=digest[:_SHOWN])

    def named(self, fingerprint: str) -> Principal | None:
        """Who holds the token of a fingerprint, as the settings are now."""
        return self._named.get(fingerprint)


class WatchedTokens(KnownTokens):
    """Those of settings with a file of tokens, which is read again when it changes.

    Each process looks for itself, at most once a second and only when somebody comes; nobody waits for more than one
    look at one file. A file that cannot be used leaves the tokens as they are.
    """

    def __init__(self, settings: Settings, path: Path, token: str) -> None:
        self._settings, self._path, self._token = settings, path.expanduser(), token
        self._seen = self._stamp()
        self._again = time.monotonic() + _LOOK_SECONDS
        super().__init__(_holders(settings, token))

    def holder(self, presented: str) -> Credential | None:
        self._look()
        return super().holder(presented)

    def named(self, fingerprint: str) -> Principal | None:
        self._look()
        return super().named(fingerprint)

    def _look(self) -> None:
        now = time.monotonic()
        if now < self._again:
            return
        self._again = now + _LOOK_SECONDS
        stamp = self._stamp()
        if stamp == self._seen:
            return
        if stamp and 0 <= time.time_ns() - stamp[0] < _SETTLED_SECONDS * 1e9:
            self._again = now + _SETTLED_SECONDS  # whoever writes it may be at it still
            return
        self._seen = stamp
        try:
            self._hold(_holders(self._settings, self._token))
        except SettingsError as error:
            log.error("The tokens stay as they were. %s", error)
        else:
            log.warning("The file of tokens %s has changed and was read again.", self._path)

    def _stamp(self) -> tuple[int, ...]:
        """By what a change is seen; the moment of writing first. Empty where there is no file."""
        try:
            found = self._path.stat()
        except OSError:
            return ()
        return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_mode


def new_token() -> str:
    """A token of 256 random bits."""
    return secrets.token_urlsafe(32)


def digest_of(token: str) -> str:
    """What is kept of a token."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def known_tokens(settings: Settings, token: str) -> KnownTokens:
    """All tokens of the settings. ``token`` is the one that opens everything, or empty.

    Raises:
        SettingsError: the file of tokens cannot be used, or two tokens share a name or a digest.
    """
    path = settings.auth.tokens_file
    return WatchedTokens(settings, path, token) if path is not None else KnownTokens(_holders(settings, token))


def _holders(settings: Settings, token: str) -> dict[str, Principal]:
    holders: dict[str, Principal] = {}
    names: set[str] = set()
    if token:
        holders[digest_of(token)] = holder_of_the_token(settings)
        names.add(settings.http.subject)
    for name, role, digest in _lines(settings.auth):
        if name in names or digest in holders:
            raise SettingsError(f"Two tokens are called {name}, or are one. Give each a name and a token of its own.")
        names.add(name)
        holders[digest] = principal_of(name, Role[role.upper()], "http", settings.auth)
    return holders


def holder_of_the_token(settings: Settings) -> Principal:
    """The principal of whoever holds the one token: the role of the settings, under the name that they give."""
    return Principal(subject=settings.http.subject, via="http", role=Role[settings.role.upper()], trusted=True)


def principal_of(name: str, role: Role, via: str, settings: AuthSection) -> Principal:
    """Somebody who is let in by name; curators are trusted, and whoever the settings name."""
    trusted = name in (each.strip() for each in settings.trusted.split(","))
    return Principal(subject=name, via=via, role=role, trusted=trusted or role >= Role.CURATOR)


def _lines(settings: AuthSection) -> list[Line]:
    given = [found for line in settings.tokens.split(",") if (found := token_line(line)) is not None]
    return given if settings.tokens_file is None else [*given, *lines_of(settings.tokens_file)]
