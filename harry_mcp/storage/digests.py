"""What the digest counts, and which day's digest was mailed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from psycopg import AsyncConnection

from harry_mcp.domain.digest import (
    Activity,
    AskedGap,
    DayOfSearches,
    DigestEvent,
    DigestMail,
    EventCount,
    FlaggedDocument,
    MailState,
    VerdictCount,
    Waiting,
)
from harry_mcp.storage import queries
from harry_mcp.storage.texts import storable

_SQL = queries.load("digests")


@dataclass(frozen=True, slots=True)
class MailClaim:
    """The right to send a day's mail. ``key`` names the message, the same in each try."""

    attempt: int
    key: str


class Digests:
    """All of it as one connection sees it. ``until`` is the moment that is counted back from."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    async def events(self, until: datetime, hours: int) -> list[EventCount]:
        """What happened to documents, by kind, the most frequent first."""
        return await queries.many(self._connection, _SQL["events"], EventCount, {"until": until, "hours": hours})

    async def last_events(self, until: datetime, hours: int, *, limit: int) -> list[DigestEvent]:
        parameters = {"until": until, "hours": hours, "limit": limit}
        return await queries.many(self._connection, _SQL["last_events"], DigestEvent, parameters)

    async def days(self, until: datetime, days: int) -> list[DayOfSearches]:
        """Searches by day, the oldest first; a day without one is there too."""
        return await queries.many(self._connection, _SQL["days"], DayOfSearches, {"until": until, "days": days})

    async def gaps(self, until: datetime, days: int, *, limit: int) -> list[AskedGap]:
        """What went unanswered most often."""
        parameters = {"until": until, "days": days, "limit": limit}
        return await queries.many(self._connection, _SQL["gaps"], AskedGap, parameters)

    async def most_flagged(self, until: datetime, days: int, *, limit: int) -> list[FlaggedDocument]:
        """Documents that readers see and most was said against."""
        parameters = {"until": until, "days": days, "limit": limit}
        return await queries.many(self._connection, _SQL["most_flagged"], FlaggedDocument, parameters)

    async def waiting(self) -> Waiting:
        return await queries.one(self._connection, _SQL["waiting"], Waiting) or Waiting()

    async def feedback(self, until: datetime, days: int) -> list[VerdictCount]:
        return await queries.many(self._connection, _SQL["feedback"], VerdictCount, {"until": until, "days": days})

    async def activity(self, until: datetime, hours: int) -> Activity:
        found = await queries.one(self._connection, _SQL["activity"], Activity, {"until": until, "hours": hours})
        return found or Activity()

    async def claim_mail(self, day: date, recipients: int) -> MailClaim | None:
        """Begin to send the mail of a day; None when it was sent or may have been.

        Only for who holds the lock of mails: a claim that is found there is of a process that died.
        """
        parameters = {"day": day, "recipients": recipients}
        return await queries.one(self._connection, _SQL["claim_mail"], MailClaim, parameters)

    async def give_up_mail(self, day: date, why: str) -> bool:
        """Leave a mail alone whose sender died after it was handed over; false when there is none."""
        return bool(await queries.run(self._connection, _SQL["give_up_mail"], {"day": day, "error": why}))

    async def mail_state(self, day: date, attempt: int, state: MailState, error: str = "") -> bool:
        """Take a mail to its next state; false when another try has begun since, and this one must stop."""
        parameters = {"day": day, "attempt": attempt, "state": state.value, "error": storable(error)}
        return bool(await queries.run(self._connection, _SQL["mail_state"], parameters))

    async def mail_of(self, day: date) -> DigestMail | None:
        return await queries.one(self._connection, _SQL["mail_of"], DigestMail, {"day": day})

    async def last_mail(self) -> DigestMail | None:
        return await queries.one(self._connection, _SQL["last_mail"], DigestMail)
