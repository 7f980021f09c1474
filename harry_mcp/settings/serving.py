"""Serving over HTTP: where, to whom, and for how long."""

from __future__ import annotations

import ipaddress

from pydantic import Field, SecretStr, field_validator

from harry_mcp.settings.section import Positive, Section

_SHORTEST_TOKEN = 16
_SHORTEST_OUTSIDE = 32


class HttpSection(Section):
    """``harry serve --http``. One token lets its holder in; it is the role that ``HARRY_ROLE`` names."""

    host: str = Field(
        default="127.0.0.1",
        description="The address to listen on. Another than this machine's own is refused without a token of at least "
        f"{_SHORTEST_OUTSIDE} characters; nothing here encrypts, so put a proxy with TLS before it.",
    )
    port: int = Field(default=8765, ge=0, le=65535, description="The port to listen on. 0: any that is free.")
    token: SecretStr = Field(
        default=SecretStr(""),
        description=f"What clients send as a bearer token and curators sign in with, {_SHORTEST_TOKEN} characters at "
        "least. Empty: one is made at each start and printed on stderr.",
    )
    subject: str = Field(
        default="admin", min_length=1, max_length=100, description="How records name whoever holds the token."
    )
    hosts: str = Field(
        default="",
        description="Names besides the address itself that browsers and clients may reach it by, separated by commas. "
        "One that is missing is refused; one that others control lets their pages in.",
    )
    session_hours: float = Field(
        default=12.0,
        gt=0,
        le=24 * 30,
        description="Hours after which the curation page asks for the token again. More leave an open browser signed "
        "in longer.",
    )
    body_bytes: Positive = Field(
        default=4 * 1024 * 1024,
        description="The largest request. Less refuses long rewrites; more lets one request fill more memory.",
    )
    grace: int = Field(
        default=10,
        ge=1,
        le=300,
        description="Seconds that calls get to come to their end when the server is stopped. Fewer cut them off.",
    )

    @field_validator("token")
    @classmethod
    def _long_enough(cls, value: SecretStr) -> SecretStr:
        token = value.get_secret_value()
        if token and (len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token):
            raise ValueError(f"a token has {_SHORTEST_TOKEN} printable ASCII characters or more, and no space")
        return value

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the address."""
        if self.host.lower() == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def open_to_others(self) -> bool:
        """Whether it would listen to other machines with a token that is too short for that."""
        return not self.loopback and len(self.token.get_secret_value()) < _SHORTEST_OUTSIDE

    @property
    def names(self) -> frozenset[str]:
        """The host names, without ports and in lower case, that requests may be addressed to."""
        here = {"localhost", "127.0.0.1", "[::1]"} if self.loopback else set[str]()
        own = f"[{self.host}]" if ":" in self.host else self.host
        given = (name.strip() for name in self.hosts.split(","))
        return frozenset(name.lower() for name in (*here, own, *given) if name)
