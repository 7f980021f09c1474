"""Two knowledge bases side by side, emptied and filled again for every example of a property."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from psycopg import AsyncConnection, sql
from psycopg.conninfo import make_conninfo

from harry_mcp.app import App
from harry_mcp.domain.curation import QueueTab, ReviewAction
from harry_mcp.domain.documents import DocumentStatus, SourceDocument
from harry_mcp.domain.people import Principal, Role
from harry_mcp.errors import InputError
from harry_mcp.ingest.preparing import PreparedDocument
from harry_mcp.settings import load_settings
from harry_mcp.stages.curate.flag import RotSignal, flag_rot
from harry_mcp.stages.curate.removal import remove
from tests.storage.recount import assert_index_is_exact, rows

CURATOR = Principal(subject="ann", via="test", role=Role.CURATOR, trusted=True)
# The second is a draft that waits, made of a correction; the first is cited by an official answer.
DOCUMENTS = {
    "Keys": "# Keys\n\nRotate an API key under Settings.\n\n## Deleting\n\nA deleted key stops at once.",
    "Draft": "True: webhooks are retried five times. Wrong: they are retried once.",
    "Invoices": "Invoices are sent on the first day of the month.",
}
NEW_TEXTS = (
    "Rotate an API key under Settings; the old key works for an hour.",
    "# Sending\n\nInvoices go out weekly.\n\n## Webhooks\n\nWebhooks are retried seven times.",
)
QUESTIONS = ("How do I rotate an API key?", "How often are webhooks retried?", "When are invoices sent?")

# Deleted and not truncated, which takes a file of its own for each table and index every time.
_EMPTIED = (
    *("document_versions", "review_changes", "review_actions", "kb_curation_log", "documents", "terms", "postings"),
    *("corrections", "memory_vectors", "verified_responses"),
)
# Without the version: a number that an undone rewrite had is not given again.
_COLUMNS = """
SELECT id, source, title, url, topic, language, status, content, content_hash, recipe, rewritten_from,
       created_at = updated_at AS untouched, ARRAY(SELECT jsonb_object_keys(caveats) ORDER BY 1) AS caveats
  FROM documents ORDER BY id
"""
_CHUNKS = """
SELECT public_id, document_id, ordinal, heading_path, raw_content, contextual_content, span_start, span_end,
       rank() OVER (ORDER BY id)
  FROM chunks ORDER BY public_id
"""
_POSTINGS = """
SELECT t.term, c.public_id, p.tf, p.length FROM postings p
  JOIN terms t ON t.id = p.term_id JOIN chunks c ON c.id = p.chunk_id ORDER BY 1, 2
"""
_VECTORS = """
SELECT c.public_id, v.space_id, v.searchable, v.embedding::text
  FROM chunk_vectors v JOIN chunks c ON c.id = v.chunk_id ORDER BY 1, 2
