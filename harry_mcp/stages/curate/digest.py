"""The digest: counted in the database, and put into words that every form of it shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from harry_mcp.domain.digest import Digest, Escalation
from harry_mcp.domain.plain import sanitised
from harry_mcp.settings import DigestSection
from harry_mcp.storage.unit_of_work import UnitOfWork

_HOURS = 24
_WEEK = 7
# Characters of a stored text in one row.
_SHORT = 160
# Points of a rate, of 100, under which a change is not worth a word.
_STEADY = 1


@dataclass(frozen=True, slots=True)
class Row:
    """A figure and what it is of. ``label`` and ``detail`` hold stored text, made plain but not escaped."""

    figure: str
    label: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """Rows under a title; ``empty`` is said where there is none."""

    title: str
    rows: Sequence[Row]
    empty: str


async def gather(unit: UnitOfWork, settings: DigestSection, *, until: datetime, top: int = 0) -> Digest:
    """Count everything back from a moment. ``top`` 0 takes the setting."""
    digests, limit = unit.digests, top or settings.top
    return Digest(
        until=until,
        events=await digests.events(until, _HOURS),
        last_events=await digests.last_events(until, _HOURS, limit=limit),
        activity=await digests.activity(until, _HOURS),
        days=await digests.days(until, 2 * _WEEK),
        gaps=await digests.gaps(until, _WEEK, limit=limit),
        most_flagged=await digests.most_flagged(until, settings.flagged_days, limit=limit),
        flagged_days=settings.flagged_days,
        feedback=await digests.feedback(until, _WEEK),
        waiting=await digests.waiting(),
    )


def percent(escalation: Escalation) -> str:
    return f"{escalation.rate:.0%}" if escalation.searches else "no searches"


def change_in_words(digest: Digest) -> str:
    """How the rate of this week stands to that of the week before."""
    if digest.change is None:
        return "nothing to compare with"
    points = round(100 * digest.change)
    if abs(points) < _STEADY:
        return "as in the week before"
    noun = "point" if abs(points) == 1 else "points"
    return f"{'up' if points > 0 else 'down'} {abs(points)} {noun} from the week before"


def headline(digest: Digest) -> str:
    """The digest in a line: figures alone, no stored text."""
    week = digest.this_week
    rate = f"{percent(week)} of searches escalated" if week.searches else "no searches in 7 days"
    return f"{digest.waiting.total} waiting, {digest.flags} new flags, {rate}"


def next_step(digest: Digest) -> str:
    """What a curator does first."""
    waiting = digest.waiting
    if waiting.flagged_documents or waiting.pending_documents:
        return "Call list_review_queue for the documents that wait, the most harmful first."
    if waiting.corrections:
        return "Call list_corrections for those that wait for review."
    if waiting.verified_candidates or waiting.verified_held:
        return "Call list_verified for the official answers that wait."
    if digest.gaps:
        return "Nothing waits. Close the top gap: ingest_source with a page that answers it."
    return "Nothing waits."


def blocks(digest: Digest) -> list[Block]:
    """The whole digest, the most pressing first."""
    return [
        Block("Waiting for a curator", _waiting(digest), "Nothing waits."),
        Block("Searches that the web was needed for", _searches(digest), ""),
        Block(
            "Questions without an answer, 7 days",
            [Row(f"{gap.asked}×", _plain(gap.question), _about(gap.topic, gap.best_score)) for gap in digest.gaps],
            _no_gaps(digest.this_week),
        ),
        Block(
            f"Most flagged documents, {digest.flagged_days} days",
            [
                Row(f"{each.flags}×", _plain(each.title), f"{', '.join(map(_words, each.signals))}; {each.status}")
                for each in digest.most_flagged
            ],
            "Nothing was said against a document.",
        ),
        Block(
            "Curation, 24 hours",
            [
                Row(str(count.number), _event(count.event, count.signal), _documents(count.documents))
                for count in digest.events
            ],
            "Nothing happened to documents.",
        ),
        Block(
            "Feedback, 7 days",
            [
                Row(str(count.number), "thumbs up" if count.rating == "up" else "thumbs down", _words(count.reason))
                for count in digest.feedback
            ],
            "No feedback.",
        ),
    ]


def _no_gaps(week: Escalation) -> str:
    """What it means that there is no gap."""
    if not week.searches:
        return "Nothing was asked in the last 7 days."
    if week.weak:
        searches = "search" if week.weak == 1 else "searches"
        return f"No gap was opened. The filters of {week.weak} weak {searches} left nothing to search."
    return "Every question of the last 7 days was answered."


def _waiting(digest: Digest) -> list[Row]:
    waiting = digest.waiting
    every = (
        (waiting.flagged_documents, "flagged document", "", "shown to readers with a caveat"),
        (waiting.pending_documents, "pending document", "", "not shown to readers yet"),
        (waiting.corrections, "correction", " to review", ""),
        (waiting.verified_candidates, "official answer", " to approve", ""),
        (waiting.verified_held, "official answer", " held back", "a cited document changed"),
    )
    return [Row(str(number), _plural(number, noun) + rest, detail) for number, noun, rest, detail in every if number]


def _searches(digest: Digest) -> list[Row]:
    week, before, day = digest.this_week, digest.week_before, digest.activity
    of_all = f"{week.weak} of {week.searches} searches; {change_in_words(digest)}"
    rows = [Row(percent(week), "in the last 7 days", of_all)]
    if before.searches:
        rows.append(Row(percent(before), "in the 7 days before", f"{before.weak} of {before.searches} searches"))
    if day.web_searches or day.verified_served or day.corrections:
        rows.append(Row(str(day.web_searches), "times the web was asked, 24 hours", ""))
        rows.append(Row(str(day.verified_served), "official answers served, 24 hours", ""))
        rows.append(Row(str(day.corrections), "corrections submitted, 24 hours", ""))
    return rows


def _about(topic: str, score: float) -> str:
    return (f"{_plain(topic)}; " if topic else "") + f"best score {score:.2f}"


def _event(event: str, signal: str) -> str:
    return f"{_words(event)}: {_words(signal)}" if signal else _words(event)


def _documents(number: int) -> str:
    return f"{number} {_plural(number, 'document')}"


def _plural(number: int, noun: str) -> str:
    return noun if number == 1 else f"{noun}s"


def _words(name: str) -> str:
    return _plain(name.replace("_", " "))


def _plain(text: str) -> str:
    return " ".join(sanitised(text, _SHORT).split())
