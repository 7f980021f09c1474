"""Bringing an index outside of PostgreSQL up to date with the outbox: at once after a commit, or by whoever comes next.

One process at a time applies, under an advisory lock on a connection of its own; what the index was told is taken off
the outbox only when the index has answered. So a process may die anywhere: the next one tells the same once more, which
changes nothing.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager

from harry_mcp.errors import HarryError, StorageError
from harry_mcp.ports import VectorStore
from harry_mcp.settings import VectorsSection
from harry_mcp.storage.database import Database
from harry_mcp.storage.mirror_status import MirroredCollection, MirrorStatus
from harry_mcp.storage.outbox import Change, Collection, Outbox

_LOG = logging.getLogger(__name__)

Report = Callable[[int, int], None]


class OutboxApplier:
    """Applies the outbox of a database to a store."""

    def __init__(self, database: Database, store: VectorStore, settings: VectorsSection) -> None:
        self._database = database
        self._store = store
        self._settings = settings
        self._running: asyncio.Task[None] | None = None
        self._again = False

    async def begin(self) -> None:
        """Have every change written down and applied from now on, and apply in the background what there is.

        A store that answers is given a moment to catch up, for the first search of a short process.

        Raises:
            StorageError: others are at the vectors and do not let go.
        """
        await self.watch()
        self._database.on_commit(self.poke)
        self.poke()
        if self._running is not None:
            await asyncio.wait([self._running], timeout=self._settings.budget)

    async def watch(self) -> None:
        """Have every change written to the outbox from now on, by every process.

        Raises:
            StorageError: others are at the vectors and do not let go.
        """
        async with self._database.reading() as unit:
            if await unit.outbox.watched():
                return
        async with self._database.transaction() as unit:
            await unit.keywords.lock()  # the triggers need the tables for a moment, which a writer holds for long
            await unit.spaces.hurry()
            await unit.outbox.watch()
            if not await unit.outbox.watched():
                raise StorageError(
                    "The database did not take the triggers that write changes down. Nothing was changed."
                )

    def poke(self) -> None:
        """Apply what there is, in the background."""
        if self._running is not None and not self._running.done():
            self._again = True
            return
        self._running = asyncio.create_task(self._run(), name="harry-vectors")

    async def catch_up(self, report: Report | None = None) -> int:
        """Apply all that there is; how many changes. While another process is at it, that one applies them.

        Raises:
            ProviderError: the store failed; what it was not told stays in the outbox.
            DatabaseUnavailable: PostgreSQL went away.
        """
        await self.watch()  # before a collection is made: what is in none must be written down
        async with self._database.reading() as unit:
            if not await unit.outbox.anything():
                return 0
        done = 0
        async with self._database.session() as unit:
            # Asked anew after each release: what was written while it was held found it taken, and counts on us.
            while await unit.outbox.anything() and await unit.outbox.claim():
                try:
                    done += await self._apply(unit.outbox, report)
                finally:
                    await unit.outbox.release()
        return done

    async def rebuild(self, report: Report | None = None) -> int:
        """Fill the store anew from PostgreSQL, in new collections; how many changes were told. Meanwhile searches find
        part of it, and say so.

        Raises:
            StorageError: another process applies the outbox right now.
            ProviderError: the store failed. What it was told by then is kept; run it again.
            DatabaseUnavailable: PostgreSQL went away.
        """
        await self.watch()
        async with self._alone() as outbox:
            for each in await outbox.collections():
                if each.wanted:
                    await self._make(outbox, each.space_id, each.dimension)
                    await self._drop(each)
            done = await self._apply(outbox, report)
        return done + await self.catch_up(report)

    async def give_up(self) -> int:
        """Write no more changes down, and remove the collections; how many of them.

        A process that still has a Qdrant in its settings begins anew at its next commit.

        Raises:
            StorageError: another process applies the outbox right now.
            ProviderError: the store failed; run it again.
        """
        await self.close()  # or the commit below would set it going once more
        async with self._alone() as outbox:
            async with self._database.transaction() as unit:
                await unit.keywords.lock()
                await unit.spaces.hurry()
                await unit.outbox.unwatch()
            found = await outbox.collections()
            for each in found:
                await self._drop(each)
                await outbox.forget(each.space_id)
        return len(found)

    async def status(self) -> MirrorStatus:
        """How far the store is.

        Raises:
            ProviderError: the store cannot be asked.
        """
        async with self._database.reading() as unit:
            watched = await unit.outbox.watched()
            backlog = await unit.outbox.backlog()
            collections = await unit.outbox.collections()
        points = [await self._store.count(each.name) for each in collections]
        if not collections:
            await self._store.count(self._settings.collection_prefix)  # whether it answers at all
        return MirrorStatus(
            watched, backlog, [MirroredCollection(own, held) for own, held in zip(collections, points, strict=True)]
        )

    async def settled(self) -> None:
        """Wait until no run is going on in this process."""
        while self._running is not None and not self._running.done():
            await asyncio.wait([self._running])

    async def close(self) -> None:
        """Let a run come to its end, for as long as one write may take, and stop."""
        self._database.on_commit(None)
        if self._running is None:
            return
        _, unfinished = await asyncio.wait([self._running], timeout=self._settings.patience)
        for task in unfinished:
            task.cancel()
        await asyncio.gather(self._running, return_exceptions=True)

    @asynccontextmanager
    async def _alone(self) -> AsyncGenerator[Outbox, None]:
        async with self._database.session() as unit:
            if not await unit.outbox.claim():
                raise StorageError(
                    "Another process is bringing the vector index up to date. Wait for it, or stop it; then try again."
                )
            try:
                yield unit.outbox
            finally:
                await unit.outbox.release()

    async def _run(self) -> None:
        while True:
            self._again = False
            try:
                await self.catch_up()
            except HarryError as error:
                # Nothing is lost: it stays in the outbox, searches name the lag, and the next commit or search tries.
                _LOG.warning("The vector index lags behind: %s", error)
                return
            if not self._again:
                return

    async def _apply(self, outbox: Outbox, report: Report | None) -> int:
        await self._tidy(outbox)
        done = 0
        while changes := await outbox.next(limit=self._settings.batch):
            await self._tell(changes)
            await outbox.done(changes)
            done += len(changes)
            if report is not None:
                report(done, done + (await outbox.backlog()).changes)
        return done

    async def _tidy(self, outbox: Outbox) -> None:
        """Make the collections that spaces lack, and remove those whose space is gone."""
        for each in await outbox.without_collection():
            await self._make(outbox, each.id, each.dimension)
        for each in await outbox.collections():
            if not each.wanted:
                await self._drop(each)
                await outbox.forget(each.space_id)
        await outbox.forget_orphans()

    async def _make(self, outbox: Outbox, space_id: int, dimension: int) -> None:
        # A new name each time: a write to the old one that comes late, or from another database, must not be found.
        name = f"{self._settings.collection_prefix}-{space_id}-{secrets.token_hex(4)}"
        await self._store.make(name, dimension)
        await outbox.adopt(space_id, name)

    async def _drop(self, collection: Collection) -> None:
        # That of another prefix belongs to the database that this one is a copy of.
        if collection.name.startswith(f"{self._settings.collection_prefix}-"):
            await self._store.drop(collection.name)

    async def _tell(self, changes: Sequence[Change]) -> None:
        """All in one snapshot, so a chunk that stands there twice is the same both times."""
        for collection in dict.fromkeys(change.collection for change in changes):
            own = {change.chunk_id: change for change in changes if change.collection == collection}
            shown = [change.point() for change in own.values() if change.vector is not None]
            hidden = [change.chunk_id for change in own.values() if change.vector is None]
            if shown:
                await self._store.put(collection, shown)
            if hidden:
                await self._store.remove(collection, hidden)
