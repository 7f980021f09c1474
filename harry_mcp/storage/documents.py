"""Documents with their chunks, keywords and vectors, changed together or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from harry_mcp.domain.documents import ContextualChunk, Document, DocumentStatus, SourceDocument
from harry_mcp.domain.search import Passage
from harry_mcp.errors import NotFoundError
from harry_mcp.storage import queries
from harry_mcp.storage.chunk_index import ChunkIndex, Terms
from harry_mcp.storage.keywords import KeywordIndex
from harry_mcp.storage.vectors import Vectors

_DOCUMENTS = queries.load("documents")
_CHUNKS = queries.load("chunks")


@dataclass(frozen=True, slots=True)
class DocumentState:
    """What decides whether a document must be written again."""

    id: str
    status: str
    version: int
    content_hash: str
    recipe: str
    rewritten_from: str

    def is_content(self, content_hash: str, recipe: str) -> bool:
        """Whether it is this content, made in this way, whoever wrote it."""
        return (self.content_hash, self.recipe) == (content_hash, recipe)

    def holds(self, content_hash: str, recipe: str) -> bool:
        """Whether its source was found to say this before: it is this content, or a curator's that stands in for it."""
        return self.rewritten_from == content_hash or (
            not self.rewritten_from and self.is_content(content_hash, recipe)
        )


@dataclass(frozen=True, slots=True)
class StatusCount:
    """Documents and chunks in one status."""

    status: str
    documents: int
    chunks: int


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A page of a document's text and the length of the whole."""

    text: str
    total: int


@dataclass(frozen=True, slots=True)
class _Beginning:
    text: str


@dataclass(frozen=True, slots=True)
class _Source:
    source: str
    title: str


@dataclass(frozen=True, slots=True)
class _Faces:
    raw_content: str
    contextual_content: str


