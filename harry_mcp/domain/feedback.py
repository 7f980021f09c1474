"""What people say of an answer."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Rating(StrEnum):
    """Thumbs."""

    UP = "up"
    DOWN = "down"


class Complaint(StrEnum):
    """Why an answer was no good. A thumbs down always names one."""

    WRONG = "wrong"
    OUTDATED = "outdated"
    INCOMPLETE = "incomplete"
    IRRELEVANT = "irrelevant"
    BAD_SOURCE = "bad_source"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """One person's verdict on one result. ``reason`` is empty for a thumbs up."""

    result_id: str
    author: str
    rating: Rating
    question: str
    reason: str = ""
    answer: str = ""
    comment: str = ""
    source_urls: tuple[str, ...] = ()
    verified_id: str = ""

    @property
    def id(self) -> str:
        """One for each person and result, so that a second verdict replaces the first."""
        return "fb_" + hashlib.sha256(f"{self.result_id}\x00{self.author}".encode()).hexdigest()[:20]


@dataclass(frozen=True, slots=True)
class PastFailure:
    """A question like this one that was answered badly before."""

    id: str
    question: str
    reason: str
    comment: str
    source_urls: list[str]
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """What a caller says of a result."""

    result_id: str
    rating: Rating
    reason: str = ""
    comment: str = ""
    answer: str = ""
    source_urls: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class FeedbackOutcome:
    """What was done about it. ``effects`` are sentences for a person; ``replaced``: the caller had spoken before."""

    feedback_id: str
    candidate_id: str = ""
    flagged: list[str] = field(default_factory=list[str])
    drafts: list[str] = field(default_factory=list[str])
    effects: list[str] = field(default_factory=list[str])
    replaced: bool = False
