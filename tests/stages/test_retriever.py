"""RET-4, RET-6, RET-7, RET-8: retrieval over a real knowledge base."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from psycopg import AsyncConnection

from harry_mcp.app import App
from harry_mcp.domain.documents import DocumentStatus, SourceDocument
from harry_mcp.domain.search import Band, EmbeddingSpace, SearchFilters, SearchStatus
from harry_mcp.errors import DatabaseUnavailable, ProviderError, ProviderTimeout
from harry_mcp.ports import Vectors
from harry_mcp.providers.local.embedder import SPACE, LocalEmbedder
from harry_mcp.stages.retrieve.query import optimize
from harry_mcp.stages.retrieve.retriever import HybridRetriever
from harry_mcp.storage.database import Database


def document(name: str, text: str, **fields: str) -> SourceDocument:
    return SourceDocument(source=f"test:{name}", title=name, text=text, **({"language": "en"} | fields))


KEYS = document("API keys", "Rotate an API key under Settings; the old key works for an hour.", topic="Security")
BILLS = document("Invoices", "Invoices are sent on the first day of the month.", url="https://docs.example.com/bills")
SCHEMA = document("Client", "Call `getUserName(v3)`; it raises error E1042 when the session has ended.")
CHINESE = document("连接池", "数据库连接池的最大连接数可以在配置文件中设置。", language="zh")
GERMAN = document("Rechnungen", "Die Rechnungen werden am ersten Tag des Monats verschickt.", language="de")
ALL = [KEYS, BILLS, SCHEMA, CHINESE, GERMAN]


@pytest.fixture
async def filled(app: App) -> App:
    await app.ingester.ingest(ALL)
    return app


async def titles(app: App, question: str, filters: SearchFilters | None = None) -> list[str]:
    result = await app.loop.search(question, filters=filters, record=False)
    return [hit.passage.title for hit in result.hits]


@pytest.mark.promise("RET-4")
async def test_both_legs_bring_candidates_and_every_signal_is_known(filled: App) -> None:
    retriever = HybridRetriever(filled.database, filled.embedder, filled.settings)
    found = await retriever.retrieve(optimize("replace the secret token of the API", {}, 400), SearchFilters())
    best = found.candidates[0]
    assert best.document_id == KEYS.id
    assert best.keyword_rank == 1
    assert best.vector_rank == 1
    assert all(item.cosine is not None for item in found.candidates)
    assert [item.rrf for item in found.candidates] == sorted((item.rrf for item in found.candidates), reverse=True)
    assert {"embed", "keyword", "vector"} <= set(found.timings_ms)


@pytest.mark.promise("RET-6")
@pytest.mark.promise("MCP-13")
@pytest.mark.parametrize("status", [DocumentStatus.ARCHIVED, DocumentStatus.REJECTED, DocumentStatus.PENDING])
async def test_only_live_and_flagged_documents_are_found(filled: App, status: DocumentStatus) -> None:
    question = "How do I rotate an API key?"
    assert (await titles(filled, question))[0] == "API keys"
    async with filled.database.transaction() as unit:
        await unit.documents.set_status(KEYS.id, status)
    assert "API keys" not in await titles(filled, question)
    async with filled.database.transaction() as unit:
        await unit.documents.set_status(KEYS.id, DocumentStatus.FLAGGED)
    result = await filled.loop.search(question, record=False)
    assert result.hits[0].passage.title == "API keys"
    assert result.hits[0].caveats == ("This document is flagged for review: it may be out of date or wrong.",)


@pytest.mark.promise("RET-6")
async def test_filters(filled: App) -> None:
    question = "invoices API key Rechnungen getUserName"
    assert await titles(filled, question, SearchFilters(topic="security")) == ["API keys"]
    assert await titles(filled, question, SearchFilters(source="https://docs.example.com/")) == ["Invoices"]
    assert await titles(filled, question, SearchFilters(source="test:Cl")) == ["Client"]
    assert await titles(filled, question, SearchFilters(language="DE")) == ["Rechnungen"]
    now = datetime.now(tz=UTC)
    assert await titles(filled, question, SearchFilters(updated_since=now + timedelta(hours=1))) == []
    assert len(await titles(filled, question, SearchFilters(updated_since=now - timedelta(hours=1)))) >= 4


@pytest.mark.promise("RET-8")
@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("getUserName", "Client"),
        ("what is the user name call", "Client"),
        ("E1042", "Client"),
        ("连接数", "连接池"),
        ("Rechnung", "Rechnungen"),
        ("invoice", "Invoices"),
    ],
)
async def test_identifiers_and_other_languages_are_found(filled: App, question: str, title: str) -> None:
    assert (await titles(filled, question))[0] == title


@pytest.mark.promise("RET-7")
async def test_the_same_question_is_embedded_once() -> None:
    embedder = LocalEmbedder(query_cache=2)
    first, second = await embedder.embed_queries(["how to rotate a key", "how  to rotate\na key"])
    assert (first == second).all()
    # What is kept needs no model, so that even no time at all is enough
    assert (await embedder.embed_queries(["how to rotate a key "], timeout=0) == first).all()
    await embedder.embed_queries(["another", "a third"])
    with pytest.raises(ProviderTimeout):
        await embedder.embed_queries(["how to rotate a key"], timeout=0)
    np.testing.assert_allclose((await embedder.embed_queries(["how to rotate a key"]))[0], first, atol=1e-6)


@pytest.mark.promise("RET-7")
async def test_five_hits_by_default_and_as_many_as_asked(app: App) -> None:
    await app.ingester.ingest(
        document(f"Recipe {number}", f"Bake bread number {number} with {number} grams of {word}.")
        for number, word in enumerate(["rye", "oats", "wheat", "spelt", "corn", "rice", "millet", "barley", "teff"])
    )
    assert len(await titles(app, "bake bread")) == 5
    result = await app.loop.search("bake bread", k=8, record=False)
    assert len(result.hits) == 8


class BrokenEmbedder:
    """An adapter whose model is down."""

    space: EmbeddingSpace = SPACE

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        raise ProviderError("the model is down")

    async def embed_queries(self, texts: Sequence[str], *, timeout: float | None = None) -> Vectors:
        raise ProviderError("the model is down")


@pytest.mark.promise("MCP-3")
async def test_a_model_that_is_down_is_named_and_the_words_still_answer(filled: App) -> None:
    broken = App(filled.settings, filled.profile, filled.database, BrokenEmbedder())
    result = await broken.loop.search("rotate an API key")
    assert result.status is SearchStatus.DEGRADED
    assert result.degraded == ("embedding_failed",)
    assert result.hits[0].passage.title == "API keys"
    assert result.hits[0].candidate.cosine is None


@pytest.mark.promise("MCP-3")
async def test_a_database_that_is_gone_is_an_error_and_not_an_empty_list(filled: App, database: Database) -> None:
    gone = App(filled.settings, filled.profile, database, filled.embedder)
    await database.close()
    with pytest.raises(DatabaseUnavailable, match="cannot be reached"):
        await gone.loop.search("rotate an API key")


@pytest.mark.promise("OPS-3")
async def test_a_database_that_went_and_came_back_answers_the_next_call(
    filled: App, connection: AsyncConnection[Any]
) -> None:
    question = "How do I rotate an API key?"
    await filled.loop.search(question)
    await filled.loop.settled()
    await connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    assert (await filled.loop.search(question)).hits[0].passage.title == "API keys"


@pytest.mark.promise("VER-7")
async def test_a_weak_search_opens_a_gap_and_its_repeats_are_counted(filled: App) -> None:
    results = [
        await filled.loop.search(question, filters=SearchFilters(topic="Security"))
        for question in ("Which wine goes with fish?", "which wine goes with  fish", "WHICH WINE goes with fish ??")
    ]
    assert {result.verdict.band for result in results} == {Band.WEAK}
    assert len({result.gap_id for result in results}) == 1
    await filled.loop.settled()
    async with filled.database.reading() as unit:
        gaps = await unit.gaps.most_asked(10)
        stored = await unit.searches.get(results[0].search_id)
    assert [(gap.id, gap.occurrences, gap.topic) for gap in gaps] == [(results[0].gap_id, 3, "Security")]
    assert stored is not None
    assert stored.question == "Which wine goes with fish?"
    assert stored.verdict["band"] == "weak"
    assert {"cosine", "bm25", "lexical", "fusion", "score", "rrf"} <= set(stored.ranking[0])


@pytest.mark.promise("VER-7")
async def test_a_strong_search_is_stored_and_opens_no_gap(filled: App) -> None:
    result = await filled.loop.search("How do I rotate an API key?")
    assert result.verdict.band is Band.STRONG
    assert result.gap_id == ""
    await filled.loop.settled()
    async with filled.database.reading() as unit:
        assert await unit.gaps.most_asked(10) == []
        assert await unit.searches.get(result.search_id) is not None


@pytest.mark.promise("VER-7")
async def test_what_an_empty_knowledge_base_is_asked_is_a_gap_and_a_wrong_filter_is_none(app: App) -> None:
    empty = await app.loop.search("How do I rotate an API key?")
    assert "holds no searchable document yet" in empty.verdict.reason
    await app.loop.settled()
    async with app.database.reading() as unit:
        assert [(gap.id, gap.occurrences) for gap in await unit.gaps.most_asked(10)] == [(empty.gap_id, 1)]
    await app.ingester.ingest(ALL)
    narrowed = await app.loop.search("How do I rotate an API key?", filters=SearchFilters(topic="nope"))
    assert "filters" in narrowed.verdict.reason
    assert narrowed.gap_id == ""
    assert narrowed.status is SearchStatus.EMPTY
