"""Many documents into the keyword index at once, as an import needs it.

One by one, each would write the rows of its terms and the counts anew, and in one transaction the old versions of a row
cannot be tidied away: every write has to pass all the ones before it, and the time grows with the square.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from psycopg import AsyncConnection

from harry_mcp.domain.terms import pack
from harry_mcp.domain.tokens import index_terms
from harry_mcp.storage import queries
from harry_mcp.storage.keywords import KeywordIndex

_DOCUMENTS = queries.load("documents")
_CHUNKS = queries.load("chunks")


@dataclass(frozen=True, slots=True)
class _Face:
    id: str
    title: str
    language: str


@dataclass(frozen=True, slots=True)
class _Passage:
    id: int
    document_id: str
    contextual_content: str


@dataclass(frozen=True, slots=True)
class _Read:
    """A document as lists of terms."""

    id: str
    title: Sequence[str]
    chunk_ids: Sequence[int]
    chunks: Sequence[Sequence[str]]


async def enter_documents(connection: AsyncConnection[Any], keywords: KeywordIndex, ids: Sequence[str]) -> None:
    """Put stored documents into the index, which has none of them yet. The writers' lock must be held."""
    documents = await _read(connection, ids)
    held: Counter[str] = Counter()
    titled: Counter[str] = Counter()
    for document in documents:
        held.update(term for terms in document.chunks for term in set(terms))
        for term in set(document.title):
            titled[term] += len(document.chunks)
    numbers = await keywords.count_terms(held, titled)

    def packed(terms: Sequence[str]) -> bytes:
        return pack(numbers[term] for term in terms)

    titles = {document.id: packed(document.title) for document in documents}
    chunks = [
        (chunk_id, packed(terms), titles[document.id])
        for document in documents
        for chunk_id, terms in zip(document.chunk_ids, document.chunks, strict=True)
    ]
    await keywords.add_all(chunks)
    parameters = {"ids": [chunk_id for chunk_id, _, _ in chunks], "terms": [terms for _, terms, _ in chunks]}
    await queries.run(connection, _CHUNKS["set_terms"], parameters)
    parameters = {"ids": list(titles), "terms": list(titles.values())}
    await queries.run(connection, _DOCUMENTS["set_terms_of_titles"], parameters)


async def _read(connection: AsyncConnection[Any], ids: Sequence[str]) -> list[_Read]:
    named = {"ids": list(ids)}
    faces = await queries.many(connection, _DOCUMENTS["faces"], _Face, named)
    passages = await queries.many(connection, _CHUNKS["of_documents"], _Passage, named)
    chunks = {key: list(group) for key, group in groupby(passages, key=lambda passage: passage.document_id)}
    return [
        _Read(
            face.id,
            index_terms(face.title, face.language),
            [passage.id for passage in chunks.get(face.id, [])],
            [index_terms(passage.contextual_content, face.language) for passage in chunks.get(face.id, [])],
        )
        for face in faces
    ]
