"""What the addresses of documents answered, day by day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from psycopg import AsyncConnection

from harry_mcp.domain.sources import PRIVATE, Answered, Probe
from harry_mcp.storage import queries

_SQL = queries.load("source_checks")


@dataclass(frozen=True, slots=True)
class DueAddress:
    """An address to ask. ``total`` counts all that are due; ``told``: answers say that it is dead."""

    url: str
    told: bool
    checked_at: datetime | None
    total: int


@dataclass(frozen=True, slots=True)
class SkippedAddresses:
    """How many addresses were not asked when they were due: of a local network, or not to be used."""

    private: int
    unusable: int


@dataclass(frozen=True, slots=True)
class SourcedDocument:
    """A document that has an address for its source."""

    id: str
    title: str


class SourceChecks:
    """The record as one connection sees it."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    async def due(self, *, now: datetime, limit: int, allow_private: bool) -> list[DueAddress]:
        """Addresses that were not asked on the day of ``now`` (UTC), the longest unasked first. Those that were skipped
        for being private are due once they are allowed."""
        parameters = {
            "now": now,
            "day": now.date(),
            "limit": limit,
            "allow_private": allow_private,
            "reason": PRIVATE,
        }
        return await queries.many(self._connection, _SQL["due"], DueAddress, parameters)

    async def skipped(self, *, allow_private: bool) -> SkippedAddresses:
        """Addresses of documents that readers see which were skipped last time. Private ones that are allowed now are
        due, so they do not count."""
        parameters = {"allow_private": allow_private, "reason": PRIVATE}
        found = await queries.one(self._connection, _SQL["skipped"], SkippedAddresses, parameters)
        return found or SkippedAddresses(0, 0)

    async def record(self, url: str, host: str, probe: Probe, *, now: datetime) -> bool:
        """Keep an answer; false when there is one of that day already. One that was skipped that day gives way."""
        parameters = {
            "url": url,
            "host": host,
            "day": now.date(),
            "checked_at": now,
            "outcome": probe.outcome.value,
            "method": probe.method,
            "status": probe.status,
            "reason": probe.reason,
            "location": probe.location,
            "retry_at": probe.retry_at,
        }
        return await queries.run(self._connection, _SQL["record"], parameters) > 0

    async def history(self, url: str) -> list[Answered]:
        """The answers of an address since it was last alive, the newest first."""
        return await queries.many(self._connection, _SQL["history"], Answered, {"url": url})

    async def documents_at(self, url: str) -> list[SourcedDocument]:
        return await queries.many(self._connection, _SQL["documents_at"], SourcedDocument, {"url": url})

    async def prune(self, before: date) -> int:
        """Forget the answers of long ago; how many."""
        return await queries.run(self._connection, _SQL["prune"], {"before": before})
