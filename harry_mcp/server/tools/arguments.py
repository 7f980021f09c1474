"""Arguments that several tools share."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, Field


def instant(text: str) -> datetime | None:
    """A date or a moment in ISO 8601; one without a zone is UTC; empty is none.

    Raises:
        ValueError: it is neither; the message says what to send.
    """
    if not text.strip():
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise ValueError("send a date like 2026-01-31, or a moment like 2026-01-31T12:00:00Z") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def checked_instant(text: str) -> str:
    instant(text)
    return text


Topic = Annotated[str, Field(description="Only documents of this topic. Default: empty, all topics.")]
Source = Annotated[
    str,
    Field(description="Only documents whose source or URL begins with this. Default: empty, all sources."),
]
Language = Annotated[
    str,
    Field(description="Only documents in this language, an ISO 639-1 code such as en. Default: empty, all."),
]
UpdatedSince = Annotated[
    str,
    AfterValidator(checked_instant),
    Field(description="Only documents changed at or after this ISO 8601 date or moment. Default: empty, all."),
]
