"""RET-5: BM25 in PostgreSQL equals the reference implementation, whatever happens to the documents."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo
from rank_bm25 import BM25Okapi

from harry_mcp.domain.bm25 import K1, B
from harry_mcp.domain.documents import Chunk, ContextualChunk, DocumentStatus, SourceDocument
from harry_mcp.domain.search import SearchFilters
from harry_mcp.domain.tokens import index_terms
from harry_mcp.providers.local.embedder import LocalEmbedder
from harry_mcp.settings import load_settings
from harry_mcp.stages.retrieve.keyword_leg import KeywordLeg
from harry_mcp.storage.database import Database
from harry_mcp.storage.embedded import EmbeddedPostgres

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "kappa", "lambda", "omega", "sigma"]


def reference_scores(passages: Sequence[list[str]], question: list[str]) -> list[float]:
    """rank_bm25's BM25Okapi with the IDF that is never negative."""
    if not passages:
        return []
    model: Any = BM25Okapi(list(passages), k1=K1, b=B)
    for word in model.idf:
        df = sum(word in passage for passage in passages)
        model.idf[word] = math.log(1 + (len(passages) - df + 0.5) / (df + 0.5))
    return [float(score) for score in model.get_scores(list(dict.fromkeys(question)))]


def document(name: str, passages: Sequence[str]) -> tuple[SourceDocument, list[ContextualChunk]]:
    text = "\n\n".join(passages)
    chunks = [
        ContextualChunk(chunk=Chunk(ordinal=i, text=passage), contextual_text=passage)
        for i, passage in enumerate(passages)
    ]
    return SourceDocument(source=f"test:{name}", title="", text=text, language="en"), chunks


async def save(database: Database, name: str, passages: Sequence[str]) -> str:
    made, chunks = document(name, passages)
    vectors = [np.eye(1, 384, dtype=np.float32)[0]] * len(chunks)
    async with database.transaction() as unit:
        await unit.documents.save(made, chunks, vectors, recipe="test", status=DocumentStatus.LIVE)
    return made.id


async def assert_equal_to_reference(
    database: Database,
    connection: AsyncConnection[Any],
    stored: dict[str, list[str]],
    question: str,
    leg: KeywordLeg | None = None,
) -> None:
    """Every score of the index equals the reference's over the passages that are searchable."""
    passages = [passage for passages in stored.values() for passage in passages]
    expected = reference_scores([index_terms(p) for p in passages], index_terms(question))
    leg = leg or KeywordLeg()
    async with database.reading() as unit:
        hits = await leg.search(unit.keywords, question, limit=10_000, filters=SearchFilters())
    found = hits.rows
    assert hits.statistics.chunks == len(passages)
    rows = await (await connection.execute("SELECT id, contextual_content FROM chunks")).fetchall()
    texts = {int(row[0]): str(row[1]) for row in rows}
    got = sorted((texts[chunk_id], score) for chunk_id, score in found)
    wanted = sorted((p, score) for p, score in zip(passages, expected, strict=True) if score > 0)
    assert [text for text, _ in got] == [text for text, _ in wanted]
    for (_, score), (_, reference) in zip(got, wanted, strict=True):
        assert score == pytest.approx(reference, abs=1e-6)
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)


class SessionDatabase:
    """One database and one event loop for all examples of a property, emptied before each."""

    def __init__(self, runner: asyncio.Runner, database: Database, connection: AsyncConnection[Any]) -> None:
        self.run = runner.run
        self._database = database
        self._connection = connection

    async def fresh(self) -> tuple[Database, AsyncConnection[Any]]:
        await self._connection.execute("TRUNCATE documents, terms, postings CASCADE")
        await self._connection.execute("UPDATE corpus SET chunks = 0, length_sum = 0, title_sum = 0")
        return self._database, self._connection


