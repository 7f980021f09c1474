"""From sources to searchable chunks: read, cut, give context, embed, store.

Each document is written in one transaction, so a run that is killed leaves every document whole: the old version or
the new one. Embedding takes most of the time; reading, cutting and writing happen beside it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import aclosing

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.documents import Chunk, DocumentStatus, IngestOutcome, SourceDocument
from harry_mcp.ingest.ahead import batches, embedded
from harry_mcp.ingest.preparing import PreparedDocument, Preparer, with_context
from harry_mcp.ingest.running import IngestRun, Item, Progress, Report, Watch, in_thread
from harry_mcp.ingest.situating import Situator
from harry_mcp.ports import DocumentEmbedder, Embedder
from harry_mcp.settings import IngestSection
from harry_mcp.storage.database import Database

__all__ = ["Ingester", "PreparedDocument", "Progress", "Report"]

# Rows after which the index is vacuumed, for index-only scans read the table until then.
_CHUNKS_BEFORE_VACUUM = 200


class Ingester:
    """Puts documents into the knowledge base. Without a ``situator`` every chunk has the template context.

    ``watch`` looks at every document before it is stored, while what it replaces is still there.
    """

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        settings: IngestSection,
        situator: Situator | None = None,
        watch: Watch | None = None,
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._settings = settings
        self._preparer = Preparer(embedder, settings)
        self._watch = watch
        self.situator = situator

    @property
    def recipe(self) -> str:
        """How documents are cut and given context now; what is stored with another recipe is made anew."""
        return self._preparer.recipe + (self.situator.recipe if self.situator else "")

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
        watch: Watch | None = None,
    ) -> IngestOutcome:
        """Store what changed; what did not change is not written. ``watch`` looks at each beside the ingester's own.

        ``items`` is consumed in a thread, a few documents ahead of the embedding. A failure among them is reported
        in the outcome and stops nothing.

        Raises:
            DatabaseUnavailable: the database cannot be reached any more; the documents before are stored.
            SpaceMismatch: the knowledge base was moved to another embedding model meanwhile; the same.
            ProviderError: the embedding model failed; the same.
        """
        watches = [each for each in (self._watch, watch) if each is not None]
        run = IngestRun(self._database, self._embedder, self._preparer, self.situator, status, report, watches)
        waiting = batches(iter(items), self._settings.chunk_characters)
        storing: deque[asyncio.Task[None]] = deque()
        try:
            async with aclosing(embedded(lambda: run.next(waiting), run.embed)) as ready:
                async for work, vectors in ready:
                    if len(storing) > 1:
                        await storing.popleft()
                    # Written while the next documents are being embedded.
                    storing.append(asyncio.create_task(run.store(work, vectors), name="harry-store"))
        finally:
            ended = await asyncio.gather(*storing, return_exceptions=True)
        for error in ended:
            if error is not None:
                raise error
        if run.outcome.added or run.outcome.changed:
            await self._database.settle()
        if run.outcome.chunks_written >= _CHUNKS_BEFORE_VACUUM:
            await self._database.vacuum()
        return run.outcome

    async def ready(self, document: SourceDocument) -> tuple[PreparedDocument, Sequence[npt.NDArray[np.float32]]]:
        """A document cut, with contexts and vectors, for a caller that writes it in a transaction of its own.

        Raises:
            ProviderError: the embedding model failed.
        """
        run = IngestRun(self._database, self._embedder, self._preparer, self.situator, DocumentStatus.PENDING, None)
        work, vectors = await run.single(document)
        return PreparedDocument(document=document, chunks=work.chunks, recipe=work.recipe), vectors

    async def vectors(self, passages: Sequence[str]) -> Sequence[npt.NDArray[np.float32]]:
        """The vectors of all passages of one document, in their order.

        Raises:
            ProviderError: the embedding model failed.
        """
        if isinstance(self._embedder, DocumentEmbedder):
            return list((await self._embedder.embed_passages([passages]))[0])
        return list(await self._embedder.embed_documents(passages))

    async def changed(self, items: Iterable[Item]) -> list[PreparedDocument]:
        """The documents that ``ingest`` would write, cut by headings, to tell beforehand what it will cost."""
        run = IngestRun(self._database, self._embedder, self._preparer, self.situator, DocumentStatus.LIVE, None)
        found: list[PreparedDocument] = []
        waiting = batches(iter(items), self._settings.chunk_characters)
        while batch := await in_thread(lambda: next(waiting, None)):
            work = await run.changed(batch)
            found += await asyncio.to_thread(lambda: [w.prepared or self.prepare(w.document) for w in work])  # noqa: B023
        return found
