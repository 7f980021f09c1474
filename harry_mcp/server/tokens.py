"""The one static token that lets its holder in over HTTP."""

from __future__ import annotations

import hmac
import secrets
from hashlib import sha256

from harry_mcp.domain.people import Principal, Role
from harry_mcp.settings import Settings


class StaticToken:
    """Knows who holds the token. It keeps a digest, so that no trace or repr of it shows the token."""

    def __init__(self, token: str, principal: Principal) -> None:
        self._digest = _digest(token)
        self._principal = principal

    def holder(self, presented: str) -> Principal | None:
        """Who presents this token; None when it is another. It takes the same time however much of it is right."""
        return self._principal if hmac.compare_digest(_digest(presented), self._digest) else None


def new_token() -> str:
    """A token of 256 random bits."""
    return secrets.token_urlsafe(32)


def holder_of_the_token(settings: Settings) -> Principal:
    """The principal of whoever holds the token: the role of the settings, under the name that they give."""
    return Principal(subject=settings.http.subject, via="http", role=Role[settings.role.upper()], trusted=True)


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()
