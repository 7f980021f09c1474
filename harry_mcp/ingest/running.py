"""One run over many documents: what changed, its chunks, their contexts, their vectors, and the writing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.documents import ContextualChunk, DocumentStatus, IngestOutcome, SourceDocument
from harry_mcp.errors import DatabaseUnavailable, SpaceMismatch, StorageError
from harry_mcp.ingest.preparing import PreparedDocument, Preparer
from harry_mcp.ingest.situating import Situator
from harry_mcp.ingest.sources import Unreadable
from harry_mcp.ports import DocumentEmbedder, Embedder
from harry_mcp.storage.chunk_index import chunk_public_ids
from harry_mcp.storage.database import Database
from harry_mcp.storage.unit_of_work import UnitOfWork

T = TypeVar("T")
Item = SourceDocument | PreparedDocument | Unreadable
ChunkVectors = list[list[npt.NDArray[np.float32]]]
"""For each document the vectors of its chunks."""


@dataclass(frozen=True, slots=True)
class Progress:
    """One document is done."""

    title: str
    outcome: str
    chunks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A document to write, with what is stored of it and need not be made again: vectors, and contexts by passage."""

    document: SourceDocument
    prepared: PreparedDocument | None
    recipe: str
    is_new: bool
    vectors: dict[str, npt.NDArray[np.float32]] = field(default_factory=dict[str, npt.NDArray[np.float32]])
    contexts: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def chunks(self) -> tuple[ContextualChunk, ...]:
        return self.prepared.chunks if self.prepared else ()


Report = Callable[[Progress], None]
Note = Callable[[UnitOfWork], Awaitable[None]]
Watch = Callable[[SourceDocument, DocumentStatus], Awaitable[Note | None]]
"""Looks at a document before it is stored (with the status of a new one); says what to do in the same transaction."""


