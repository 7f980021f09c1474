"""Moving the knowledge base to another embedding model while the old one serves.

The new space is filled batch by batch beside the old one, so a run that is killed is taken up where it stopped. What
was written meanwhile is caught up with, and the switch happens in one step in the queue of the writers: no search
ever meets a space that lacks a chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.search import EmbeddingSpace
from harry_mcp.ports import DocumentEmbedder, Embedder
from harry_mcp.storage.database import Database
from harry_mcp.storage.spaces import ChunkText, IdleSpace, StoredSpace
from harry_mcp.storage.unit_of_work import UnitOfWork

# Chunks that are embedded and stored together; a kill loses no more than these.
_BATCH = 128
# So few chunks are embedded within the switch itself, while writers wait, or a busy writer could put it off for ever.
_LAST = 16


@dataclass(frozen=True, slots=True)
class ReembedOutcome:
    """What a run did. ``switched`` is false when the space was in service already."""

    space: EmbeddingSpace
    before: EmbeddingSpace | None
    embedded: int
    switched: bool


Report = Callable[[int, int], None]


async def reembed(database: Database, embedder: Embedder, *, report: Report | None = None) -> ReembedOutcome:
    """Fill the embedder's space and put it into service. ``report`` is told the chunks done and all there are.

    A space that is complete already, as the one before usually is, is switched to at once: the model is not asked.

    Raises:
        DatabaseUnavailable: PostgreSQL went away; what was filled stays, and so does the old space in service.
        ProviderError: the model failed; the same.
    """
    async with database.session() as holding:
        async with database.transaction() as unit:
            await unit.keywords.lock()  # making room needs the table for a moment, which a writer would hold for long
            target = await unit.spaces.register(embedder.space)
            before = await unit.spaces.active()
            await holding.spaces.hold(target)  # before anybody can see it idle, and drop it
        filling = _Filling(database, embedder, target, report)
        while True:
            await filling.fill()
            if await filling.switch():
                break
    switched = before is None or before.id != target.id
    if switched:
        await database.vacuum()
    return ReembedOutcome(target.space, before.space if before else None, filling.embedded, switched)


async def drop_idle(database: Database) -> list[IdleSpace]:
    """Remove the vectors of all models that are not in service, but for those that are being filled; which these were.

    Raises:
        StorageError: others are at the vectors and do not let go; nothing was removed.
    """
    async with database.transaction() as unit:
        await unit.keywords.lock()
        return [space for space in await unit.spaces.idle() if await unit.spaces.drop(space)]


class _Filling:
    """One run over the chunks that a space lacks."""

    def __init__(self, database: Database, embedder: Embedder, target: StoredSpace, report: Report | None) -> None:
        self._database = database
        self._embedder = embedder
        self._target = target
        self._report = report
        self.embedded = 0

    async def fill(self) -> None:
        """Embed all that is missing now."""
        async with self._database.reading() as unit:
            state = await unit.spaces.progress(self._target)
        done = state.chunks - state.missing
        self._tell(done, state.chunks)
        after = 0
        while chunks := await self._missing(after):
            after = chunks[-1].id
            async with self._database.reading() as unit:
                chunks = await self._whole(unit, chunks)
            vectors = await self._embed(chunks)
            async with self._database.transaction() as unit:
                # In the writers' queue, so that a document cannot go, or be hidden, between being read and written.
                await unit.keywords.lock()
                stored = await unit.spaces.fill(self._target, chunks, vectors)
            self.embedded += stored
            done += stored
            self._tell(done, max(state.chunks, done))

    async def switch(self) -> bool:
        """Put the space into service, unless too much was written since it was filled."""
        async with self._database.transaction() as unit:
            await unit.keywords.lock()
            chunks = await unit.spaces.missing(self._target, after=0, limit=_LAST + 1)
            if len(chunks) > _LAST:
                return False
            await self._fill_last(unit, chunks)
            await unit.spaces.activate(self._target)
        return True

    async def _fill_last(self, unit: UnitOfWork, chunks: Sequence[ChunkText]) -> None:
        if chunks:
            chunks = await self._whole(unit, chunks)
            self.embedded += await unit.spaces.fill(self._target, chunks, await self._embed(chunks))

    async def _whole(self, unit: UnitOfWork, chunks: Sequence[ChunkText]) -> Sequence[ChunkText]:
        """All chunks of the documents of these, where their vectors depend on one another."""
        if not isinstance(self._embedder, DocumentEmbedder):
            return chunks
        return await unit.spaces.whole_documents([chunk.id for chunk in chunks])

    async def _embed(self, chunks: Sequence[ChunkText]) -> list[npt.NDArray[np.float32]]:
        if not isinstance(self._embedder, DocumentEmbedder):
            return list(await self._embedder.embed_documents([chunk.text for chunk in chunks]))
        documents = [[c.text for c in group] for _, group in groupby(chunks, key=lambda chunk: chunk.document_id)]
        return [vector for vectors in await self._embedder.embed_passages(documents) for vector in vectors]

    async def _missing(self, after: int) -> list[ChunkText]:
        async with self._database.reading() as unit:
            return await unit.spaces.missing(self._target, after=after, limit=_BATCH)

    def _tell(self, done: int, of: int) -> None:
        if self._report is not None:
            self._report(done, of)
