"""From sources to searchable chunks: read, cut, give context, embed, store.

Each document is written in one transaction, so a run that is killed leaves every document whole: the old version or
the new one. Embedding takes most of the time; reading and writing happen beside it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.documents import (
    Chunk,
    ContextualChunk,
    DocumentStatus,
    IngestOutcome,
    SourceDocument,
)
from harry_mcp.errors import DatabaseUnavailable, StorageError
from harry_mcp.ingest.chunking import chunk_markdown
from harry_mcp.ingest.contextual import contextualise
from harry_mcp.ingest.sources import Unreadable
from harry_mcp.ports import Embedder
from harry_mcp.settings import IngestSection
from harry_mcp.storage.database import Database
from harry_mcp.storage.documents import chunk_public_ids

# Raise it when the cutting or the context changes in a way that stored chunks should follow.
CHUNKING_VERSION = 1
# Documents whose chunks are embedded together: enough to sort by length, few enough to keep in memory.
_CHUNKS_A_BATCH = 128
# Rows after which the index is vacuumed, for index-only scans read the table until then.
_CHUNKS_BEFORE_VACUUM = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedDocument:
    """A document with its chunks, before embedding. Ready-made chunks come in this form too."""

    document: SourceDocument
    chunks: tuple[ContextualChunk, ...]
    recipe: str


@dataclass(frozen=True, slots=True)
class Progress:
    """One document is done."""

    title: str
    outcome: str
    chunks: int


@dataclass(frozen=True, slots=True)
class _Work:
    """A document to write, with the vectors of those of its chunks that did not change."""

    prepared: PreparedDocument
    is_new: bool
    kept: dict[str, npt.NDArray[np.float32]]


Report = Callable[[Progress], None]


class Ingester:
    """Puts documents into the knowledge base."""

    def __init__(self, database: Database, embedder: Embedder, settings: IngestSection) -> None:
        self._database = database
        self._embedder = embedder
        self._settings = settings

    def prepare(self, document: SourceDocument) -> PreparedDocument:
        """Cut a document and give every chunk its context."""
        s = self._settings
        chunks = chunk_markdown(
            document.text,
            title=document.title,
            target=s.chunk_characters,
            minimum=s.chunk_minimum,
            maximum=s.chunk_maximum,
        )
        recipe = f"{CHUNKING_VERSION}/{s.chunk_characters}/{s.chunk_minimum}/{s.chunk_maximum}"
        return self.prepare_chunks(document, chunks, recipe)

    def prepare_chunks(self, document: SourceDocument, chunks: Sequence[Chunk], recipe: str) -> PreparedDocument:
        """The same for chunks that are ready made."""
        contextual = tuple(contextualise(document, chunk) for chunk in chunks)
        return PreparedDocument(document=document, chunks=contextual, recipe=recipe)

    async def ingest(
        self,
        items: Iterable[SourceDocument | PreparedDocument | Unreadable],
        *,
        status: DocumentStatus = DocumentStatus.LIVE,
        report: Report | None = None,
    ) -> IngestOutcome:
        """Store what changed; what did not change is not written.

        ``items`` is consumed in a thread, a few documents ahead of the embedding. A failure among them is reported
        in the outcome and stops nothing.

        Raises:
            DatabaseUnavailable: the database cannot be reached any more; the documents before are stored.
            ProviderError: the embedding model failed; the documents before are stored.
        """
        run = _Run(self._database, self._embedder, status, report)
        reading = _read_ahead(iter(items), self.prepare)
        storing: asyncio.Task[None] | None = None
        try:
            async for batch in reading:
                work = await run.changed(batch)
                vectors = await run.embed(work)
                if storing is not None:
                    await storing
                # Written while the next batch is being embedded.
                storing = asyncio.create_task(run.store(work, vectors), name="harry-store")
        finally:
            await reading.aclose()
            if storing is not None:
                await storing
        if run.outcome.chunks_written >= _CHUNKS_BEFORE_VACUUM:
            await self._database.vacuum()
        return run.outcome


class _Run:
    """One run over many documents."""

    def __init__(self, database: Database, embedder: Embedder, status: DocumentStatus, report: Report | None) -> None:
        self._database = database
        self._embedder = embedder
        self._status = status
        self._report = report
        self.outcome = IngestOutcome()

    async def changed(self, batch: Sequence[PreparedDocument | Unreadable]) -> list[_Work]:
        """Those documents of a batch that must be written; the others are reported."""
        prepared: list[PreparedDocument] = []
        for item in batch:
            if isinstance(item, Unreadable):
                self._failed(item.source, item.reason)
            else:
                prepared.append(item)
        work: list[_Work] = []
        async with self._database.reading() as unit:
            states = await unit.documents.states([item.document.id for item in prepared])
            for item in prepared:
                state = states.get(item.document.id)
                if state and (state.content_hash, state.recipe) == (item.document.content_hash, item.recipe):
                    self._unchanged(item)
                    continue
                kept = await unit.vectors.stored(item.document.id) if state else {}
                work.append(_Work(item, state is None, kept))
        return work

    async def embed(self, work: Sequence[_Work]) -> list[list[npt.NDArray[np.float32]]]:
        """The vectors of every document's chunks; what is stored already is not embedded again."""
        texts: dict[str, str] = {}
        ids = [chunk_public_ids(item.prepared.document.id, item.prepared.chunks) for item in work]
        for item, public_ids in zip(work, ids, strict=True):
            for public_id, chunk in zip(public_ids, item.prepared.chunks, strict=True):
                if public_id not in item.kept:
                    texts[public_id] = chunk.contextual_text
        fresh: dict[str, npt.NDArray[np.float32]] = {}
        if texts:
            fresh.update(zip(texts, await self._embedder.embed_documents(list(texts.values())), strict=True))
        return [
            [item.kept[public_id] if public_id in item.kept else fresh[public_id] for public_id in public_ids]
            for item, public_ids in zip(work, ids, strict=True)
        ]

    async def store(self, work: Sequence[_Work], vectors: Sequence[Sequence[npt.NDArray[np.float32]]]) -> None:
        """Write the documents, each in a transaction of its own."""
        for item, its_vectors in zip(work, vectors, strict=True):
            prepared = item.prepared
            try:
                written = await self._save(prepared, its_vectors)
            except DatabaseUnavailable:
                raise
            except StorageError as error:  # about this document alone: the next one may be stored
                self._failed(prepared.document.source, str(error))
                continue
            if not written:  # another process stored the same meanwhile
                self._unchanged(prepared)
                continue
            named = self.outcome.added if item.is_new else self.outcome.changed
            named.append(prepared.document.title)
            self.outcome.chunks_written += len(prepared.chunks)
            self._done(prepared.document.title, "added" if item.is_new else "changed", len(prepared.chunks))

    async def _save(self, prepared: PreparedDocument, vectors: Sequence[npt.NDArray[np.float32]]) -> bool:
        async with self._database.transaction() as unit:
            return await unit.documents.save(
                prepared.document, prepared.chunks, vectors, recipe=prepared.recipe, status=self._status
            )

    def _failed(self, source: str, reason: str) -> None:
        self.outcome.failed[source] = reason
        self._done(source, "failed")

    def _unchanged(self, item: PreparedDocument) -> None:
        self.outcome.unchanged.append(item.document.title)
        self._done(item.document.title, "unchanged")

    def _done(self, title: str, outcome: str, chunks: int = 0) -> None:
        if self._report is not None:
            self._report(Progress(title, outcome, chunks))


async def _read_ahead(
    items: Iterator[SourceDocument | PreparedDocument | Unreadable],
    prepare: Callable[[SourceDocument], PreparedDocument],
) -> AsyncGenerator[list[PreparedDocument | Unreadable], None]:
    """Batches of about ``_CHUNKS_A_BATCH`` chunks, each read in a thread while the one before is being embedded."""

    def take() -> list[PreparedDocument | Unreadable]:
        batch: list[PreparedDocument | Unreadable] = []
        chunks = 0
        for item in items:
            ready = prepare(item) if isinstance(item, SourceDocument) else item
            batch.append(ready)
            chunks += len(ready.chunks) if isinstance(ready, PreparedDocument) else 0
            if chunks >= _CHUNKS_A_BATCH or len(batch) >= _CHUNKS_A_BATCH:
                break
        return batch

    ahead = asyncio.create_task(asyncio.to_thread(take))
    try:
        while batch := await ahead:
            ahead = asyncio.create_task(asyncio.to_thread(take))
            yield batch
    finally:
        # A thread cannot be cancelled: let it finish the document that it holds.
        await asyncio.gather(ahead, return_exceptions=True)
