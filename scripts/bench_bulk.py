"""Fills a large knowledge base in one go: the rows that the Ingester writes document by document, through COPY.

The tables, their constraints and the statement that makes the vector index are the product's own; texts are cut, given
context and split into terms by its code. Only the way in is another, for writing documents one by one, each in a
transaction of its own and each vector into the index by itself, takes an hour at 100,000 chunks.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, LiteralString, cast

import numpy as np
import numpy.typing as npt
import psycopg

from harry_mcp.domain.terms import pack
from harry_mcp.domain.tokens import index_terms
from harry_mcp.ingest.ingester import PreparedDocument
from harry_mcp.storage import queries
from harry_mcp.storage.chunk_index import chunk_public_ids

Vector = npt.NDArray[np.float32]
Rows = npt.NDArray[Any]

# PostgreSQL's binary COPY: a signature, flags and an extension; a row is the number of its fields, then each field's
# length before it; the end is a row of -1 fields.
_HEADER = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
_TRAILER = b"\xff\xff"
_POSTING = np.dtype([
    ("fields", ">i2"), ("l1", ">i4"), ("term", ">i4"), ("l2", ">i4"), ("chunk", ">i4"),
    ("l3", ">i4"), ("tf", ">i2"), ("l4", ">i4"), ("length", ">i4"),
])  # fmt: skip
_ROWS_A_WRITE = 50_000
_DOCUMENTS = "documents (id, source, title, url, topic, language, status, content, content_hash, recipe, title_terms)"
_CHUNKS = """\
chunks (id, public_id, document_id, ordinal, heading_path, raw_content, contextual_content, span_start, span_end,
        terms)"""
_CHECK = """\
SELECT (SELECT count(*) FROM chunks) = chunks
   AND (SELECT sum(length(terms)) / 4 FROM chunks) = length_sum
   AND (SELECT sum(tf) FROM postings) = length_sum
   AND (SELECT sum(df) FROM terms) = (SELECT count(*) FROM postings)
  FROM corpus"""


@dataclass(slots=True)
class _Index:
    """The keyword index as it grows: an id for each term, how many chunks hold it, and the postings by column."""

    ids: dict[str, int] = field(default_factory=dict[str, int])
    df: Counter[int] = field(default_factory=Counter[int])
    title_df: Counter[int] = field(default_factory=Counter[int])
    columns: tuple[array[int], ...] = field(default_factory=lambda: tuple(array("i") for _ in range(4)))
    length_sum: int = 0
    title_sum: int = 0

    def title(self, terms: Sequence[str], chunks: int) -> bytes:
        """Enter a document's title and pack its terms."""
        ids = self._ids(terms)
        self.title_df.update(dict.fromkeys(ids, chunks))
        self.title_sum += chunks * len(ids)
        return pack(ids)

    def chunk(self, number: int, terms: Sequence[str]) -> bytes:
        """Enter a chunk and pack its terms."""
        ids = self._ids(terms)
        counts = Counter(ids)
        self.df.update(counts.keys())
        self.length_sum += len(ids)
        for column, values in zip(
            self.columns,
            (counts.keys(), [number] * len(counts), counts.values(), [len(ids)] * len(counts)),
            strict=True,
        ):
            column.extend(values)
        return pack(ids)

    def postings(self) -> Rows:
        """All postings in the order of their index, as binary COPY takes them."""
        term, chunk, tf, length = (np.frombuffer(column, dtype=np.int32) for column in self.columns)
        order = np.lexsort((chunk, term))
        rows = np.zeros(len(order), dtype=_POSTING)
        rows["fields"] = 4
        rows["l1"] = rows["l2"] = rows["l4"] = 4
        rows["l3"] = 2
        for name, column in (("term", term), ("chunk", chunk), ("tf", tf), ("length", length)):
            rows[name] = column[order]
        return rows

    def _ids(self, terms: Sequence[str]) -> list[int]:
        return [self.ids.setdefault(term, len(self.ids) + 1) for term in terms]


