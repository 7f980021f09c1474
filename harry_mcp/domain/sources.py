"""Whether the source of a document is still there: what one answer means, and what a row of them over days does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from urllib.parse import urlsplit


class SourceState(StrEnum):
    """What an address answered. ``unclear`` says nothing yet; ``skipped`` was not asked, for it may not be."""

    ALIVE = "alive"
    DEAD = "dead"
    UNCLEAR = "unclear"
    SKIPPED = "skipped"


# Why an address of a local network was skipped. It is asked as soon as that is allowed.
PRIVATE = "it is a private address, and those are not asked unless you allow it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One answer. ``status`` 0: there was none; ``reached`` says that a server was there all the same. ``location`` is
    set where it redirects to another site, ``retry_at`` where the host asked to be left alone until then."""

    outcome: SourceState
    method: str
    status: int = 0
    reason: str = ""
    location: str = ""
    retry_at: datetime | None = None
    reached: bool = False

    @property
    def refused(self) -> bool:
        """Whether we were turned away, which says more of us than of the page."""
        return self.status in (401, 403, 429)


@dataclass(frozen=True, slots=True)
class Answered:
    """A stored answer of an address on a day."""

    url: str
    day: date
    checked_at: datetime
    outcome: str
    method: str
    status: int
    reason: str
    location: str

    def as_json(self) -> dict[str, object]:
        """For the log, as evidence."""
        told = {"status": self.status, "reason": self.reason, "location": self.location}
        return {"day": f"{self.day}", "method": self.method, **{name: value for name, value in told.items() if value}}


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceVerdict:
    """Why a document is to be flagged. ``kind``: gone, moved (to another site), or unreachable for days."""

    kind: str
    since: date
    days: int
    last: Answered

    @property
    def why(self) -> str:
        """In half a sentence."""
        match self.kind:
            case "moved":
                return f"{self.last.url} redirects to {self.last.location} since {self.since}"
            case "gone":
                return f"{self.last.url} answers {self.last.status} since {self.since}"
            case _:
                return (
                    f"{self.last.url} could not be reached on {self.days} days since {self.since}: {self.last.reason}"
                )

    @property
    def evidence(self) -> str:
        """The same for as long as the source stays away."""
        return f"{'unreachable' if self.kind == 'unreachable' else 'dead'}:{self.last.url[:500]}:{self.since}"


# What a status means, for those that say something by themselves.
_ALIVE_TOO = frozenset({304, 416})  # not modified; there, and shorter than the range that was asked for
_GONE = frozenset({404, 410})


def state_of(status: int) -> SourceState:
    """What a status other than a redirect says of the page."""
    if 200 <= status < 300 or status in _ALIVE_TOO:
        return SourceState.ALIVE
    return SourceState.DEAD if status in _GONE else SourceState.UNCLEAR


# Where a site leads whoever asks for what it does not have any more.
_HOME = re.compile(r"/?(?:[a-z]{2}(?:[-_][a-z]{2})?/?)?(?:(?:index|default|home)(?:\.\w{2,5})?/?)?", re.IGNORECASE)
_NOT_THERE = re.compile(
    r"/(?:error[-_]?)?(?:404|(?:page[-_]?)?not[-_]?found)(?:[-_]?error)?(?:\.\w{2,5})?/?$", re.IGNORECASE
)


def leads_home(start: str, end: str) -> bool:
    """Whether a redirect within a site gives up the page: it ends at the site's home page, or at one that says that
    there is no such page, without saying so by its status."""
    one, other = urlsplit(start), urlsplit(end)
    if one.query == other.query and one.path.rstrip("/") == other.path.rstrip("/"):
        return False
    if _NOT_THERE.search(other.path):
        return not _NOT_THERE.search(one.path)
    return not other.query and bool(_HOME.fullmatch(other.path)) and not _HOME.fullmatch(one.path)


def same_site(one: str, other: str) -> bool:
    """Whether two addresses are of one host. ``www`` and the apex are one, http and https too."""
    return _site(one) == _site(other)


def _site(address: str) -> tuple[str, int]:
    parts = urlsplit(address)
    host = (parts.hostname or "").lower().rstrip(".")
    port = parts.port or 443
    return host.removeprefix("www."), 443 if port == 80 else port


def verdict(history: Sequence[Answered], bad_days: int) -> SourceVerdict | None:
    """What the answers of an address since it was last alive (the newest first, one a day) come to.

    A clear answer flags at once. Unclear ones flag from ``bad_days`` different days on, with no clear one between them;
    a page that answered once in between begins anew.
    """
    away: list[Answered] = []
    for answer in history:
        if answer.outcome == SourceState.ALIVE:
            break
        if answer.outcome != SourceState.SKIPPED:
            away.append(answer)
    dead = [answer for answer in away if answer.outcome == SourceState.DEAD]
    if dead:
        kind = "moved" if dead[0].location else "gone"
        return SourceVerdict(kind=kind, since=dead[-1].day, days=len(dead), last=dead[0])
    days = len({answer.day for answer in away})
    if days < bad_days:
        return None
    return SourceVerdict(kind="unreachable", since=away[-1].day, days=days, last=away[0])