@pytest.fixture(scope="module")
def session_database(postgres: EmbeddedPostgres, template: str, embedder: LocalEmbedder) -> Iterator[SessionDatabase]:
    with psycopg.connect(postgres.dsn, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE properties TEMPLATE {template}".encode())
    url = make_conninfo(postgres.dsn, dbname="properties")
    with asyncio.Runner() as runner:
        database = runner.run(Database.open(load_settings({"HARRY_DATABASE_URL": url}), embedder.space))
        connection = runner.run(AsyncConnection.connect(url, autocommit=True, options="-c search_path=harry,public"))
        yield SessionDatabase(runner, database, connection)
        runner.run(connection.close())
        runner.run(database.close())


passage = st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(" ".join)


@pytest.mark.promise("RET-5")
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_history_of_documents_scores_like_the_reference(
    data: st.DataObject, session_database: SessionDatabase
) -> None:
    session_database.run(_history(data, session_database))


async def _history(data: st.DataObject, home: SessionDatabase) -> None:
    database, connection = await home.fresh()
    # One leg for the whole history: what it remembers must never outlive a change.
    leg = KeywordLeg()
    stored: dict[str, list[str]] = {}
    hidden: dict[str, list[str]] = {}
    for _ in range(data.draw(st.integers(1, 8))):
        action = data.draw(st.sampled_from(["save", "save", "archive", "restore", "delete"]))
        name = data.draw(st.sampled_from(["a", "b", "c"]))
        home_of = stored if name in stored else hidden
        if action == "save":
            passages = data.draw(st.lists(passage, min_size=1, max_size=4))
            await save(database, name, passages)
            home_of = hidden if name in hidden else stored
            home_of[name] = passages
        elif name in home_of:
            key = document(name, home_of[name])[0].id
            async with database.transaction() as unit:
                if action == "archive":
                    await unit.documents.set_status(key, DocumentStatus.ARCHIVED)
                elif action == "restore":
                    await unit.documents.set_status(key, DocumentStatus.LIVE)
                else:
                    assert await unit.documents.delete(key)
            passages = home_of.pop(name)
            if action != "delete":
                (hidden if action == "archive" else stored)[name] = passages
        question = data.draw(st.lists(st.sampled_from([*WORDS, "unknown"]), min_size=1, max_size=6))
        await assert_equal_to_reference(database, connection, stored, " ".join(question), leg)


@pytest.mark.promise("RET-5")
async def test_two_writers_at_once_leave_exact_counts(database: Database, connection: AsyncConnection[Any]) -> None:
    random_words = random.Random(7)
    stored = {f"doc{i}": [" ".join(random_words.choices(WORDS, k=12)) for _ in range(3)] for i in range(12)}

    async def writer(share: int) -> None:
        for number, (name, passages) in enumerate(stored.items()):
            if number % 3 != share:
                # Written by two of the three, so that the same document is contended as well.
                await save(database, name, [*passages, "beta beta omega"])
                await save(database, name, passages)

    await asyncio.gather(*(writer(share) for share in range(3)))
    for name, passages in stored.items():
        await save(database, name, passages)
    await assert_equal_to_reference(database, connection, stored, "alpha beta omega unknown")
    counted = await (
        await connection.execute(
            "SELECT count(*) FROM terms t WHERE t.df <> (SELECT count(*) FROM postings p WHERE p.term_id = t.id)"
        )
    ).fetchone()
    assert counted == (0,)


@pytest.mark.promise("RET-5")
async def test_what_a_transaction_rolls_back_leaves_no_trace(
    database: Database, connection: AsyncConnection[Any]
) -> None:
    await save(database, "kept", ["alpha beta"])
    made, chunks = document("lost", ["alpha gamma"])

    async def cut_off() -> None:
        async with database.transaction() as unit:
            await unit.documents.save(
                made, chunks, [np.eye(1, 384, dtype=np.float32)[0]], recipe="test", status=DocumentStatus.LIVE
            )
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        await cut_off()
    await assert_equal_to_reference(database, connection, {"kept": ["alpha beta"]}, "alpha gamma")
