"""What the checks of documents read: counterparts, neighbours, unanswered questions, complaints, and how good each
signal was so far."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection

from harry_mcp.domain.rot import Track
from harry_mcp.storage import queries
from harry_mcp.storage.spaces import StoredSpace

_SQL = queries.load("signals")
# The first half of an advisory lock's key, so that checks share no key with anything else: "hc" in hex.
_LOCK_SPACE = 0x6863
# Documents that share an address, and passages of a document that are held against others, at most.
_MOST_COUNTERPARTS = 10
_MOST_PASSAGES = 400
# Beside the neighbours asked for: a passage is its own nearest, and its document's others are near.
_OWN = 6


@dataclass(frozen=True, slots=True)
class StoredText:
    """A document as it is stored. ``content`` is empty where it was not asked for."""

    id: str
    title: str
    url: str
    source: str
    status: str
    version: int
    content_hash: str
    content: str


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A passage of a document, and one of another (``id``) that is near it."""

    here: str
    cosine: float
    there: str
    there_heading: list[str]
    here_heading: list[str]
    id: str
    title: str
    url: str
    version: int


@dataclass(frozen=True, slots=True)
class AddressedDocument:
    """A document that an address names, as it is since ``updated_at``."""

    id: str
    title: str
    status: str
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A question of the gap log, and how often it was asked."""

    id: str
    question: str
    asked: int


@dataclass(frozen=True, slots=True)
class OldDocument:
    """A document that nobody changed or looked at for long. ``headings`` holds all of its headings."""

    id: str
    title: str
    language: str
    version: int
    updated_at: datetime
    headings: str


@dataclass(frozen=True, slots=True)
class TermCount:
    """How often a document has a term."""

    id: str
    term: str
    times: int


@dataclass(frozen=True, slots=True)
class Complaint:
    """What somebody said against addresses. ``kind`` is feedback or correction."""

    kind: str
    id: str
    author: str
    reason: str
    comment: str
    urls: list[str]
    at: datetime


@dataclass(frozen=True, slots=True)
class _Number:
    number: int


@dataclass(frozen=True, slots=True)
class _Held:
    held: bool


@dataclass(frozen=True, slots=True)
class _Frequency:
    term: str
    documents: int


class Signals:
    """All of it as one connection sees it."""

    def __init__(self, connection: AsyncConnection[Any], space: StoredSpace) -> None:
        self._connection = connection
        self._neighbours = _SQL["neighbours"].numbered(space=space.id, dimension=space.dimension)

    async def text_of(self, document_id: str) -> StoredText | None:
        return await queries.one(self._connection, _SQL["text_of"], StoredText, {"id": document_id})

    async def next_version(self, document_id: str) -> int:
        """The number that the next text of a document gets; 1 for a new one."""
        found = await queries.one(self._connection, _SQL["next_version"], _Number, {"id": document_id})
        return found.number if found else 1

    async def counterparts(self, document_id: str, addresses: Sequence[str]) -> list[StoredText]:
        """The other documents that readers see under one of some web addresses, in whatever spelling."""
        parameters = {"id": document_id, "addresses": list(addresses), "limit": _MOST_COUNTERPARTS}
        return await queries.many(self._connection, _SQL["counterparts"], StoredText, parameters)

    async def addressed(self, addresses: Sequence[str]) -> list[AddressedDocument]:
        """The documents behind some addresses, sources or ids."""
        parameters = {"addresses": list(addresses)}
        return await queries.many(self._connection, _SQL["addressed"], AddressedDocument, parameters)

    async def uncompared(self, kind: str, limit: int) -> list[StoredText]:
        """Documents, without their texts, whose version a check did not go through yet."""
        return await queries.many(self._connection, _SQL["uncompared"], StoredText, {"kind": kind, "limit": limit})

    async def uncompared_count(self, kind: str) -> int:
        found = await queries.one(self._connection, _SQL["uncompared_count"], _Number, {"kind": kind})
        return found.number if found else 0

    async def note_check(self, document_id: str, kind: str, version: int) -> None:
        parameters = {"id": document_id, "kind": kind, "version": version}
        await queries.run(self._connection, _SQL["note_check"], parameters)

    async def forget_check(self, document_id: str, kind: str) -> None:
        """Let a check go through a document once more."""
        await queries.run(self._connection, _SQL["forget_check"], {"document_id": document_id, "kind": kind})

    async def neighbours(self, document_id: str, *, each: int, floor: float) -> list[Neighbour]:
        """The passages of other documents that are near those of a document, the nearest first."""
        parameters = {"id": document_id, "limit": each + _OWN, "floor": floor, "most": _MOST_PASSAGES}
        return await queries.many(self._connection, self._neighbours, Neighbour, parameters)

    async def track(self, signal: str, days: int) -> Track:
        """What became of the documents that a signal flagged in the last days."""
        found = await queries.one(self._connection, _SQL["outcomes"], Track, {"signal": signal, "days": days})
        return found or Track()

    async def unanswered(self, *, days: int, now: datetime, limit: int) -> list[Unanswered]:
        """The questions that went unanswered lately, the most asked first."""
        parameters = {"days": days, "now": now, "limit": limit}
        return await queries.many(self._connection, _SQL["unanswered"], Unanswered, parameters)

    async def old(self, *, days: int, now: datetime) -> list[OldDocument]:
        """Live documents that were neither changed nor looked at for some days."""
        return await queries.many(self._connection, _SQL["old"], OldDocument, {"days": days, "now": now})

    async def old_words(self, ids: Collection[str], terms: Collection[str]) -> list[TermCount]:
        """How often some documents have some terms, where they have them."""
        return await queries.many(
            self._connection, _SQL["old_words"], TermCount, {"ids": list(ids), "terms": list(terms)}
        )

    async def frequencies(self, terms: Collection[str]) -> dict[str, int]:
        """In how many searchable documents each term is."""
        rows = await queries.many(self._connection, _SQL["frequencies"], _Frequency, {"terms": list(terms)})
        return {row.term: row.documents for row in rows}

    async def complaints(self, *, days: int, now: datetime) -> list[Complaint]:
        """What was said against addresses lately, the oldest first."""
        return await queries.many(self._connection, _SQL["complaints"], Complaint, {"days": days, "now": now})

    async def try_lock(self, name: str) -> bool:
        """Take a check for as long as this connection lives; false when another process is at it."""
        found = await queries.one(self._connection, _SQL["try_lock"], _Held, {"lock": _LOCK_SPACE, "name": name})
        return bool(found and found.held)
