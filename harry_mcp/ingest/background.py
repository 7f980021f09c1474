"""Ingestions in the background of a server: one at a time for each source, told of by any process, gone on with.

Who works on an ingestion holds an advisory lock on a connection of its own. When its process dies, however it dies, the
lock goes, and whoever looks sees an interrupted ingestion, which the next call for the same source takes up. What was
stored is not stored again, and a crawl goes on with the addresses that wait.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from harry_mcp.domain.ingestions import Ingestion, IngestionRequest, IngestionState
from harry_mcp.domain.people import Principal
from harry_mcp.errors import DatabaseUnavailable, HarryError, InputError, NotFoundError
from harry_mcp.ingest.crawl.crawler import Crawler
from harry_mcp.ingest.ingester import Ingester
from harry_mcp.ingest.on_record import note_ingest
from harry_mcp.ingest.requests import checked
from harry_mcp.ingest.tallying import FilesWork, SiteWork, Work
from harry_mcp.settings import Settings
from harry_mcp.storage.database import Database
from harry_mcp.storage.ingestions import Ingestions, OpenIngestion, Taken
from harry_mcp.storage.unit_of_work import UnitOfWork

log = logging.getLogger(__name__)
_BEAT = 1.0  # seconds between two notes of how far it is
_LOOK = 0.25  # seconds between two looks at it
_TRIES = 3  # to take the lock of a process that was killed and may still be on its way out
_BETWEEN = 0.1
_MOST = 16  # ingestions of one process, worked on or waiting: each holds a connection

Watch = Callable[[Ingestion], Awaitable[None]]
T = TypeVar("T")


class BackgroundIngestions:
    """The ingestions of this process, and a view of those of all."""

    def __init__(self, database: Database, ingester: Ingester, crawler: Crawler, settings: Settings) -> None:
        self._database = database
        self._ingester = ingester
        self._crawler = crawler
        self._settings = settings
        self._gate = asyncio.Semaphore(settings.ingest.at_once)
        self._attempts: set[asyncio.Task[None]] = set()

    async def begin(self, request: IngestionRequest, by: Principal) -> Ingestion:
        """Begin an ingestion, or go on with one that was interrupted; the one under way when there is one.

        That ``by`` wanted it is on record as soon as it is.

        Raises:
            InputError, SourceError: as :func:`checked`; or too many are under way in this process.
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        checked_request = await asyncio.to_thread(checked, request, self._settings)
        return await self._healed(lambda: self._begin(checked_request, by))

    async def _begin(self, request: IngestionRequest, by: Principal) -> Ingestion:
        if len(self._attempts) >= _MOST:
            raise InputError(f"{_MOST} ingestions are under way here already. Wait until one of them is finished.")
        begun: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._attempt(request, by, begun), name="harry-ingestion")
        self._attempts.add(task)
        task.add_done_callback(self._attempts.discard)
        # Shielded: a caller that gives up does not stop what others wait for.
        return await self._get(await asyncio.shield(begun))

    async def get(self, ingestion_id: str) -> Ingestion:
        """Raises NotFoundError when there is none of that id."""
        return await self._healed(lambda: self._get(ingestion_id))

    async def _get(self, ingestion_id: str) -> Ingestion:
        async with self._database.reading() as unit:
            found = await unit.ingestions.get(ingestion_id)
        if found is None:
            raise NotFoundError(
                f"There is no ingestion {ingestion_id[:80]!r}. Leave the id out to see the last ingestions."
            )
        return found

    async def recent(self, limit: int) -> list[Ingestion]:
        """The newest ingestions of all processes, the newest first."""
        return await self._healed(lambda: self._recent(limit))

    async def _recent(self, limit: int) -> list[Ingestion]:
        async with self._database.reading() as unit:
            return await unit.ingestions.recent(limit)

    async def _healed(self, ask: Callable[[], Awaitable[T]]) -> T:
        """The answer, also when the connections are those of a PostgreSQL that went and came back."""
        try:
            return await ask()
        except DatabaseUnavailable:
            await self._database.heal()
            return await ask()

    async def wait(self, ingestion_id: str, seconds: float, watch: Watch) -> Ingestion:
        """The ingestion when it has ended, or as it is after so many seconds. ``watch`` is shown it on the way."""
        until = time.monotonic() + seconds
        while True:
            found = await self.get(ingestion_id)
            left = until - time.monotonic()
            if found.state is not IngestionState.RUNNING or left <= 0:
                return found
            await watch(found)
            await asyncio.sleep(min(_LOOK, left))

    async def close(self) -> None:
        """Stop what is under way; asked for again, it goes on."""
        for task in self._attempts:
            task.cancel()
        await asyncio.gather(*self._attempts, return_exceptions=True)

    async def _attempt(self, request: IngestionRequest, by: Principal, begun: asyncio.Future[str]) -> None:
        """Take an ingestion and see it through, on a connection of its own."""
        try:
            async with self._database.session() as unit:
                opened, taken = await _take(unit, request, by)
                if not begun.done():
                    begun.set_result(opened.id)
                if taken is None:
                    return
                try:
                    await self._see_through(unit.ingestions, opened, request, taken)
                finally:
                    await unit.ingestions.unlock(opened.number)
        except HarryError as error:
            if not begun.done():
                begun.set_exception(error)
            else:
                log.warning("the ingestion of %s was interrupted: %s", request.source, error)
        finally:
            if not begun.done():
                begun.cancel()

    async def _see_through(
        self, ingestions: Ingestions, opened: OpenIngestion, request: IngestionRequest, taken: Taken
    ) -> None:
        work = self._work(request, taken)
        task = asyncio.create_task(self._in_turn(work), name=f"harry-ingestion {opened.id}")
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=_BEAT)
                # Over the connection that holds the lock: when that is lost, so is the right to go on.
                await ingestions.progress(opened.number, work.tally)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await ingestions.finish(opened.number, error=_why(task, request) or work.error)

    async def _in_turn(self, work: Work) -> None:
        work.tally = replace(work.tally, doing="waiting for another ingestion to end")
        async with self._gate:
            work.tally = replace(work.tally, doing="beginning")
            situator = self._ingester.situator
            before = situator.spent if situator else 0.0
            await work.go()
            if situator:
                work.tally = replace(work.tally, spent=situator.spent - before)

    def _work(self, request: IngestionRequest, taken: Taken) -> Work:
        if request.crawl:
            return SiteWork(request, self._crawler, self._settings.ingest)
        work = FilesWork(request, self._database, self._ingester, self._settings.ingest)
        work.resumed_from = taken.started_at if taken.attempts > 1 else None
        return work


