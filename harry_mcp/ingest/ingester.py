"""From sources to searchable chunks: read, cut, give context, embed, store.

Each document is written in one transaction, so a run that is killed leaves every document whole: the old version or
the new one. Embedding takes most of the time; reading, cutting and writing happen beside it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence

from harry_mcp.domain.documents import Chunk, DocumentStatus, IngestOutcome, SourceDocument
from harry_mcp.ingest.preparing import PreparedDocument, Preparer, with_context
from harry_mcp.ingest.running import IngestRun, Item, Progress, Report, in_thread
from harry_mcp.ingest.situating import Situator
from harry_mcp.ports import Embedder
from harry_mcp.settings import IngestSection
from harry_mcp.storage.database import Database

__all__ = ["Ingester", "PreparedDocument", "Progress", "Report"]

# Documents whose chunks are embedded together: enough to sort by length, few enough to keep in memory.
_CHUNKS_A_BATCH = 128
# Rows after which the index is vacuumed, for index-only scans read the table until then.
_CHUNKS_BEFORE_VACUUM = 200


class Ingester:
    """Puts documents into the knowledge base. Without a ``situator`` every chunk has the template context."""

    def __init__(
        self, database: Database, embedder: Embedder, settings: IngestSection, situator: Situator | None = None
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._settings = settings
        self._preparer = Preparer(embedder, settings)
        self.situator = situator

    def prepare(self, document: SourceDocument) -> PreparedDocument:
        """Cut a document by its headings and give every chunk the template context."""
        return self._preparer.by_heading(document)

    def prepare_chunks(self, document: SourceDocument, chunks: Sequence[Chunk], recipe: str) -> PreparedDocument:
        """The same for chunks that are ready made."""
        return with_context(document, chunks, recipe)

    async def ingest(
        self,
        items: Iterable[Item],
        *,
        status: DocumentStatus = DocumentStatus.LIVE,
        report: Report | None = None,
    ) -> IngestOutcome:
        """Store what changed; what did not change is not written.

        ``items`` is consumed in a thread, a few documents ahead of the embedding. A failure among them is reported
        in the outcome and stops nothing.

        Raises:
            DatabaseUnavailable: the database cannot be reached any more; the documents before are stored.
            SpaceMismatch: the knowledge base was moved to another embedding model meanwhile; the same.
            ProviderError: the embedding model failed; the same.
        """
        run = IngestRun(self._database, self._embedder, self._preparer, self.situator, status, report)
        batches = _batches(iter(items), self._settings.chunk_characters)
        ahead = asyncio.create_task(run.next(batches), name="harry-prepare")
        storing: asyncio.Task[None] | None = None
        try:
            while (work := await ahead) is not None:
                ahead = asyncio.create_task(run.next(batches), name="harry-prepare")
                vectors = await run.embed(work)
                if storing is not None:
                    await storing
                # Written while the next batch is being embedded.
                storing = asyncio.create_task(run.store(work, vectors), name="harry-store")
        finally:
            ahead.cancel()
            await asyncio.gather(ahead, return_exceptions=True)
            if storing is not None:
                await storing
        if run.outcome.chunks_written >= _CHUNKS_BEFORE_VACUUM:
            await self._database.vacuum()
        return run.outcome

    async def changed(self, items: Iterable[Item]) -> list[PreparedDocument]:
        """The documents that ``ingest`` would write, cut by headings, to tell beforehand what it will cost."""
        run = IngestRun(self._database, self._embedder, self._preparer, self.situator, DocumentStatus.LIVE, None)
        found: list[PreparedDocument] = []
        batches = _batches(iter(items), self._settings.chunk_characters)
        while batch := await in_thread(lambda: next(batches, None)):
            work = await run.changed(batch)
            found += await asyncio.to_thread(lambda: [w.prepared or self.prepare(w.document) for w in work])  # noqa: B023
        return found


def _batches(items: Iterator[Item], characters: int) -> Iterator[list[Item]]:
    """Batches of about ``_CHUNKS_A_BATCH`` chunks."""
    batch: list[Item] = []
    chunks = 0
    for item in items:
        batch.append(item)
        if isinstance(item, PreparedDocument):
            chunks += len(item.chunks)
        elif isinstance(item, SourceDocument):
            chunks += len(item.text) // characters + 1
        if chunks >= _CHUNKS_A_BATCH or len(batch) >= _CHUNKS_A_BATCH:
            yield batch
            batch, chunks = [], 0
    if batch:
        yield batch
