"""Ingestions: who works on which, how far it is, and how it ended."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from harry_mcp.domain.ingestions import Ingestion, IngestionRequest, IngestionState, IngestionTally, Problem
from harry_mcp.storage import queries

_SQL = queries.load("ingestions")
# The first half of an advisory lock's key, so that ingestions share no key with anything else: "hi" in hex.
_LOCK_SPACE = 0x6869


@dataclass(frozen=True, slots=True)
class OpenIngestion:
    """The ingestion of a source that is not at its end, be it worked on or interrupted."""

    number: int
    id: str


@dataclass(frozen=True, slots=True)
class Taken:
    """The attempt that begins, and when the first one did."""

    attempts: int
    started_at: datetime


@dataclass(frozen=True, slots=True)
class Made:
    """Documents that were made, and that changed."""

    new: int
    changed: int


@dataclass(frozen=True, slots=True)
class _Held:
    held: bool


class Ingestions:
    """Ingestions as one connection sees them. A lock lives as long as the connection, or until it is unlocked."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    async def enter(self, request: IngestionRequest) -> OpenIngestion | None:
        """The open ingestion of the same source, made when there is none; None when that one ended this moment."""
        asked = _columns(request)
        await queries.run(self._connection, _SQL["enter"], asked | {"id": f"ing_{uuid.uuid4().hex[:16]}"})
        return await queries.one(self._connection, _SQL["open_one"], OpenIngestion, asked)

    async def try_lock(self, number: int) -> bool:
        found = await queries.one(self._connection, _SQL["try_lock"], _Held, _key(number))
        return found is not None and found.held

    async def unlock(self, number: int) -> None:
        await queries.one(self._connection, _SQL["unlock"], _Held, _key(number))

    async def take(self, number: int, request: IngestionRequest) -> Taken | None:
        """Begin, or take up, an ingestion that this connection has locked; None when it ended before it was locked."""
        return await queries.one(self._connection, _SQL["take"], Taken, _columns(request) | {"number": number})

    async def progress(self, number: int, tally: IngestionTally) -> None:
        await queries.run(
            self._connection,
            _SQL["progress"],
            {
                "number": number,
                "done": tally.done,
                "total": tally.total,
                "new": tally.new,
                "changed": tally.changed,
                "unchanged": tally.unchanged,
                "duplicates": tally.duplicates,
                "gone": tally.gone,
                "refused": tally.refused,
                "failed": tally.failed,
                "chunks": tally.chunks,
                "spent": tally.spent,
                "doing": tally.doing,
                "problems": Jsonb([list(problem) for problem in tally.problems]),
                "warnings": list(tally.warnings),
            },
        )

    async def finish(self, number: int, *, error: str = "") -> None:
        """Close an ingestion, as failed when there is an error to tell."""
        state = IngestionState.FAILED if error else IngestionState.FINISHED
        await queries.run(self._connection, _SQL["finish"], {"number": number, "state": state.value, "error": error})

    async def made_since(self, since: datetime, document_ids: Sequence[str]) -> Made:
        """What became of some documents since a moment, whichever process did it."""
        parameters = {"since": since, "ids": list(document_ids)}
        return await queries.one(self._connection, _SQL["made_since"], Made, parameters) or Made(0, 0)

    async def get(self, ingestion_id: str) -> Ingestion | None:
        found = await self._recent(ingestion_id, 1) if ingestion_id else []
        return found[0] if found else None

    async def recent(self, limit: int) -> list[Ingestion]:
        """The newest first."""
        return await self._recent("", limit)

    async def _recent(self, ingestion_id: str, limit: int) -> list[Ingestion]:
        wanted = {"id": ingestion_id, "limit": limit, "space": _LOCK_SPACE}
        return [_typed(row) for row in await queries.many(self._connection, _SQL["recent"], Ingestion, wanted)]


def _typed(row: Ingestion) -> Ingestion:
    """The words and problems as what they are in the domain; the row brings text and JSON."""
    problems: Sequence[Sequence[Any]] = row.problems
    return replace(row, state=IngestionState(row.state), problems=tuple(Problem(*found) for found in problems))


def _columns(request: IngestionRequest) -> dict[str, object]:
    return {
        "source": request.source,
        "crawl": request.crawl,
        "prefix": request.prefix,
        "topic": request.topic,
        "pages": request.pages,
    }


def _key(number: int) -> dict[str, object]:
    return {"space": _LOCK_SPACE, "number": number}
