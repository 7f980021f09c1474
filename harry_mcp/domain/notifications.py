"""A message to people, whatever takes it to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A PNG that the HTML shows as ``cid:<name>``."""

    name: str
    png: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """A message in both forms. ``key`` is the same for what is the same message, so that mail servers can tell."""

    key: str
    subject: str
    text: str
    html: str
    pictures: Sequence[Picture] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """Whom the service took the message for, and whom it refused, with its words."""

    accepted: Sequence[str]
    refused: Sequence[str] = ()