"""
_OTHERS = (
    "SELECT term, df, title_df FROM terms ORDER BY term",
    "SELECT chunks, length_sum, title_sum FROM corpus",
    "SELECT id, status, status_reason, decided_by FROM corrections ORDER BY id",
    "SELECT owner_id, active FROM memory_vectors ORDER BY owner_id",
    "SELECT id, verified_held(id) FROM verified_responses ORDER BY id",
)


@dataclass(frozen=True, slots=True)
class Done:
    """An action that was carried out, with the documents that it was done to."""

    action_id: str
    action: ReviewAction
    ids: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class World:
    """One knowledge base, and what it is filled with."""

    app: App
    connection: AsyncConnection[Any]
    filling: Sequence[tuple[PreparedDocument, Sequence[npt.NDArray[np.float32]]]]

    @property
    def ids(self) -> list[str]:
        return [prepared.document.id for prepared, _ in self.filling]

    async def begin(self) -> None:
        """The documents as they are at the start of every example."""
        # An HNSW graph that is full of the dead finds too little: what autovacuum sees to elsewhere.
        await self.connection.execute(b"TRUNCATE chunk_vectors")
        for table in _EMPTIED:
            await self.connection.execute(f"DELETE FROM {table}".encode())
        await self.connection.execute(
            b"UPDATE corpus SET chunks = 0, length_sum = 0, title_sum = 0, revision = revision + 1"
        )
        async with self.app.database.transaction() as unit:
            for prepared, vectors in self.filling:
                status = DocumentStatus.PENDING if prepared.document.title == "Draft" else DocumentStatus.LIVE
                await unit.documents.save(
                    prepared.document, prepared.chunks, vectors, recipe=prepared.recipe, status=status
                )
        keys, draft, _ = self.ids
        for statement, parameters in (
            (
                "INSERT INTO corrections (id, wrong, truth, lesson, status, author, document_id) "
                "VALUES ('cor_1', 'once', 'five times', 'Webhooks are retried five times.', 'active', 'test:bob', %s)",
                [draft],
            ),
            (
                "INSERT INTO memory_vectors SELECT id, 'correction', 'cor_1', true, "
                "('[1' || repeat(',0', dimension - 1) || ']')::vector FROM embedding_spaces",
                [],
            ),
            (
                "INSERT INTO verified_responses (id, question, answer, status, origin, submitted_by) "
                "VALUES ('ver_1', 'How?', 'So.', 'active', 'test', 'test:bob')",
                [],
            ),
            ("INSERT INTO verified_citations VALUES ('ver_1', %s, 1)", [keys]),
        ):
            await self.connection.execute(statement.encode(), parameters)

    async def act(self, action: ReviewAction, ids: Sequence[str], text: str = "") -> Done | None:
        """Do it to those that it is for; None when it is for none of them."""
        text = text if action is ReviewAction.REWRITE else ""
        named = ids[:1] if text else ids
        outcome = await self.app.loop.review.act(action, named, CURATOR, text=text)
        done = tuple(change.document_id for change in outcome.done)
        return Done(outcome.action_id, action, done, text) if done else None

    async def undo(self, done: Done) -> bool:
        """Take it back; false where something stands on top of it."""
        try:
            await self.app.loop.review.rollback(done.action_id, CURATOR)
        except InputError:
            return False
        return True

    async def flag(self, document_id: str, signal: RotSignal) -> None:
        async with self.app.database.transaction() as unit:
            await flag_rot(unit, document_id, signal, actor="test", detail={"reason": "outdated"})

    async def ingest(self, document_id: str, text: str) -> None:
        document = next(made.document for made, _ in self.filling if made.document.id == document_id)
        await self.app.ingester.ingest([_document(document.title, text or document.text)])

    async def remove(self, document_id: str) -> None:
        async with self.app.database.transaction() as unit:
            await remove(unit, document_id, CURATOR)

    async def tables(self) -> dict[str, list[tuple[Any, ...]]]:
        """All that a search rests on, without the numbers that a database gives out and the moments."""
        await assert_index_is_exact(self.connection)
        statements = (_COLUMNS, _CHUNKS, _POSTINGS, _VECTORS, *_OTHERS)
        return {statement: await rows(self.connection, statement) for statement in statements}

    async def answers(self) -> list[tuple[object, ...]]:
        """What every question finds, down to the scores, and the queue."""
        found: list[tuple[object, ...]] = []
        for question in QUESTIONS:
            result = await self.app.loop.search(question, record=False)
            ranking = tuple((item.public_id, round(item.score, 9), round(item.bm25, 9)) for item in result.ranking)
            hits = tuple((hit.passage.title, hit.text, hit.caveats) for hit in result.hits)
            found.append((result.verdict.band, hits, ranking))
        page = await self.app.loop.review.queue(QueueTab.FLAGGED, limit=10)
        found += [(item.document_id, item.harm.why, item.signal_count) for item in page.items]
        return found


@asynccontextmanager
async def world(dsn: str, template: str, name: str) -> AsyncGenerator[World, None]:
    """A knowledge base in a database of that name, made for it."""
    async with await AsyncConnection.connect(dsn, autocommit=True) as server:
        await server.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY").format(
                sql.Identifier(name), sql.Identifier(template)
            )
        )
        # A crash of the server may cost what a test wrote.
        await server.execute(sql.SQL("ALTER DATABASE {} SET synchronous_commit = off").format(sql.Identifier(name)))
        url = make_conninfo(dsn, dbname=name)
        options = "-c search_path=harry,public"
        async with (
            await App.open(load_settings({"HARRY_DATABASE_URL": url})) as app,
            await AsyncConnection.connect(url, autocommit=True, options=options) as connection,
        ):
            filling = [await app.ingester.ready(_document(title, text)) for title, text in DOCUMENTS.items()]
            yield World(app, connection, filling)
        await server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def _document(title: str, text: str) -> SourceDocument:
    return SourceDocument(source=f"test:{title}", title=title, text=text, language="en")
