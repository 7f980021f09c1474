"""Everything that is stored, as lines of JSON on their way out, and back in."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import AsyncConnection

from harry_mcp.storage import queries
from harry_mcp.storage.bulk_index import enter_documents
from harry_mcp.storage.keywords import KeywordIndex
from harry_mcp.storage.spaces import StoredSpace

_SQL = queries.load("transfer")
_OUT = queries.load("export_rows")
_IN = queries.load("import_rows")
# Rows that are fetched together on the way out.
_FETCHED = 200
# Passages whose terms are counted together: fewer, and a term is written more often; more, and they take memory.
_INDEXED = 2000

# What is exported, what others refer to first.
KINDS = (
    "review_actions",
    "kb_curation_log",
    "review_changes",
    "documents",
    "chunks",
    "chunk_vectors",
    "document_versions",
    "version_chunks",
    "version_vectors",
    "document_checks",
    "kb_gaps",
    "searches",
    "kb_gap_logs",
    "web_searches",
    "verified_responses",
    "verified_citations",
    "verified_refusals",
    "verified_lookups",
    "corrections",
    "correction_questions",
    "correction_reports",
    "correction_injections",
    "feedback",
    "memory_vectors",
    "audit_log",
    "source_checks",
    "crawls",
    "crawl_urls",
    "calibrations",
    "eval_runs",
    "digest_mails",
)
VECTORS = frozenset({"chunk_vectors", "version_vectors", "memory_vectors"})
SEARCHES = frozenset({"searches", "web_searches"})

# Tables that are not exported, and why.
LEFT_OUT: Mapping[str, str] = {
    "corpus": "the counts of the keyword index, which is built anew",
    "terms": "the keyword index, which is built anew",
    "postings": "the keyword index, which is built anew",
    "embedding_spaces": "the header names the one in service; others are made by `harry reembed`",
    "ingestions": "work that a server was at",
    "job_queue_steps": "what a worker makes when it starts",
    "job_runs": "what the worker of one installation did",
    "shared_marks": "what the processes of one installation tell one another for a while",
    "vector_collections": "where one installation keeps its second vector index",
    "vector_outbox": "what that index still has to be told",
    "migrations": "the steps of the schema, which each database takes itself",
    "web_cache": "a cache",
    "web_days": "how often one installation asked the web on a day, for its own limit",
}
# Columns of exported tables that are not, and why.
LEFT_OUT_COLUMNS: Mapping[str, Mapping[str, str]] = {
    "documents": {"title_terms": "part of the keyword index"},
    "chunks": {"terms": "part of the keyword index"},
    "chunk_vectors": {"space_id": "the header names the space", "searchable": "follows from the document's status"},
    "version_vectors": {"space_id": "the header names the space"},
    "memory_vectors": {"space_id": "the header names the space"},
    "searches": {"first_documents": "made from the ranking"},
}


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of some records. ``differing``: the keys of those that are here otherwise, and stay as they are."""

    added: int
    same: int
    differing: list[str]


@dataclass(frozen=True, slots=True)
class _Number:
    table: str
    number: int


@dataclass(frozen=True, slots=True)
class _Shift:
    table: str
    shift: int
    next: int


@dataclass(frozen=True, slots=True)
class _Came:
    id: str
    chunks: int


class Transfer:
    """All tables as one connection sees them."""

    def __init__(self, connection: AsyncConnection[Any], keywords: KeywordIndex, space: StoredSpace) -> None:
        self._connection = connection
        self._keywords = keywords
        self._space = space

    async def numbers(self) -> dict[str, int]:
        """The highest number of each table that numbers its rows."""
        rows = await queries.many(self._connection, _SQL["numbers"], _Number)
        return {row.table: row.number for row in rows}

    async def rows(self, kind: str, *, searches: bool) -> AsyncGenerator[str, None]:
        """The rows of a kind, each as a JSON object on one line, fetched as they are wanted."""
        parameters = {"space": self._space.id, "searches": searches}
        async for line in queries.stream(self._connection, _OUT[kind], parameters, at_once=_FETCHED):
            yield line

    async def set_aside(self, numbers: Mapping[str, int]) -> dict[str, int]:
        """Keep numbers free for the records of a file; by how much each table's are moved.

        Wants a short transaction of its own: writers wait until it ends.
        """
        await queries.run(self._connection, _SQL["hurry"])
        await queries.run(self._connection, _SQL["hold_numbers"])
        parameters = {"numbers": json.dumps(dict(numbers))}
        rows = await queries.many(self._connection, _SQL["set_aside"], _Shift, parameters)
        return {row.table: row.shift for row in rows}

    async def take(self, kind: str, rows: Sequence[str], shifts: Mapping[str, int]) -> Taken:
        """Store records of a kind. What is here already stays as it is.

        Wants a transaction that is no part of another, and that all records of a file share: passages, vectors and
        the like are stored only where what they belong to came with the same transaction.
        """
        numbered = "chunks" if kind in ("chunk_vectors", "version_chunks", "version_vectors") else kind
        parameters: dict[str, object] = {
            "rows": f"[{','.join(rows)}]",
            "space": self._space.id,
            "shift": shifts.get(numbered, 0),
            "shift_log": shifts.get("kb_curation_log", 0),
            "shift_crawl": shifts.get("crawls", 0),
        }
        taken = await queries.one(self._connection, _IN[kind], Taken, parameters)
        return taken or Taken(0, 0, [])

    async def index(self) -> None:
        """Put the searchable documents that this transaction stored into the keyword index."""
        batch: list[str] = []
        chunks = 0
        for document in await queries.many(self._connection, _SQL["came"], _Came):
            batch.append(document.id)
            chunks += document.chunks
            if chunks >= _INDEXED:
                await enter_documents(self._connection, self._keywords, batch)
                batch, chunks = [], 0
        if batch:
            await enter_documents(self._connection, self._keywords, batch)

    async def catch_up(self, revision: int) -> None:
        """Let the revision of the index be no lower than that of the base that a file comes from."""
        await queries.run(self._connection, _SQL["catch_up"], {"revision": revision})
