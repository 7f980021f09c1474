"""Verified responses, their counters, and every serving of one."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
from pgvector import Vector
from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from harry_mcp.domain.verified import (
    CacheRules,
    Match,
    ServedHit,
    VerifiedResponse,
    VerifiedSource,
    VerifiedStatus,
    learnt_threshold,
    retired,
    verified_id,
)
from harry_mcp.errors import NotFoundError
from harry_mcp.storage import queries
from harry_mcp.storage.spaces import StoredSpace

_SQL = queries.load("verified")
# Servings that an entry's threshold is learnt from: the last ones, for documents and questions change.
_SEEN = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class NearResponse(VerifiedResponse):
    """An entry near a question. ``refused_cosine`` is -1 when it has no question that it must never answer.

    ``flagged`` holds the titles of its documents that wait for review.
    """

    refused_cosine: float
    refused_question: str
    flagged: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Lookup:
    """One question put to the official answers, and what served it. ``verified_id`` is None where none did."""

    id: str
    verified_id: str | None
    search_id: str
    question: str
    match: str
    cosine: float
    reason: str
    wrong: bool
    created_at: datetime


@dataclass(frozen=True, slots=True)
class _Marks:
    wrong: bool
    mismatch: bool


@dataclass(frozen=True, slots=True)
class _Negatives:
    negatives: int


@dataclass(frozen=True, slots=True)
class _Citation:
    verified_id: str
    document_id: str


class Verified:
    """The entries as one connection sees them. Writing needs a transaction around it."""

    def __init__(self, connection: AsyncConnection[Any], space: StoredSpace) -> None:
        self._connection = connection
        self._space = space

    async def submit(
        self, question: str, answer: str, sources: Sequence[VerifiedSource], *, origin: str, result_id: str, by: str
    ) -> str:
        """Store a candidate with the documents that it cites; its id. The same one again changes nothing."""
        key = verified_id(question, answer)
        stored = await queries.run(
            self._connection,
            _SQL["insert"],
            {
                "id": key,
                "question": question,
                "answer": answer,
                "sources": Jsonb([asdict(source) for source in sources]),
                "origin": origin,
                "result_id": result_id,
                "by": by,
            },
        )
        if stored:
            await self._cite(key, sources)
        return key

    async def get(self, key: str) -> VerifiedResponse | None:
        row = await queries.one(self._connection, _SQL["by_id"], VerifiedResponse, {"id": key})
        return _typed(row) if row else None

    async def list(self, status: str, *, limit: int, offset: int = 0) -> list[VerifiedResponse]:
        """Entries of a status, the last changed first; '' for all, 'held' for active ones that are held back."""
        parameters = {"status": status, "limit": limit, "offset": offset}
        return [_typed(row) for row in await queries.many(self._connection, _SQL["list"], VerifiedResponse, parameters)]

    async def lock(self, key: str) -> VerifiedResponse:
        """An entry that nobody else changes until the transaction ends.

        Raises:
            NotFoundError: there is none.
        """
        row = await queries.one(self._connection, _SQL["lock"], VerifiedResponse, {"id": key})
        if row is None:
            raise NotFoundError(f"There is no verified response {key[:60]!r}. list_verified shows them.")
        return _typed(row)

    async def decide(self, key: str, status: VerifiedStatus, *, by: str) -> None:
        """Move an entry; one that becomes active vouches for its documents as they are now."""
        entry = await self.lock(key)
        await queries.run(self._connection, _SQL["decide"], {"id": key, "status": status.value, "by": by})
        if status is VerifiedStatus.ACTIVE:
            await self._cite(key, entry.sources)

    async def reword(self, key: str, answer: str) -> None:
        await queries.run(self._connection, _SQL["reword"], {"id": key, "answer": answer})

    async def near(self, keys: Sequence[str], query: npt.NDArray[np.float32]) -> dict[str, NearResponse]:
        """Active entries by id, with the question nearest to ``query`` that each must never answer."""
        parameters = {"space": self._space.id, "query": Vector(query), "ids": list(keys)}
        rows = await queries.many(self._connection, _SQL["near"], NearResponse, parameters)
        return {row.id: _typed(row) for row in rows}

    async def documents_of(self, keys: Sequence[str]) -> dict[str, frozenset[str]]:
        """The ids of the documents that each entry rests on; entries that rest on none are left out."""
        rows = await queries.many(self._connection, _SQL["documents_of"], _Citation, {"ids": list(keys)})
        found: dict[str, set[str]] = {}
        for row in rows:
            found.setdefault(row.verified_id, set()).add(row.document_id)
        return {key: frozenset(documents) for key, documents in found.items()}

    async def note_lookup(
        self, *, id: str, question: str, match: Match, verified_id: str, cosine: float, reason: str, search_id: str
    ) -> None:
        """Write down a lookup; an exact one counts as a use of its entry."""
        if match is Match.EXACT:
            await queries.run(self._connection, _SQL["count_use"], {"id": verified_id})
        await queries.run(
            self._connection,
            _SQL["note_lookup"],
            {
                "id": id,
                "verified_id": verified_id or None,
                "search_id": search_id,
                "question": question,
                "match": match.value,
                "cosine": cosine,
                "reason": reason,
            },
        )

    async def lookup(self, result_id: str) -> Lookup | None:
        """The serving that a lookup id or a search id names."""
        return await queries.one(self._connection, _SQL["lookup"], Lookup, {"id": result_id})

    async def complain(self, lookup: Lookup, mismatches: Sequence[str], rules: CacheRules) -> VerifiedResponse | None:
        """Let an entry learn from the complaints about an exact serving, after one came or was taken back.

        ``mismatches`` are the reasons that mean that the entry answers another question, which raises its own
        threshold. None where the serving was no exact one, or nothing changed.
        """
        if lookup.verified_id is None or lookup.match != Match.EXACT:
            return None
        # What is read from here on, nobody else changes: two people may speak of one serving at once.
        entry = await self.lock(lookup.verified_id)
        before = await queries.one(self._connection, _SQL["marks"], _Marks, {"id": lookup.id})
        standing = {"id": lookup.id, "search_id": lookup.search_id, "mismatches": list(mismatches)}
        now = await queries.one(self._connection, _SQL["standing"], _Marks, standing)
        if now is None or now == before:
            return None
        marks = {"id": lookup.id, "wrong": now.wrong, "mismatch": now.mismatch}
        await queries.run(self._connection, _SQL["mark_wrong"], marks)
        counted = await queries.one(self._connection, _SQL["count_wrong"], _Negatives, {"id": entry.id})
        negatives = counted.negatives if counted else 0
        seen = await queries.many(self._connection, _SQL["served"], ServedHit, {"id": entry.id, "limit": _SEEN})
        threshold = learnt_threshold(seen, rules)
        dies = entry.status is VerifiedStatus.ACTIVE and retired(entry.uses, negatives, rules)
        changed = replace(
            entry,
            negatives=negatives,
            threshold=threshold if threshold > rules.exact else 0.0,
            status=VerifiedStatus.RETIRED if dies else entry.status,
        )
        await queries.run(
            self._connection,
            _SQL["settle"],
            {
                "id": entry.id,
                "negatives": negatives,
                "threshold": changed.threshold,
                "status": changed.status.value,
            },
        )
        return changed

    async def refuse(self, key: str, question: str, *, by: str) -> str:
        """Remember that an entry must never answer a question; the id of the refusal, to be embedded under."""
        refusal = "nev_" + hashlib.sha256(f"{key}\x00{' '.join(question.casefold().split())}".encode()).hexdigest()[:20]
        await queries.run(
            self._connection, _SQL["refuse"], {"id": refusal, "verified_id": key, "question": question, "by": by}
        )
        return refusal

    async def _cite(self, key: str, sources: Sequence[VerifiedSource]) -> None:
        await queries.run(self._connection, _SQL["uncite"], {"id": key})
        documents = [source.document_id for source in sources if source.document_id]
        if documents:
            await queries.run(self._connection, _SQL["cite"], {"id": key, "documents": documents})


def _typed(row: Any) -> Any:
    """Status and sources as the domain has them; the row brings text and JSON."""
    return replace(
        row,
        status=VerifiedStatus(row.status),
        sources=tuple(VerifiedSource(**source) for source in row.sources),
    )
