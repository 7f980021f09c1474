"""Moments as replies write them."""

from __future__ import annotations

from datetime import UTC, datetime


def moment(at: datetime | None) -> str:
    """ISO 8601 in UTC, to the second; empty for none."""
    return at.astimezone(UTC).isoformat(timespec="seconds") if at else ""