class IngestRun:
    """One run over many documents."""

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        preparer: Preparer,
        situator: Situator | None,
        status: DocumentStatus,
        report: Report | None,
        watches: Sequence[Watch] = (),
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._preparer = preparer
        self._situator = situator
        self._status = status
        self._report = report
        self._watches = watches
        self._writing = asyncio.Lock()
        self.outcome = IngestOutcome()

    async def next(self, batches: Iterator[list[Item]]) -> list[Work] | None:
        """The next documents to write, ready to be embedded; none when all are through."""
        batch = await in_thread(lambda: next(batches, None))
        if not batch:
            return None
        work = await self._cut(await self.changed(batch))
        return list(await asyncio.gather(*(self._situated(item) for item in work)))

    async def changed(self, batch: Sequence[Item]) -> list[Work]:
        """Those documents of a batch that must be written; the others are reported."""
        documents: list[SourceDocument | PreparedDocument] = []
        for item in batch:
            if isinstance(item, Unreadable):
                self._failed(item.source, item.reason)
            else:
                documents.append(item)
        async with self._database.reading() as unit:
            states = await unit.documents.states([_document(item).id for item in documents])
            work: list[Work] = []
            for item in documents:
                document = _document(item)
                prepared = item if isinstance(item, PreparedDocument) else None
                recipe = (prepared.recipe if prepared else self._preparer.recipe) + self._context_recipe
                state = states.get(document.id)
                if state and state.holds(document.content_hash, recipe):
                    self._unchanged(document)
                    continue
                found = Work(document=document, prepared=prepared, recipe=recipe, is_new=state is None)
                work.append(await self._with_stored(unit, found, state.recipe) if state else found)
        return work

    @property
    def _context_recipe(self) -> str:
        return self._situator.recipe if self._situator else ""

    async def _with_stored(self, unit: UnitOfWork, work: Work, recipe: str) -> Work:
        contexts: dict[str, str] = {}
        if self._context_recipe and self._context_recipe in recipe:
            contexts = await unit.documents.contextual_texts(work.document.id)
        return replace(work, vectors=await unit.vectors.stored(work.document.id), contexts=contexts)

    async def _cut(self, work: Sequence[Work]) -> list[Work]:
        uncut = [item.document for item in work if item.prepared is None]
        cut = iter(await self._preparer.cut(uncut))
        return [item if item.prepared else replace(item, prepared=next(cut)) for item in work]

    async def _situated(self, work: Work) -> Work:
        if self._situator is None or work.prepared is None:
            return work
        made = await self._situator.situate(work.prepared, work.contexts)
        if made.by_template:
            self.outcome.template_contexts[work.document.source] = (
                f"{made.by_template} of {len(made.chunks)} passages have the template context: {made.reason}"
            )
        prepared = replace(work.prepared, chunks=made.chunks)
        # Another recipe than the one asked for, so that the next run makes good what failed.
        incomplete = f" ({made.by_template} by template)" if made.by_template else ""
        return replace(work, prepared=prepared, recipe=work.recipe + incomplete)

    async def single(self, document: SourceDocument) -> tuple[Work, Sequence[npt.NDArray[np.float32]]]:
        """One document ready to be written, whether it changed or not, and the vectors of its chunks."""
        recipe = self._preparer.recipe + self._context_recipe
        work = Work(document=document, prepared=None, recipe=recipe, is_new=True)
        async with self._database.reading() as unit:
            state = (await unit.documents.states([document.id])).get(document.id)
            if state is not None:
                work = await self._with_stored(unit, work, state.recipe)
        work = await self._situated((await self._cut([work]))[0])
        return work, (await self.embed([work]))[0]

    async def embed(self, work: Sequence[Work]) -> ChunkVectors:
        """The vectors of every document's chunks; what is stored already is not embedded again."""
        if isinstance(self._embedder, DocumentEmbedder):  # a passage that changed moves the vectors of the others
            found = await self._embedder.embed_passages([[c.contextual_text for c in item.chunks] for item in work])
            return [list(vectors) for vectors in found]
        texts: dict[str, str] = {}
        ids = [chunk_public_ids(item.document.id, item.chunks) for item in work]
        for item, public_ids in zip(work, ids, strict=True):
            for public_id, chunk in zip(public_ids, item.chunks, strict=True):
                if public_id not in item.vectors:
                    texts[public_id] = chunk.contextual_text
        fresh: dict[str, npt.NDArray[np.float32]] = {}
        if texts:
            fresh.update(zip(texts, await self._embedder.embed_documents(list(texts.values())), strict=True))
        return [
            [item.vectors[public_id] if public_id in item.vectors else fresh[public_id] for public_id in public_ids]
            for item, public_ids in zip(work, ids, strict=True)
        ]

    async def store(self, work: Sequence[Work], vectors: Sequence[Sequence[npt.NDArray[np.float32]]]) -> None:
        """Write the documents, each in a transaction of its own. Calls at the same time take their turns."""
        notes = await asyncio.gather(*(self._look(item) for item in work))
        async with self._writing:
            for item, its_vectors, its_notes in zip(work, vectors, notes, strict=True):
                await self._store(item, its_vectors, its_notes)

    async def _look(self, work: Work) -> list[Note]:
        notes = [await watch(work.document, self._status) for watch in self._watches]
        return [note for note in notes if note is not None]

    async def _store(self, work: Work, vectors: Sequence[npt.NDArray[np.float32]], notes: Sequence[Note]) -> None:
        try:
            written = await self._save(work, vectors, notes)
        except (DatabaseUnavailable, SpaceMismatch):
            raise
        except StorageError as error:  # about this document alone: the next one may be stored
            self._failed(work.document.source, str(error))
            return
        if not written:  # another process stored the same meanwhile
            self._unchanged(work.document)
            return
        named = self.outcome.added if work.is_new else self.outcome.changed
        named.append(work.document.title)
        self.outcome.chunks_written += len(work.chunks)
        self._done(work.document.title, "added" if work.is_new else "changed", len(work.chunks))

    async def _save(self, work: Work, vectors: Sequence[npt.NDArray[np.float32]], notes: Sequence[Note]) -> bool:
        async with self._database.writing() as unit:
            written = await unit.documents.save(
                work.document, work.chunks, vectors, recipe=work.recipe, status=self._status
            )
            for note in notes if written else ():
                await note(unit)
            return written

    def _failed(self, source: str, reason: str) -> None:
        self.outcome.failed[source] = reason
        self._done(source, "failed")

    def _unchanged(self, document: SourceDocument) -> None:
        self.outcome.unchanged.append(document.title)
        self._done(document.title, "unchanged")

    def _done(self, title: str, outcome: str, chunks: int = 0) -> None:
        if self._report is not None:
            self._report(Progress(title, outcome, chunks))


def _document(item: SourceDocument | PreparedDocument) -> SourceDocument:
    return item.document if isinstance(item, PreparedDocument) else item


async def in_thread(work: Callable[[], T]) -> T:
    """Run in a thread, and when cancelled wait for it: a thread cannot be, and holds the document it is reading."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    finally:
        await asyncio.gather(task, return_exceptions=True)
