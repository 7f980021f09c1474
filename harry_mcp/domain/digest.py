"""The digest: what happened to the knowledge base in a day, what it could not answer, and what waits for a curator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class EventCount:
    """Events of one kind. ``signal`` is empty for what is no signal."""

    event: str
    signal: str
    number: int
    documents: int


@dataclass(frozen=True, slots=True)
class DigestEvent:
    """One event. ``title`` is empty when the document is gone."""

    at: datetime
    event: str
    signal: str
    actor: str
    document_id: str
    title: str


@dataclass(frozen=True, slots=True)
class DayOfSearches:
    """Searches of 24 hours that end on a day, and how many of them were weak."""

    day: date
    searches: int
    weak: int


@dataclass(frozen=True, slots=True)
class Escalation:
    """How many searches the knowledge base could not answer itself, so that the web was called for."""

    searches: int
    weak: int

    @property
    def rate(self) -> float:
        """Their share, 0 to 1; -1 without a search."""
        return self.weak / self.searches if self.searches else -1.0


@dataclass(frozen=True, slots=True)
class AskedGap:
    """A question that went unanswered, how often it was asked lately, and the best score that it found."""

    gap_id: str
    question: str
    topic: str
    asked: int
    best_score: float


@dataclass(frozen=True, slots=True)
class FlaggedDocument:
    """A document that something was said against lately, and how often."""

    document_id: str
    title: str
    url: str
    status: str
    flags: int
    signals: list[str]
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits for a curator now."""

    pending_documents: int = 0
    flagged_documents: int = 0
    corrections: int = 0
    verified_candidates: int = 0
    verified_held: int = 0

    @property
    def total(self) -> int:
        return (
            self.pending_documents
            + self.flagged_documents
            + self.corrections
            + self.verified_candidates
            + self.verified_held
        )


@dataclass(frozen=True, slots=True)
class VerdictCount:
    """Verdicts on answers of one kind. ``reason`` is empty for praise, and where none was given."""

    rating: str
    reason: str
    number: int


@dataclass(frozen=True, slots=True)
class Activity:
    """What came in: corrections, web searches for what was missed, official answers that were served."""

    corrections: int = 0
    web_searches: int = 0
    verified_served: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """The state at ``until`` (UTC).

    ``events``, ``last_events`` and ``activity`` are of the 24 hours before; ``days`` of the 14 days before, the oldest
    first; ``gaps`` and ``feedback`` of the 7 days before; ``most_flagged`` of ``flagged_days``.
    """

    until: datetime
    events: Sequence[EventCount]
    last_events: Sequence[DigestEvent]
    activity: Activity
    days: Sequence[DayOfSearches]
    gaps: Sequence[AskedGap]
    most_flagged: Sequence[FlaggedDocument]
    flagged_days: int
    feedback: Sequence[VerdictCount]
    waiting: Waiting

    @property
    def this_week(self) -> Escalation:
        return _sum(self.days[-7:])

    @property
    def week_before(self) -> Escalation:
        return _sum(self.days[:-7])

    @property
    def change(self) -> float | None:
        """The rate of this week less that of the week before, -1 to 1; None when one of them had no search."""
        now, before = self.this_week, self.week_before
        return now.rate - before.rate if now.searches and before.searches else None

    @property
    def flags(self) -> int:
        """Signals against documents in the last 24 hours."""
        return sum(count.number for count in self.events if count.event == "flag")

    @property
    def event_total(self) -> int:
        return sum(count.number for count in self.events)

    def verdicts(self, rating: str) -> int:
        return sum(count.number for count in self.feedback if count.rating == rating)


def _sum(days: Sequence[DayOfSearches]) -> Escalation:
    return Escalation(sum(day.searches for day in days), sum(day.weak for day in days))


class MailState(StrEnum):
    """How far a day's mail came. ``handed``: on its way to the mail server. ``unknown``: its sender died then, so it
    may have been delivered, and is not sent again."""

    CLAIMED = "claimed"
    HANDED = "handed"
    SENT = "sent"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class DigestMail:
    """What became of a day's mail."""

    day: date
    state: str
    attempt: int
    recipients: int
    error: str
    changed_at: datetime