class Documents:
    """Documents as one connection sees them. Writing needs a transaction around it."""

    def __init__(self, connection: AsyncConnection[Any], keywords: KeywordIndex, vectors: Vectors) -> None:
        self._connection = connection
        self._keywords = keywords
        self._chunks = ChunkIndex(connection, keywords)
        self._vectors = vectors

    async def get(self, document_id: str) -> Document | None:
        return _typed(await queries.one(self._connection, _DOCUMENTS["by_id"], Document, {"id": document_id}))

    async def find(self, key: str) -> Document | None:
        """The document that an id, a chunk id, a URL or a source names."""
        return _typed(await queries.one(self._connection, _DOCUMENTS["find"], Document, {"key": key}))

    async def states(self, ids: Sequence[str]) -> dict[str, DocumentState]:
        rows = await queries.many(self._connection, _DOCUMENTS["states"], DocumentState, {"ids": list(ids)})
        return {row.id: row for row in rows}

    async def text(self, document_id: str, offset: int, limit: int) -> DocumentText:
        """Characters ``offset`` to ``offset + limit`` of a document.

        Raises:
            NotFoundError: there is no such document.
        """
        page = await queries.one(
            self._connection,
            _DOCUMENTS["text"],
            DocumentText,
            {"id": document_id, "offset": offset, "limit": limit},
        )
        if page is None:
            raise NotFoundError(f"There is no document {document_id}.")
        return page

    async def beginnings(self, *, each: int, total: int) -> list[str]:
        """At most ``each`` characters of every searchable document, the last changed first, about ``total`` in all."""
        most = max(1, total // 2000)
        rows = await queries.many(self._connection, _DOCUMENTS["beginnings"], _Beginning, {"each": each, "most": most})
        texts: list[str] = []
        for row in rows:
            if total <= 0:
                break
            texts.append(row.text[:total])
            total -= len(row.text)
        return texts

    async def sources_under(self, prefix: str) -> dict[str, str]:
        """Title by source of the documents whose source begins with a prefix."""
        rows = await queries.many(self._connection, _DOCUMENTS["sources_under"], _Source, {"prefix": prefix})
        return {row.source: row.title for row in rows}

    async def counts(self) -> list[StatusCount]:
        return await queries.many(self._connection, _DOCUMENTS["counts"], StatusCount)

    async def passages(self, chunk_ids: Sequence[int]) -> dict[int, Passage]:
        rows = await queries.many(self._connection, _CHUNKS["passages"], Passage, {"ids": list(chunk_ids)})
        return {row.chunk_id: row for row in rows}

    async def contextual_texts(self, document_id: str) -> dict[str, str]:
        """Contextual by raw text of a document's chunks; of equal passages, the first one's."""
        rows = await queries.many(self._connection, _CHUNKS["faces"], _Faces, {"document_id": document_id})
        return {row.raw_content: row.contextual_content for row in rows}

    async def save(
        self,
        document: SourceDocument,
        chunks: Sequence[ContextualChunk],
        vectors: Sequence[npt.NDArray[np.float32]],
        *,
        recipe: str,
        status: DocumentStatus,
        rewrite: bool = False,
    ) -> bool:
        """Make this the whole of the document; false when it already was.

        A document that is there keeps its status: what an admin archived does not come back by being read again. Nor
        does what a curator rewrote, while its source says the same as then; only another ``rewrite`` goes over that.
        """
        await self._keywords.queue()
        locked = await queries.ask(self._connection, _DOCUMENTS["lock"], DocumentState, {"id": document.id})
        await self._vectors.require_active()
        state = await locked.one()
        if state is not None:
            if not rewrite and state.holds(document.content_hash, recipe):
                return False
            if not rewrite and state.is_content(document.content_hash, recipe):
                # The source says now what a curator wrote; nobody's text stands in for it any more.
                await queries.run(self._connection, _DOCUMENTS["confirm"], {"id": document.id})
                return False
            status = DocumentStatus(state.status)
            if status.searchable:
                await self._chunks.unindex(document.id)
            await self._chunks.delete(document.id)
        reserved = await self._chunks.reserve(len(chunks))
        terms = Terms(b"", [b""] * len(chunks))
        if status.searchable:
            terms = await self._chunks.terms(
                document.title, [item.contextual_text for item in chunks], document.language
            )
        chunk_ids = [row.id for row in await reserved.many()]
        statement = _DOCUMENTS["insert" if state is None else "replace"]
        await queries.run(self._connection, statement, _columns(document, recipe, status, terms.title))
        await self._chunks.insert(document.id, chunk_ids, chunks, terms.chunks)
        await self._vectors.add(chunk_ids, vectors, searchable=status.searchable)
        if status.searchable:
            await self._keywords.add(list(zip(chunk_ids, terms.chunks, strict=True)), terms.title)
        return True

    async def set_status(self, document_id: str, status: DocumentStatus) -> None:
        """Move a document; its chunks, keywords and vectors enter or leave every search with it.

        Raises:
            NotFoundError: there is no such document.
        """
        await self._keywords.lock()
        state = await queries.one(self._connection, _DOCUMENTS["lock"], DocumentState, {"id": document_id})
        document = await self.get(document_id)
        if state is None or document is None:
            raise NotFoundError(f"There is no document {document_id}.")
        was, now = DocumentStatus(state.status).searchable, status.searchable
        await queries.run(self._connection, _DOCUMENTS["set_status"], {"id": document_id, "status": status.value})
        if was and not now:
            await self._chunks.unindex(document_id)
        if now and not was:
            await self._chunks.index(document)
        if was != now:
            await self._vectors.set_searchable(document_id, searchable=now)

    async def set_caveats(self, document_id: str, caveats: Mapping[str, str], *, fresh: bool) -> None:
        """Add sentences, by signal, to what is told of a document while it is flagged; ``fresh`` forgets the others."""
        parameters = {"id": document_id, "caveats": Jsonb(dict(caveats)), "fresh": fresh}
        await queries.run(self._connection, _DOCUMENTS["set_caveats"], parameters)

    async def drop_caveat(self, document_id: str, signal: str) -> bool:
        """Take back what a signal said of a document; false when it said nothing."""
        dropped = await queries.run(self._connection, _DOCUMENTS["drop_caveat"], {"id": document_id, "signal": signal})
        return dropped > 0

    async def delete(self, document_id: str) -> bool:
        """Remove a document from the database; false when it was not there."""
        await self._keywords.lock()
        state = await queries.one(self._connection, _DOCUMENTS["lock"], DocumentState, {"id": document_id})
        if state is None:
            return False
        if DocumentStatus(state.status).searchable:
            await self._chunks.unindex(document_id)
        await queries.run(self._connection, _DOCUMENTS["delete"], {"id": document_id})
        return True


def _typed(row: Document | None) -> Document | None:
    """The status as the word that it is in the domain; the row brings it as text."""
    return None if row is None else replace(row, status=DocumentStatus(row.status))


def _columns(document: SourceDocument, recipe: str, status: DocumentStatus, title_terms: bytes) -> dict[str, object]:
    return {
        "id": document.id,
        "source": document.source,
        "title": document.title,
        "url": document.url,
        "topic": document.topic,
        "language": document.language,
        "status": status.value,
        "content": document.text,
        "content_hash": document.content_hash,
        "recipe": recipe,
        "title_terms": title_terms,
    }
