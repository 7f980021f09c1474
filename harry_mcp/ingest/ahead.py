"""Documents on their way to the model: some are read and cut while others are embedded, so that it waits for nobody."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator

from harry_mcp.domain.documents import SourceDocument
from harry_mcp.ingest.preparing import PreparedDocument
from harry_mcp.ingest.running import ChunkVectors, Item, Work

# Chunks that are embedded together at most, as many as one call to Voyage takes, and at least, if there are so many.
_MOST = 128
_LEAST = 16
_AT_ONCE = 2  # batches being embedded: when one comes to its end and leaves a core idle, the next one has it


def batches(items: Iterator[Item], characters: int) -> Iterator[list[Item]]:
    """Documents to prepare together, by the chunks that they will make; the first few are small, to begin at once."""
    batch: list[Item] = []
    chunks, wanted = 0, _LEAST
    for item in items:
        batch.append(item)
        if isinstance(item, PreparedDocument):
            chunks += len(item.chunks)
        elif isinstance(item, SourceDocument):
            chunks += len(item.text) // characters + 1
        if chunks >= wanted or len(batch) >= wanted:
            yield batch
            batch, chunks, wanted = [], 0, min(_MOST, 2 * wanted)
    if batch:
        yield batch


async def embedded(
    prepare: Callable[[], Awaitable[list[Work] | None]], embed: Callable[[list[Work]], Awaitable[ChunkVectors]]
) -> AsyncGenerator[tuple[list[Work], ChunkVectors], None]:
    """Documents in their order, with the vectors of their chunks. ``prepare`` gives the next ones, None at the end.

    What ends the preparation or the embedding is raised when all that came before it was given out.
    """
    ahead = _Ahead(prepare)
    flight: deque[tuple[list[Work], asyncio.Task[ChunkVectors]]] = deque()
    try:
        while True:
            while len(flight) < _AT_ONCE and (ahead.ready or not flight) and (work := await ahead.take()):
                flight.append((work, asyncio.create_task(_embed(embed, work), name="harry-embed")))
            if not flight:
                return
            work, vectors = flight.popleft()
            yield work, await vectors
    finally:
        for _, vectors in flight:
            vectors.cancel()
        await asyncio.gather(*(vectors for _, vectors in flight), return_exceptions=True)
        await ahead.close()


async def _embed(embed: Callable[[list[Work]], Awaitable[ChunkVectors]], work: list[Work]) -> ChunkVectors:
    return await embed(work)


class _Ahead:
    """What is prepared and not yet taken. More is prepared while it is less than a batch, so memory stays bounded."""

    def __init__(self, prepare: Callable[[], Awaitable[list[Work] | None]]) -> None:
        self._prepare = prepare
        self._works: deque[Work] = deque()
        self._chunks = 0
        self._something = asyncio.Event()
        self._room = asyncio.Event()
        self._task = asyncio.create_task(self._fill(), name="harry-prepare")

    @property
    def ready(self) -> bool:
        return bool(self._works)

    async def take(self) -> list[Work]:
        """The next documents, none when all are through: those that hold half of the chunks that are ready.

        So the first batch is small, for the model need not wait until many documents are read, and so are the last
        ones, for nothing is left to do beside the writing of the very last.
        """
        await self._something.wait()
        if not self._works:
            await self._task
        wanted = min(_MOST, max(_LEAST, self._chunks // 2))
        taken: list[Work] = []
        while self._works and wanted > 0:
            work = self._works.popleft()
            taken.append(work)
            wanted -= len(work.chunks)
            self._chunks -= len(work.chunks)
        self._note()
        return taken

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _fill(self) -> None:
        try:
            while (works := await self._prepare()) is not None:
                self._works.extend(works)
                self._chunks += sum(len(work.chunks) for work in works)
                self._note()
                await self._room.wait()
        finally:
            self._something.set()

    def _note(self) -> None:
        _turn(self._something, on=bool(self._works) or self._task.done())
        _turn(self._room, on=self._chunks < _MOST)


def _turn(event: asyncio.Event, *, on: bool) -> None:
    if on:
        event.set()
    else:
        event.clear()
