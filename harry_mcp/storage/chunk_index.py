"""The chunks of documents, and the keywords that find them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from harry_mcp.domain.documents import ContextualChunk, Document
from harry_mcp.domain.terms import pack
from harry_mcp.domain.tokens import index_terms
from harry_mcp.storage import queries
from harry_mcp.storage.keywords import KeywordIndex

_DOCUMENTS = queries.load("documents")
_CHUNKS = queries.load("chunks")


@dataclass(frozen=True, slots=True)
class ChunkId:
    id: int


@dataclass(frozen=True, slots=True)
class _Packed:
    terms: bytes


@dataclass(frozen=True, slots=True)
class _StoredChunk:
    id: int
    contextual_content: str
    terms: bytes


@dataclass(frozen=True, slots=True)
class Terms:
    """The packed term ids of a title and of each chunk."""

    title: bytes
    chunks: Sequence[bytes]


class ChunkIndex:
    """Chunks and their keywords as one connection sees them. Writing needs a transaction around it."""

    def __init__(self, connection: AsyncConnection[Any], keywords: KeywordIndex) -> None:
        self._connection = connection
        self._keywords = keywords

    async def reserve(self, count: int) -> queries.Answer[ChunkId]:
        """Ids for so many new chunks, asked for and not yet waited for."""
        return await queries.ask(self._connection, _CHUNKS["reserve"], ChunkId, {"count": count})

    async def delete(self, document_id: str) -> None:
        """Delete the chunks of a document that no search finds any more."""
        await queries.run(self._connection, _CHUNKS["delete_of_document"], {"document_id": document_id})

    async def insert(
        self, document_id: str, ids: Sequence[int], chunks: Sequence[ContextualChunk], terms: Sequence[bytes]
    ) -> None:
        await queries.run(
            self._connection,
            _CHUNKS["insert"],
            {
                "document_id": document_id,
                "ids": list(ids),
                "public_ids": chunk_public_ids(document_id, chunks),
                "ordinals": [item.chunk.ordinal for item in chunks],
                "heading_paths": [Jsonb(list(item.chunk.heading_path)) for item in chunks],
                "raw": [item.chunk.text for item in chunks],
                "contextual": [item.contextual_text for item in chunks],
                "starts": [item.chunk.start for item in chunks],
                "ends": [item.chunk.end for item in chunks],
                "terms": list(terms),
            },
        )

    async def index(self, document: Document) -> None:
        """Have searches find the document by its words."""
        rows = await self._stored_chunks(document.id)
        terms = await self.terms(document.title, [row.contextual_content for row in rows], document.language)
        ids = [row.id for row in rows]
        await self._keywords.add(list(zip(ids, terms.chunks, strict=True)), terms.title)
        await self._keep_terms(document.id, ids, terms)

    async def terms(self, title: str, texts: Sequence[str], language: str) -> Terms:
        """The terms of a document, packed and counted."""
        title_terms, *chunk_terms = (index_terms(text, language) for text in (title, *texts))
        ids = await self._keywords.count(chunk_terms, title_terms)
        packed = [pack(ids[term] for term in terms) for terms in (title_terms, *chunk_terms)]
        return Terms(packed[0], packed[1:])

    async def unindex(self, document_id: str) -> None:
        """Have no search find the document by its words; its chunks stay."""
        rows = await self._stored_chunks(document_id)
        title = await queries.one(self._connection, _DOCUMENTS["title_terms"], _Packed, {"id": document_id})
        await self._keywords.remove([(row.id, row.terms) for row in rows], title.terms if title else b"")
        # Term ids of a hidden document would point at terms that may be forgotten meanwhile.
        await self._keep_terms(document_id, [row.id for row in rows], Terms(b"", [b""] * len(rows)))

    async def _stored_chunks(self, document_id: str) -> list[_StoredChunk]:
        return await queries.many(self._connection, _CHUNKS["of_document"], _StoredChunk, {"document_id": document_id})

    async def _keep_terms(self, document_id: str, chunk_ids: list[int], terms: Terms) -> None:
        await queries.run(self._connection, _CHUNKS["set_terms"], {"ids": chunk_ids, "terms": list(terms.chunks)})
        await queries.run(self._connection, _DOCUMENTS["set_title_terms"], {"id": document_id, "terms": terms.title})


def chunk_public_ids(document_id: str, chunks: Sequence[ContextualChunk]) -> list[str]:
    """``chk_`` and 20 hex digits of the SHA-256 of document, text and the how-manieth of its like it is.

    The same passage of the same document keeps its id from one ingest to the next, wherever it moves to.
    """
    seen: dict[str, int] = {}
    ids: list[str] = []
    for item in chunks:
        number = seen.get(item.contextual_text, 0)
        seen[item.contextual_text] = number + 1
        key = f"{document_id}\x00{number}\x00{item.contextual_text}"
        ids.append("chk_" + hashlib.sha256(key.encode()).hexdigest()[:20])
    return ids
