"""Serving over HTTP: where, to whom, and for how long."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator

from harry_mcp.settings.section import Positive, Section

_SHORTEST_TOKEN = 16
_SHORTEST_OUTSIDE = 32
_SHORTEST_KEY = 32


class HttpSection(Section):
    """``harry serve --http``. Its one token lets its holder in, in the role of ``HARRY_ROLE``; more with ``auth``."""

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
    public_url: str = Field(
        default="",
        description="The address of /mcp that clients use where a proxy stands before it, such as "
        "https://kb.example.com/mcp. Its name counts as one of HARRY_HTTP__HOSTS. Wrong, clients that sign in through "
        "an issuer refuse to, for what they read is about another server.",
    )
    state_keys: SecretStr = Field(
        default=SecretStr(""),
        description=f"Secrets that all replicas share, {_SHORTEST_KEY} characters or more each, separated by commas; "
        "the first seals, all open. With them any replica takes the second round of a question and serves a console "
        "session of another. Empty: made at each start, which is right for one process alone.",
    )
    workers: int = Field(
        default=1,
        ge=1,
        le=64,
        description="Processes that share the port. More than cores that are free make each call slower.",
    )
    replicas: Positive = Field(
        default=1,
        description="How many machines like this one serve behind the load balancer; each lets its share of the rate "
        "limit through. Too few said let callers have more than the limit.",
    )
    calls_per_minute: int = Field(
        default=600,
        ge=0,
        description="Requests that one subject may send a minute, over all replicas. 0: any number. Fewer turn busy "
        "agents away; more let one caller slow down all others.",
    )
    burst: Positive = Field(
        default=120,
        description="Requests that one subject may send at once before the rate counts. Fewer turn away agents that "
        "call several tools together.",
    )
    drain: float = Field(
        default=0.0,
        ge=0,
        le=300,
        description="Seconds that a server which is stopped goes on to take calls while /readyz says that it leaves. "
        "Less than a load balancer needs to see that lets it send calls to a port that is closed; 0 is right for one "
        "that then tries the next server.",
    )
    grace: int = Field(
        default=10,
        ge=1,
        le=300,
        description="Seconds that calls get to come to their end when the server is stopped. Fewer cut them off.",
    )

    request_seconds: Positive = Field(
        default=30,
        description="Seconds in which a request is to come in whole. Fewer cut off slow lines; more let who sends "
        "nothing hold connections.",
    )
    idle_seconds: Positive = Field(
        default=75,
        description="Seconds that a connection without calls is kept. Fewer than the proxy before it keeps them lose "
        "a call now and then.",
    )

    @field_validator("token")
    @classmethod
    def _long_enough(cls, value: SecretStr) -> SecretStr:
        token = value.get_secret_value()
        if token and (len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token):
            raise ValueError(f"a token has {_SHORTEST_TOKEN} printable ASCII characters or more, and no space")
        return value

    @field_validator("public_url")
    @classmethod
    def _an_address(cls, value: str) -> str:
        if value and (urlsplit(value).scheme not in ("http", "https") or not urlsplit(value).hostname):
            raise ValueError("it is to be a whole address that begins with https:// or http://")
        return value

    @field_validator("state_keys")
    @classmethod
    def _keys_are_long(cls, value: SecretStr) -> SecretStr:
        keys = _parts(value.get_secret_value())
        if any(len(key) < _SHORTEST_KEY for key in keys) or len(set(keys)) < len(keys):
            raise ValueError(f"each key has {_SHORTEST_KEY} random characters or more, and none stands there twice")
        return value

    @property
    def keys(self) -> tuple[str, ...]:
        """The secrets of ``state_keys``, the one that seals first; none when they are not set."""
        return _parts(self.state_keys.get_secret_value())

    @property
    def processes(self) -> int:
        """How many processes share the callers."""
        return self.replicas * self.workers

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
        public = urlsplit(self.public_url).hostname or ""
        public = f"[{public}]" if ":" in public else public
        return frozenset(name.lower() for name in (*here, own, public, *_parts(self.hosts)) if name)


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part for part in (each.strip() for each in text.split(",")) if part)
