"""The digest, and the mail server that takes it to the curators."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, ValidationInfo, field_validator

from harry_mcp.settings.section import Positive, Section

_ADDRESS = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+@[A-Za-z0-9.-]+")


class DigestSection(Section):
    """What the daily digest shows."""

    top: int = Field(
        default=5, ge=1, le=20, description="Gaps, documents and events that it names. More are not read to the end."
    )
    flagged_days: Positive = Field(
        default=14,
        description="Days of signals by which the most flagged documents are found. Fewer miss what is said weekly.",
    )


class MailSection(Section):
    """The mail server. Without ``host`` and ``recipients`` there is no mail."""

    host: str = Field(default="", description="The mail server that takes the digest. Empty: no mail is sent.")
    port: int = Field(
        default=587, ge=1, le=65535, description="Its port: 587 for STARTTLS, 465 where TLS comes first, 25 for none."
    )
    security: Literal["starttls", "tls", "none"] = Field(
        default="starttls",
        description="`starttls` or `tls`; the certificate is verified in both. `none` sends in the clear and is "
        "refused with a password: for a relay on this machine only.",
    )
    ca_file: Path | None = Field(
        default=None,
        description="Certificates (PEM) to trust instead of the system's, for a server with one of its own authority.",
    )
    username: str = Field(default="", description="The user at the mail server. Empty: none is named.")
    password: SecretStr = Field(default=SecretStr(""), description="The password of that user.")
    sender: str = Field(
        default="",
        description="The address in From. Empty: the user, where that is an address, else the first recipient.",
    )
    recipients: str = Field(
        default="", description="Addresses that the digest goes to, separated by commas. Empty: no mail is sent."
    )
    timeout: float = Field(
        default=30.0, gt=0, le=300, description="Seconds to wait for each answer of the server. Fewer lose slow ones."
    )

    @field_validator("sender", "recipients")
    @classmethod
    def _addresses_only(cls, value: str, about: ValidationInfo) -> str:
        if about.field_name == "sender" and "," in value:
            raise ValueError("it is more than one address")
        for address in value.split(","):
            if address.strip() and not _ADDRESS.fullmatch(address.strip()):
                raise ValueError("it holds something that is no mail address")
        return value

    @property
    def addresses(self) -> tuple[str, ...]:
        """The recipients, each once."""
        return tuple(dict.fromkeys(address.strip() for address in self.recipients.split(",") if address.strip()))

    @property
    def from_address(self) -> str:
        """The address in From."""
        user = self.username if _ADDRESS.fullmatch(self.username) else ""
        return self.sender.strip() or user or self.addresses[0]

    @property
    def configured(self) -> bool:
        """Whether mail is to be sent at all."""
        return bool(self.host and self.addresses)
