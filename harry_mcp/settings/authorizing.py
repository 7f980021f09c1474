"""Whom the server lets in over HTTP beside the holder of the one token: by an issuer's tokens, or by digests."""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from typing import Literal, Self, get_args
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from harry_mcp.settings.section import Positive, Section

RoleName = Literal["reader", "contributor", "curator", "admin"]
_LINE = re.compile(
    rf"(?P<name>[^\s:,#][^\s:,]{{0,99}}):(?P<role>{'|'.join(get_args(RoleName))}):(?P<digest>[0-9a-f]{{64}})"
)


class AuthSection(Section):
    """Tokens of an issuer (JWT), and tokens of which the settings hold the digest."""

    issuer: str = Field(
        default="",
        description="The issuer whose tokens (JWT) are taken, letter for letter as their iss says. Empty: none are.",
    )
    jwks_url: str = Field(
        default="",
        description="Where the issuer publishes its keys (JWKS), over https. Whoever can answer there makes tokens.",
    )
    audience: str = Field(
        default="",
        description="What aud of a token is to hold. Empty: HARRY_HTTP__PUBLIC_URL, or the address of /mcp here. "
        "One that other services share lets their tokens in.",
    )
    leeway: float = Field(
        default=30.0,
        ge=0,
        le=300,
        description="Seconds that clocks may differ. More let a token live longer than its issuer said.",
    )
    keys_seconds: Positive = Field(
        default=900,
        description="Seconds after which the keys are fetched again. More trust a key longer that was taken back.",
    )
    pause_seconds: Positive = Field(
        default=10,
        description="Seconds between two fetches for a key that is not known. Fewer let strangers make us ask the "
        "issuer more often; more keep a new key waiting.",
    )
    timeout: float = Field(
        default=5.0, gt=0, le=30, description="Seconds to wait for the issuer's keys; callers with a new key wait too."
    )
    tokens: str = Field(
        default="",
        description="Tokens by digest, as `harry token new` prints them, name:role:digest, separated by commas.",
    )
    tokens_file: Path | None = Field(
        default=None,
        description="A file with the same, one a line; # begins a comment. It is read again within a second or two of "
        "a change; one that cannot be used then leaves the tokens as they were, and the log says why.",
    )
    trusted: str = Field(
        default="",
        description="Names whose corrections count at once, separated by commas; curators are trusted anyway. One that "
        "is careless changes answers without review.",
    )

    @property
    def lets_in(self) -> bool:
        """Whether anybody is let in by these settings."""
        return bool(self.issuer or self.tokens or self.tokens_file)

    @field_validator("jwks_url")
    @classmethod
    def _safe_address(cls, value: str) -> str:
        parts = urlsplit(value)
        if value and not (parts.hostname and (parts.scheme == "https" or _here(parts.scheme, parts.hostname))):
            raise ValueError("keys are fetched over https; http is for 127.0.0.1 alone")
        return value

    @field_validator("tokens")
    @classmethod
    def _lines(cls, value: str) -> str:
        for line in filter(None, (each.strip() for each in value.split(","))):
            if _LINE.fullmatch(line) is None:
                raise ValueError("a token is name:role:digest; `harry token new NAME --role ROLE` prints the line")
        return value

    @model_validator(mode="after")
    def _both(self) -> Self:
        if bool(self.issuer) != bool(self.jwks_url):
            raise ValueError("an issuer needs the address of its keys, and the keys their issuer; set both or none")
        return self


def token_line(text: str) -> tuple[str, str, str] | None:
    """Name, role and digest of a line; None when it is none."""
    found = _LINE.fullmatch(text.strip())
    return (found["name"], found["role"], found["digest"]) if found else None


def _here(scheme: str, host: str) -> bool:
    if scheme != "http":
        return False
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
