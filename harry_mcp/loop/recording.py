"""Writing searches down behind their answers."""

from __future__ import annotations

import asyncio
import logging

from harry_mcp.domain.search import SearchFilters, SearchResult
from harry_mcp.errors import StorageError
from harry_mcp.storage.database import Database

log = logging.getLogger(__name__)
# Searches answered but not yet written down; beyond, an answer waits for one of them.
_MOST_UNRECORDED = 64


class Recorder:
    """Writes each search down while its answer is on the way; the answer neither waits for it nor fails with it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._recording: set[asyncio.Task[None]] = set()

    async def record_soon(self, result: SearchResult, filters: SearchFilters) -> None:
        if len(self._recording) >= _MOST_UNRECORDED:
            await asyncio.wait(self._recording, return_when=asyncio.FIRST_COMPLETED)
        task = asyncio.create_task(self._record(result, filters), name="harry-record")
        self._recording.add(task)
        task.add_done_callback(self._recording.discard)

    async def flush(self) -> None:
        """Wait until the searches answered so far are written down."""
        if self._recording:
            await asyncio.wait(set(self._recording))

    async def settled(self) -> None:
        """Wait until every search is written down, those that come meanwhile included."""
        while self._recording:
            await asyncio.wait(self._recording)

    async def _record(self, result: SearchResult, filters: SearchFilters) -> None:
        try:
            async with self._database.reading() as unit:
                await unit.searches.record(result, filters)
        except StorageError as error:
            log.warning("the search %s was answered but not recorded: %s", result.search_id, error)
