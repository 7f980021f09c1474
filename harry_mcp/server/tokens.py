"""Tokens of the settings: the one that opens everything, and those of which only the digest is known."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from harry_mcp.domain.people import Credential, Principal, Role
from harry_mcp.errors import SettingsError
from harry_mcp.settings import AuthSection, Settings
from harry_mcp.settings.authorizing import token_line

_SHOWN = 16


class KnownTokens:
    """Knows who holds which token. It keeps digests, so that no trace or repr of it shows a token.

    A token has 128 random bits or more, so its digest tells nothing of it, and looking the digest up tells nothing
    about other tokens, however long that takes.
    """

    def __init__(self, holders: Mapping[str, Principal]) -> None:
        self._holders = dict(holders)
        self._named = {digest[:_SHOWN]: principal for digest, principal in holders.items()}

    def holder(self, presented: str) -> Credential | None:
        """Who presents this token; None when it is another."""
        digest = digest_of(presented)
        principal = self._holders.get(digest)
        return None if principal is None else Credential(principal=principal, fingerprint=digest[:_SHOWN])

    def named(self, fingerprint: str) -> Principal | None:
        """Who holds the token of a fingerprint, as the settings are now."""
        return self._named.get(fingerprint)


def new_token() -> str:
    """A token of 256 random bits."""
    return secrets.token_urlsafe(32)


def digest_of(token: str) -> str:
    """What is kept of a token."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def known_tokens(settings: Settings, token: str) -> KnownTokens:
    """All tokens of the settings. ``token`` is the one that opens everything, or empty.

    Raises:
        SettingsError: the file of tokens cannot be read, or two tokens share a name or a digest.
    """
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
    return KnownTokens(holders)


def holder_of_the_token(settings: Settings) -> Principal:
    """The principal of whoever holds the one token: the role of the settings, under the name that they give."""
    return Principal(subject=settings.http.subject, via="http", role=Role[settings.role.upper()], trusted=True)


def principal_of(name: str, role: Role, via: str, settings: AuthSection) -> Principal:
    """Somebody who is let in by name; curators are trusted, and whoever the settings name."""
    trusted = name in (each.strip() for each in settings.trusted.split(","))
    return Principal(subject=name, via=via, role=role, trusted=trusted or role >= Role.CURATOR)


def _lines(settings: AuthSection) -> list[tuple[str, str, str]]:
    lines = [line for line in settings.tokens.split(",") if line.strip()]
    if settings.tokens_file is not None:
        lines += _of_file(settings.tokens_file)
    found: list[tuple[str, str, str]] = []
    for line in lines:
        token = token_line(line)
        if token is None:
            # Not quoted: it may be the token itself.
            raise SettingsError(
                f"A line of {settings.tokens_file} is not name:role:digest, as `harry token new` prints it."
            )
        found.append(token)
    return found


def _of_file(path: Path) -> list[str]:
    try:
        text = path.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"The file of tokens {path} cannot be read. Correct HARRY_AUTH__TOKENS_FILE.") from error
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return [line for line in lines if line]
