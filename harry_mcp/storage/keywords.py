"""The keyword index: BM25 over postings that change in the document's own transaction.

BM25 as Robertson and Zaragoza give it ("The Probabilistic Relevance Framework", 2009), with the inverse document
frequency ln(1 + (N - df + 0.5) / (df + 0.5)), which is never negative. Each distinct term of a question counts once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from pgvector import Vector
from psycopg import AsyncConnection

from harry_mcp.domain.bm25 import K1, B, idf
from harry_mcp.domain.search import CorpusStatistics, QueryTerm, Scored, SearchFilters
from harry_mcp.domain.terms import unpack
from harry_mcp.errors import StorageError
from harry_mcp.storage import queries

_SQL = queries.load("keywords")
# PostgreSQL keeps a term frequency in two bytes; no passage says a word more often and means it.
_MOST = 32_000


class Signals(NamedTuple):
    """What the ranker must know of a chunk. ``cosine`` is None where it was not asked for, or cannot be had."""

    chunk_id: int
    public_id: str
    document_id: str
    ordinal: int
    terms: bytes
    title_terms: bytes
    cosine: float | None


@dataclass(frozen=True, slots=True)
class KeywordRanking:
    """The best chunks first, and the revision of the index that they were counted at.

    ``remembers``: at that moment there was anything to remember beside the documents.
    """

    revision: int
    remembers: bool
    rows: list[Scored]


@dataclass(frozen=True, slots=True)
class IndexedTerm:
    """A term's id, and how many chunks hold it in the passage and in the title."""

    id: int
    term: str
    df: int
    title_df: int


@dataclass(frozen=True, slots=True)
class _TermId:
    id: int
    term: str


@dataclass(frozen=True, slots=True)
class _Language:
    language: str
    documents: int


