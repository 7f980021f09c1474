"""What the index must hold, counted anew from the rows of the documents, and what its two legs find."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from psycopg import AsyncConnection

from harry_mcp.domain.documents import DocumentStatus
from harry_mcp.domain.search import OptimizedQuery, Passage, SearchFilters
from harry_mcp.domain.terms import unpack
from harry_mcp.domain.tokens import index_terms
from harry_mcp.ports import Vectors
from harry_mcp.providers.local.embedder import SPACE
from harry_mcp.settings import load_settings
from harry_mcp.stages.retrieve.retriever import HybridRetriever
from harry_mcp.storage.database import Database

_CHUNKS = """
SELECT c.id, c.document_id, c.ordinal, c.terms, c.contextual_content, c.raw_content,
       substr(d.content, c.span_start + 1, c.span_end - c.span_start),
       d.title, d.title_terms, d.language, d.status
  FROM documents d JOIN chunks c ON c.document_id = d.id ORDER BY c.document_id, c.ordinal
"""
_VECTORS = """
SELECT v.chunk_id, v.searchable, round(vector_norm(v.embedding)::numeric, 4), s.active
  FROM chunk_vectors v JOIN embedding_spaces s ON s.id = v.space_id
"""


async def rows(connection: AsyncConnection[Any], statement: str) -> list[tuple[Any, ...]]:
    return await (await connection.execute(statement.encode())).fetchall()


async def assert_index_is_exact(connection: AsyncConnection[Any]) -> None:
    """Counts, postings, term ids and vectors are those of the searchable chunks, no more and no fewer."""
    names = {row[0]: row[1] for row in await rows(connection, "SELECT id, term FROM terms")}
    postings: dict[tuple[int, int], tuple[int, int]] = {}
    df: Counter[str] = Counter()
    title_df: Counter[str] = Counter()
    length_sum = title_sum = chunks = 0
    vectors: dict[int, tuple[bool, float, bool]] = {}
    ordinals: dict[str, list[int]] = {}
    for chunk, document, ordinal, packed, contextual, raw, span, title, title_packed, language, status in await rows(
        connection, _CHUNKS
    ):
        searchable = DocumentStatus(status).searchable
        vectors[chunk] = (searchable, 1.0, True)
        ordinals.setdefault(document, []).append(ordinal)
        assert raw in contextual
        assert raw == span
        if not searchable:
            assert (packed, title_packed) == (b"", b"")
            continue
        words, title_words = index_terms(contextual, language), index_terms(title, language)
        assert [names[i] for i in unpack(packed)] == words
        assert [names[i] for i in unpack(title_packed)] == title_words
        ids = unpack(packed)
        postings |= {(term, chunk): (count, len(ids)) for term, count in Counter(ids).items()}
        df.update(set(words))
        title_df.update(set(title_words))
        chunks, length_sum, title_sum = chunks + 1, length_sum + len(words), title_sum + len(title_words)
    assert all(found == list(range(len(found))) for found in ordinals.values())
    assert len(ordinals) == (await rows(connection, "SELECT count(*) FROM documents"))[0][0]
    stored = await rows(connection, "SELECT term_id, chunk_id, tf, length FROM postings")
    assert {(row[0], row[1]): (row[2], row[3]) for row in stored} == postings
    assert len(stored) == len(postings)
    assert {row[0]: (row[1], row[2]) for row in await rows(connection, "SELECT term, df, title_df FROM terms")} == {
        term: (df[term], title_df[term]) for term in {*df, *title_df}
    }
    counts = await rows(connection, "SELECT chunks, length_sum, title_sum FROM corpus")
    assert counts == [(chunks, length_sum, title_sum)]
    found = await rows(connection, _VECTORS)
    assert {row[0]: (row[1], float(row[2]), row[3]) for row in found} == vectors
    assert len(found) == len(vectors)


class OneDirection:
    """An embedder for tests with made vectors: every question lies along the first axis."""

    space = SPACE

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return np.tile(np.eye(1, SPACE.dimension, dtype=np.float32), (len(texts), 1))

    async def embed_queries(self, texts: Sequence[str], *, timeout: float | None = None) -> Vectors:
        return await self.embed_documents(texts)


async def both_legs(
    database: Database, words: str, filters: SearchFilters | None = None
) -> tuple[list[Passage], list[Passage]]:
    """The passages that the keyword leg finds, and those that the vector leg finds for the first axis."""
    retriever = HybridRetriever(database, OneDirection(), load_settings({}))
    query = OptimizedQuery(question=words, text=words, keywords=words)
    found = (await retriever.retrieve(query, filters or SearchFilters())).candidates
    async with database.reading() as unit:
        passages = await unit.documents.passages([item.chunk_id for item in found])
    return (
        [passages[item.chunk_id] for item in found if item.keyword_rank],
        [passages[item.chunk_id] for item in found if item.vector_rank],
    )