async def _take(unit: UnitOfWork, request: IngestionRequest, by: Principal) -> tuple[OpenIngestion, Taken | None]:
    """The ingestion of the source, and the attempt at it that is ours; None when another one works on it."""
    ingestions = unit.ingestions
    while True:
        opened = await ingestions.enter(request)
        if opened is None:  # it ended between two statements
            continue
        if not await _lock(ingestions, opened.number):
            return opened, None
        async with unit.together():
            taken = await ingestions.take(opened.number, request)
            if taken is not None:
                await note_ingest(unit, request, by, ingestion_id=opened.id)
        if taken is not None:
            return opened, taken
        await ingestions.unlock(opened.number)


async def _lock(ingestions: Ingestions, number: int) -> bool:
    for _ in range(_TRIES):
        if await ingestions.try_lock(number):
            return True
        await asyncio.sleep(_BETWEEN)
    return False


def _why(task: asyncio.Task[None], request: IngestionRequest) -> str:
    """Why the work failed, "" when it did not.

    Raises:
        DatabaseUnavailable: the database went away; the ingestion is interrupted and not failed.
    """
    error = task.exception()
    if isinstance(error, DatabaseUnavailable):
        raise error
    if isinstance(error, HarryError):
        return str(error)
    if error is not None:
        log.error("the ingestion of %s failed", request.source, exc_info=error)
        return f"It failed in a way that was not foreseen ({type(error).__name__}); the server's log has more."
    return ""
