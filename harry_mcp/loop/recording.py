"""Writing searches down behind their answers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from harry_mcp.domain.search import SearchFilters, SearchResult
from harry_mcp.errors import DatabaseUnavailable, StorageError
from harry_mcp.metering import count_gap
from harry_mcp.stages.correct.redaction import redact
from harry_mcp.storage.database import Database

log = logging.getLogger(__name__)
# Seconds that a search waits for others to be written down with it: one statement for ten costs little more than for
# one, and somebody is searching right now.
_PAUSE = 0.05
# Searches answered but not yet written down; beyond, an answer waits until there are fewer.
_MOST_UNRECORDED = 64

Told = tuple[SearchResult, SearchFilters]


class Recorder:
    """Writes searches down while their answers are on the way; an answer neither waits for it nor fails with it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: list[Told] = []
        self._answered = 0
        self._done = 0
        self._moved = asyncio.Condition()
        self._hurry = asyncio.Event()
        self._writer: asyncio.Task[None] | None = None

    async def record_soon(self, result: SearchResult, filters: SearchFilters) -> None:
        if self._answered - self._done >= _MOST_UNRECORDED:
            await self._reached(self._answered - _MOST_UNRECORDED + 1)
        self._waiting.append((_redacted(result), filters))
        if result.gap_id:
            count_gap("search")
        self._answered += 1
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write(), name="harry-record")

    async def flush(self) -> None:
        """Wait until the searches answered so far are written down."""
        await self._reached(self._answered)

    async def settled(self) -> None:
        """Wait until every search is written down, those that come meanwhile included."""
        while self._done < self._answered:
            await self.flush()

    async def _reached(self, number: int) -> None:
        if self._done >= number:
            return
        self._hurry.set()
        async with self._moved:
            await self._moved.wait_for(lambda: self._done >= number)

    async def _write(self) -> None:
        while self._waiting:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), _PAUSE)
            self._hurry.clear()
            batch, self._waiting = self._waiting, []
            try:
                await self._record(batch)
            finally:
                self._done += len(batch)
                async with self._moved:
                    self._moved.notify_all()

    async def _record(self, batch: Sequence[Told]) -> None:
        try:
            await self._attempt(batch)
        except StorageError as error:
            if len(batch) > 1:  # one that cannot be stored takes no other with it
                for told in batch:
                    await self._record([told])
                return
            log.warning("the search %s was answered but not recorded: %s", batch[0][0].search_id, error)

    async def _attempt(self, batch: Sequence[Told]) -> None:
        try:
            async with self._database.reading() as unit:
                await unit.searches.record(batch)
        except DatabaseUnavailable:
            await self._database.heal()
            async with self._database.reading() as unit:
                await unit.searches.record(batch)


def _redacted(result: SearchResult) -> SearchResult:
    """The result without personal data and secrets in what people typed: it is kept, and read by curators."""
    question, query = redact(result.question), redact(result.query.text)
    course = {name: redact(text).text for name, text in result.course.items()}
    return replace(result, question=question.text, query=replace(result.query, text=query.text), course=course)
