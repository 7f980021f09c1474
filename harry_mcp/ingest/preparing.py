"""From a document to its chunks with their template context: what happens before anything costs money."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from harry_mcp.domain.documents import Chunk, ContextualChunk, SourceDocument
from harry_mcp.ingest.chunking import chunk_markdown
from harry_mcp.ingest.contextual import contextualise
from harry_mcp.ingest.semantic import SemanticPlan
from harry_mcp.ports import Embedder
from harry_mcp.settings import IngestSection

# Raise it when the cutting or the context changes in a way that stored chunks should follow.
CHUNKING_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedDocument:
    """A document with its chunks, before embedding. Ready-made chunks come in this form too."""

    document: SourceDocument
    chunks: tuple[ContextualChunk, ...]
    recipe: str


class Preparer:
    """Cuts documents as the settings say."""

    def __init__(self, embedder: Embedder, settings: IngestSection) -> None:
        self._embedder = embedder
        self._settings = settings

    @property
    def recipe(self) -> str:
        """How documents are cut. The embedding model is no part of it: another one moves no chunk's ends."""
        s = self._settings
        recipe = f"{CHUNKING_VERSION}/{s.chunk_characters}/{s.chunk_minimum}/{s.chunk_maximum}"
        if s.chunking == "semantic":
            recipe += f"/semantic/{s.semantic_percentile:g}/{s.semantic_neighbours}"
        return recipe

    def by_heading(self, document: SourceDocument) -> PreparedDocument:
        """Cut by headings and size, whatever the settings say: it needs no model."""
        s = self._settings
        chunks = chunk_markdown(
            document.text,
            title=document.title,
            target=s.chunk_characters,
            minimum=s.chunk_minimum,
            maximum=s.chunk_maximum,
        )
        return with_context(document, chunks, self.recipe)

    async def cut(self, documents: Sequence[SourceDocument]) -> list[PreparedDocument]:
        """Cut documents; by meaning, their windows are embedded together.

        Raises:
            ProviderError: the embedding model failed.
        """
        if not documents:
            return []
        if self._settings.chunking == "heading":
            return await asyncio.to_thread(lambda: [self.by_heading(document) for document in documents])
        plans = await asyncio.to_thread(lambda: [self._plan(document) for document in documents])
        windows = [window for plan in plans for window in plan.windows]
        vectors = list(await self._embedder.embed_documents(windows)) if windows else []
        prepared: list[PreparedDocument] = []
        for document, plan in zip(documents, plans, strict=True):
            own, vectors = vectors[: len(plan.windows)], vectors[len(plan.windows) :]
            prepared.append(with_context(document, plan.chunks(own, self._settings.semantic_percentile), self.recipe))
        return prepared

    def _plan(self, document: SourceDocument) -> SemanticPlan:
        s = self._settings
        return SemanticPlan(
            document.text,
            title=document.title,
            target=s.chunk_characters,
            minimum=s.chunk_minimum,
            maximum=s.chunk_maximum,
            neighbours=s.semantic_neighbours,
        )


def with_context(document: SourceDocument, chunks: Sequence[Chunk], recipe: str) -> PreparedDocument:
    """Chunks, also ready-made ones, with the template context."""
    contextual = tuple(contextualise(document, chunk) for chunk in chunks)
    return PreparedDocument(document=document, chunks=contextual, recipe=recipe)