def fill_at_once(dsn: str, documents: Sequence[PreparedDocument], vectors: Mapping[str, Vector]) -> int:
    """Put documents into an empty knowledge base, ``vectors`` by contextual text; the number of chunks."""
    with psycopg.connect(dsn, options="-c search_path=harry,public") as connection:
        connection.execute("SET LOCAL maintenance_work_mem = '1GB'")
        space, dimension = connection.execute("SELECT id, dimension FROM embedding_spaces WHERE active").fetchall()[0]
        connection.execute(_sql(f"DROP INDEX chunk_vectors_{space}_hnsw"))
        index = _Index()
        chunks = list(_rows_of(documents, index))
        _copy(connection, _DOCUMENTS, (row for row, _ in chunks if row))
        _copy(connection, _CHUNKS, (row for _, row in chunks))
        _copy(
            connection,
            "terms (id, term, df, title_df)",
            ((i, term, index.df[i], index.title_df[i]) for term, i in index.ids.items()),
        )
        _copy_binary(connection, "postings (term_id, chunk_id, tf, length)", index.postings())
        texts = (row[6] for _, row in chunks)
        _copy_vectors(connection, space, (vectors[text] for text in texts), dimension)
        connection.execute(
            "UPDATE corpus SET chunks = %s, length_sum = %s, title_sum = %s, revision = revision + 1",
            (len(chunks), index.length_sum, index.title_sum),
        )
        for table in ("chunks", "terms"):
            connection.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table}")
        create = queries.load("spaces")["create_index"].numbered(space=space, dimension=dimension)
        connection.execute(create.text)
        assert connection.execute(_CHECK).fetchall() == [(True,)]
    return len(chunks)


def _rows_of(
    documents: Sequence[PreparedDocument], index: _Index
) -> Iterator[tuple[tuple[object, ...] | None, tuple[Any, ...]]]:
    """Each chunk's row, and before a document's first chunk the document's."""
    number = 0
    for item in documents:
        document = item.document
        title = index.title(index_terms(document.title, document.language), len(item.chunks))
        row: tuple[object, ...] | None = (
            document.id, document.source, document.title, document.url, document.topic, document.language, "live",
            document.text, document.content_hash, item.recipe, title,
        )  # fmt: skip
        for public_id, face in zip(chunk_public_ids(document.id, item.chunks), item.chunks, strict=True):
            number += 1
            chunk = face.chunk
            packed = index.chunk(number, index_terms(face.contextual_text, document.language))
            yield row, (
                number, public_id, document.id, chunk.ordinal, list(chunk.heading_path), chunk.text,
                face.contextual_text, chunk.start, chunk.end, packed,
            )  # fmt: skip
            row = None


def _copy(connection: psycopg.Connection[Any], target: str, rows: Iterator[tuple[object, ...]]) -> None:
    with connection.cursor().copy(_sql(f"COPY {target} FROM STDIN")) as copy:
        for row in rows:
            copy.write_row(row)


def _copy_binary(connection: psycopg.Connection[Any], target: str, rows: Rows) -> None:
    with connection.cursor().copy(_sql(f"COPY {target} FROM STDIN (FORMAT BINARY)")) as copy:
        copy.write(_HEADER)
        for start in range(0, len(rows), _ROWS_A_WRITE):
            copy.write(rows[start : start + _ROWS_A_WRITE].tobytes())
        copy.write(_TRAILER)


def _copy_vectors(connection: psycopg.Connection[Any], space: int, vectors: Iterator[Vector], dimension: int) -> None:
    matrix = np.stack(list(vectors))
    rows = np.zeros(
        len(matrix),
        dtype=np.dtype([
            ("fields", ">i2"), ("l1", ">i4"), ("space", ">i4"), ("l2", ">i4"), ("chunk", ">i4"), ("l3", ">i4"),
            ("searchable", "i1"), ("l4", ">i4"), ("dimension", ">i2"), ("unused", ">i2"), ("vector", ">f4", dimension),
        ]),
    )  # fmt: skip
    rows["fields"] = 4
    rows["l1"] = rows["l2"] = 4
    rows["l3"] = rows["searchable"] = 1
    rows["l4"] = 4 + 4 * dimension
    rows["space"], rows["dimension"] = space, dimension
    rows["chunk"] = np.arange(1, len(matrix) + 1)
    rows["vector"] = matrix
    _copy_binary(connection, "chunk_vectors (space_id, chunk_id, searchable, embedding)", rows)


def _sql(statement: str) -> LiteralString:
    # Built of names in this file and whole numbers.
    return cast(LiteralString, statement)