class KeywordIndex:
    """The index as one connection sees it."""

    def __init__(self, connection: AsyncConnection[Any], space_id: int) -> None:
        self._connection = connection
        self._space_id = space_id
        self._signals = _SQL["signals"].numbered(space=space_id)

    async def lock(self) -> CorpusStatistics:
        """Queue up as a writer; held until the transaction ends."""
        return self._row(await queries.one(self._connection, _SQL["lock_corpus"], CorpusStatistics))

    async def queue(self) -> None:
        """The same where nobody needs the counts: in a pipeline it is not waited for."""
        await queries.run(self._connection, _SQL["lock_corpus"])

    async def statistics(self) -> CorpusStatistics:
        asked = {"space": self._space_id}
        return self._row(await queries.one(self._connection, _SQL["corpus_statistics"], CorpusStatistics, asked))

    async def languages(self) -> tuple[str, ...]:
        """Languages of the searchable documents, English for those without one, the commonest first."""
        rows = await queries.many(self._connection, _SQL["languages"], _Language)
        return tuple(dict.fromkeys(row.language or "en" for row in rows)) or ("en",)

    async def count(self, chunks: Sequence[Sequence[str]], title: Sequence[str]) -> dict[str, int]:
        """Count the terms of a new document; the ids of them all. The writers' lock must be held."""
        held = Counter(term for terms in chunks for term in set(terms))
        return await self.count_terms(held, Counter(dict.fromkeys(title, len(chunks))))

    async def count_terms(self, held: Counter[str], titled: Counter[str]) -> dict[str, int]:
        """Add to the chunks that hold terms in the passage and in the title; the ids of them all."""
        terms = sorted({*held, *titled})
        counted: dict[str, object] = {
            "terms": terms,
            "df": _array([held[term] for term in terms]),
            "title_df": _array([titled[term] for term in terms]),
        }
        rows = await queries.many(self._connection, _SQL["count_terms"], _TermId, counted)
        return {row.term: row.id for row in rows}

    async def add(self, chunks: Sequence[tuple[int, bytes]], title: bytes) -> None:
        """Enter a document's chunks, each with its packed term ids, which are counted already. The writers' lock must
        be held."""
        await self.add_all([(chunk_id, packed, title) for chunk_id, packed in chunks])

    async def add_all(self, chunks: Sequence[tuple[int, bytes, bytes]]) -> None:
        """The same for chunks of several documents, each with its document's title."""
        columns: dict[str, list[int]] = {"terms": [], "chunks": [], "tf": [], "lengths": []}
        for chunk_id, packed, _ in chunks:
            length = len(packed) // 4
            counted = Counter(unpack(packed))
            columns["terms"].extend(counted)
            columns["tf"].extend(min(frequency, _MOST) for frequency in counted.values())
            columns["chunks"].extend([chunk_id] * len(counted))
            columns["lengths"].extend([length] * len(counted))
        postings = {name: _array(column) for name, column in columns.items()}
        await queries.run(self._connection, _SQL["add_postings"], postings)
        await self._change_corpus([(packed, title) for _, packed, title in chunks], 1)

    async def remove(self, chunks: Sequence[tuple[int, bytes]], title: bytes) -> None:
        """Take a document's chunks out again, given as ``add`` packed them; the writers' lock must be held."""
        terms: list[int] = []
        chunk_ids: list[int] = []
        for chunk_id, packed in chunks:
            distinct = sorted(set(unpack(packed)))
            terms.extend(distinct)
            chunk_ids.extend([chunk_id] * len(distinct))
        await queries.run(self._connection, _SQL["remove_postings"], {"terms": terms, "chunks": chunk_ids})
        ids = await self._uncount([packed for _, packed in chunks], title)
        await self._change_corpus([(packed, title) for _, packed in chunks], -1)
        await queries.run(self._connection, _SQL["forget_terms"], {"ids": ids})

    async def find(self, terms: Collection[str]) -> dict[str, IndexedTerm]:
        """Those of the terms that the index knows."""
        rows = await queries.many(self._connection, _SQL["find_terms"], IndexedTerm, {"terms": sorted(terms)})
        return {row.term: row for row in rows}

    async def search(
        self,
        terms: Sequence[QueryTerm],
        statistics: CorpusStatistics,
        *,
        limit: int,
        filters: SearchFilters | None = None,
    ) -> KeywordRanking:
        """The best chunks by BM25, best first; ties by id, so that the order never wavers."""
        parameters: dict[str, object] = {
            "ids": [i for term in terms for i in term.ids],
            "weights": [(K1 + 1) * idf(term.df, statistics.chunks) for term in terms for _ in term.ids],
            "norm": K1 * (1 - B),
            "slope": K1 * B * statistics.chunks / max(statistics.length_sum, 1),
            "limit": limit,
        }
        statement = _SQL["bm25"]
        if filters is not None and filters.any:
            statement = _SQL["bm25_filtered"]
            parameters |= filter_parameters(filters)
        found = await queries.tuples(self._connection, statement, parameters)
        revision, remembers = found[0][:2]
        return KeywordRanking(revision, remembers, [Scored(*row[2:]) for row in found if row[2] is not None])

    async def signals(
        self,
        chunk_ids: Collection[int],
        *,
        beside: Sequence[int],
        query: npt.NDArray[np.float32] | None,
        measured: Collection[int],
    ) -> dict[int, Signals]:
        """What the ranker must know of chunks, and of the chunks right before and after those in ``beside``, by id.

        The cosine to ``query`` comes with all but the ``measured``, whose cosine a leg has told already. Chunks that
        went meanwhile are left out.
        """
        parameters: dict[str, object] = {
            "ids": list(chunk_ids),
            "beside": list(beside),
            "query": None if query is None else Vector(query),
            "measured": list(measured),
        }
        return {row[0]: Signals(*row) for row in await queries.tuples(self._connection, self._signals, parameters)}

    async def _uncount(self, chunks: Sequence[bytes], title: bytes) -> list[int]:
        held: Counter[int] = Counter()
        for packed in chunks:
            held.update(set(unpack(packed)))
        in_title = set(unpack(title))
        ids = sorted({*held, *in_title})
        fewer: dict[str, object] = {
            "ids": ids,
            "df": [-held[i] for i in ids],
            "title_df": [-len(chunks) * (i in in_title) for i in ids],
        }
        await queries.run(self._connection, _SQL["change_frequencies"], fewer)
        return ids

    async def _change_corpus(self, chunks: Sequence[tuple[bytes, bytes]], sign: int) -> None:
        """Count chunks, each given by its own packed terms and those of its title."""
        change: dict[str, object] = {
            "chunks": sign * len(chunks),
            "length": sign * (sum(len(packed) for packed, _ in chunks) // 4),
            "title": sign * (sum(len(title) for _, title in chunks) // 4),
        }
        await queries.run(self._connection, _SQL["change_corpus"], change)

    @staticmethod
    def _row(row: CorpusStatistics | None) -> CorpusStatistics:
        if row is None:
            raise StorageError("The corpus row is missing; the schema was changed by hand. Restore a backup.")
        return row


def _array(numbers: Sequence[int]) -> str:
    """Numbers as PostgreSQL reads an array: a list would be looked at one by one, and postings are many."""
    return "{" + ",".join(map(str, numbers)) + "}"


def query_word(variants: Sequence[str], known: Mapping[str, IndexedTerm]) -> QueryTerm:
    """One word of a question, all its variants together; without ids when the index knows none."""
    hits = [known[term] for term in variants if term in known]
    df, title_df = sum(hit.df for hit in hits), sum(hit.title_df for hit in hits)
    return QueryTerm(ids=tuple(hit.id for hit in hits), df=df, title_df=title_df)


def filter_parameters(filters: SearchFilters) -> dict[str, object]:
    """The filters as the SQL of both legs names them."""
    return {
        "topic": filters.topic,
        "source": filters.source,
        "language": filters.language,
        "since": filters.updated_since,
    }
