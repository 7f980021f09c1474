"""OPS-6: one contract for the two indexes of vectors, PostgreSQL's own and a Qdrant beside it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from psycopg import AsyncConnection
from pydantic import SecretStr

from harry_mcp.app import App
from harry_mcp.domain.curation import ReviewAction
from harry_mcp.domain.documents import Chunk, ContextualChunk, DocumentStatus, SourceDocument
from harry_mcp.domain.search import Scored, SearchFilters
from harry_mcp.ingest.reembedding import drop_idle, reembed
from harry_mcp.ports import VectorIndex
from harry_mcp.profile import DomainProfile
from harry_mcp.providers.local.embedder import SPACE, LocalEmbedder
from harry_mcp.settings import Settings, VectorsSection
from harry_mcp.storage.database import Database
from tests.curate.test_review import CURATOR, TEXTS, ingest
from tests.ingest.second_model import SECOND, SecondModel
from tests.storage.recount import rows
from tests.storage.test_vectors import FILTERS, Vector, at, made

pytestmark = pytest.mark.promise("OPS-6")

ASKED = np.eye(1, SPACE.dimension, dtype=np.float32)[0]
Settle = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class World:
    """A knowledge base and the index over it. ``settle`` waits for the index to know all that was written."""

    app: App
    settle: Settle

    @property
    def database(self) -> Database:
        return self.app.database

    async def nearest(
        self,
        query: Vector = ASKED,
        *,
        limit: int = 50,
        filters: SearchFilters | None = None,
        index: VectorIndex | None = None,
    ) -> list[Scored]:
        found = await (index or self.app.vectors).nearest(
            [query], limit=limit, floor=-1.0, at_least=0, filters=filters or SearchFilters(), timeout=20.0
        )
        assert found.degraded == ()
        return list(found.legs[0])

    async def titles(self, filters: SearchFilters | None = None) -> list[str]:
        found = await self.nearest(filters=filters)
        async with self.database.reading() as unit:
            passages = await unit.documents.passages([row.chunk_id for row in found])
        return [passages[row.chunk_id].title for row in found]

    async def set_status(self, document: SourceDocument, status: DocumentStatus) -> None:
        async with self.database.transaction() as unit:
            await unit.documents.set_status(document.id, status)


def with_qdrant(settings: Settings, folder: Path, **fields: Any) -> Settings:
    section = VectorsSection(index="qdrant", qdrant_path=folder / "qdrant", **fields)
    return settings.model_copy(update={"vectors": section})


@asynccontextmanager
async def opened(settings: Settings) -> AsyncGenerator[World, None]:
    async with await App.open(settings) as app:

        async def settle() -> None:
            if app.applier is not None:
                await app.applier.settled()
                assert (await app.applier.status()).backlog.changes == 0

        yield World(app, settle)


@pytest.fixture(params=["pgvector", "qdrant"])
async def world(request: pytest.FixtureRequest, settings: Settings, tmp_path: Path) -> AsyncGenerator[World, None]:
    # Exact in both: pgvector's graph finds most of what is near, and not all.
    url = f"{settings.database_url.get_secret_value()} options='-c enable_indexscan=off'"
    exact = settings.model_copy(update={"database_url": SecretStr(url)})
    async with opened(exact if request.param == "pgvector" else with_qdrant(exact, tmp_path)) as found:
        yield found


async def save(
    world: World, document: SourceDocument, vectors: Sequence[Vector], status: DocumentStatus = DocumentStatus.LIVE
) -> None:
    chunks = [
        ContextualChunk(
            chunk=Chunk(ordinal=i, text=document.text), contextual_text=f"{document.text} {document.source} {i}"
        )
        for i in range(len(vectors))
    ]
    async with world.database.writing() as unit:
        await unit.documents.save(document, chunks, vectors, recipe="test", status=status)


async def expected(world: World, query: Vector, kept: range, vectors: Vector) -> list[Scored]:
    """What an exact search finds, counted in double precision; chunks are numbered as they were written."""
    async with world.database.reading() as unit:
        first = min(row.chunk_id for row in await unit.vectors.nearest(query, limit=2000, floor=-2.0))
    cosines = vectors.astype(np.float64) @ query.astype(np.float64)
    scored = [Scored(first + i, float(cosine)) for i, cosine in enumerate(cosines) if i in kept]
    return sorted(scored, key=lambda row: (-row.score, row.chunk_id))


async def test_a_thousand_documents_come_in_the_same_order_with_the_same_scores(world: World) -> None:
    dice = np.random.default_rng(7)
    vectors = (
        dice.normal(size=(1000, SPACE.dimension))
        + 3 * dice.normal(size=(20, SPACE.dimension))[dice.integers(0, 20, 1000)]
    )
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    vectors[500] = vectors[3]  # a tie, which the number of the chunk breaks
    topics = ["rare" if i % 50 == 0 else "common" for i in range(1000)]
    for i, vector in enumerate(vectors):
        await save(world, made(f"{i:04}", topic=topics[i]), [vector])
    await world.settle()
    for query in (vectors[3], *(vectors[i] + 0.01 * vectors[i + 1] for i in range(5, 900, 97))):
        unit = (query / np.linalg.norm(query)).astype(np.float32)
        for filters, kept in (
            (SearchFilters(), range(1000)),
            (SearchFilters(topic="Rare"), range(0, 1000, 50)),
            (SearchFilters(source="test:01"), range(100, 200)),
        ):
            wanted = (await expected(world, unit, kept, vectors))[:50]
            found = await world.nearest(unit, filters=filters)
            assert [row.chunk_id for row in found] == [row.chunk_id for row in wanted]
            assert [row.score for row in found] == pytest.approx([row.score for row in wanted], abs=1e-6)


async def test_the_floor_leaves_out_what_is_far_but_for_the_nearest_few(world: World) -> None:
    cosines = [0.9, 0.451, 0.449, 0.3, 0.1, -0.2]
    await save(world, made("a"), [at(cosine) for cosine in cosines])
    await world.settle()

    async def scores(floor: float, at_least: int, limit: int = 50) -> list[float]:
        found = await world.app.vectors.nearest(
            [ASKED, ASKED], limit=limit, floor=floor, at_least=at_least, filters=SearchFilters()
        )
        assert found.legs[0] == found.legs[1]
        return [round(row.score, 3) for row in found.legs[0]]

    assert await scores(0.45, 0) == cosines[:2]
    assert await scores(0.45, 4) == cosines[:4]
    assert await scores(0.95, 0) == []
    assert await scores(-1.0, 0, limit=3) == cosines[:3]


@pytest.mark.parametrize("told", [True, False], ids=["told", "not told yet"])
async def test_every_filter_narrows(world: World, connection: AsyncConnection[Any], told: bool) -> None:
    documents = [
        made("bills", topic="Billing", url="https://docs.example.com/bills"),
        made("keys", topic="Security", url="https://docs.example.com/keys"),
        made("rechnung", topic="billing", language="de", url="https://docs.example.org/rechnung"),
        made("old", topic="Security"),
    ]
    for document in documents:
        await save(world, document, [at(0.9), at(0.8)])
    await world.settle()
    # Somebody changes what filters read, and nothing else
    await connection.execute("UPDATE documents SET updated_at = now() - interval '40 days' WHERE title = 'old'")
    if told and world.app.applier is not None:
        assert await world.app.applier.catch_up() == 2
    for filters, wanted in FILTERS:
        found = await world.titles(filters)
        assert sorted(found) == sorted(2 * list(wanted)), filters


async def test_a_filter_that_few_pass_is_looked_for_further_away(world: World) -> None:
    dice = np.random.default_rng(1)
    near = [at(0.99 - 0.0001 * i) for i in range(300)]
    await save(world, made("near", url="https://docs.example.com/near"), near)
    await save(world, made("far", url="https://docs.example.com/far"), [at(float(c)) for c in dice.uniform(0, 0.5, 7)])
    await world.settle()
    # Both share all of their folders, so that the address alone tells them apart
    found = await world.titles(SearchFilters(source="https://docs.example.com/f"))
    assert found == ["far"] * 7


async def test_only_what_is_searchable_is_found(world: World) -> None:
    live, draft, gone = made("live"), made("draft"), made("gone")
    await save(world, live, [at(0.9)])
    await save(world, draft, [at(0.8)], DocumentStatus.PENDING)
    await save(world, gone, [at(0.7)])
    await world.settle()
    assert await world.titles() == ["live", "gone"]
    await world.set_status(draft, DocumentStatus.LIVE)
    await world.set_status(gone, DocumentStatus.ARCHIVED)
    assert await world.titles() == ["live", "draft"], "at once, whatever the index knows"
    await world.settle()
    assert await world.titles() == ["live", "draft"]
    await world.set_status(gone, DocumentStatus.FLAGGED)
    await world.set_status(live, DocumentStatus.REJECTED)
    assert await world.titles() == ["draft", "gone"]
    await world.settle()
    assert await world.titles() == ["draft", "gone"]
    async with world.database.transaction() as unit:
        await unit.documents.delete(gone.id)
    assert await world.titles() == ["draft"]
    await world.settle()
    assert await world.titles() == ["draft"]


async def test_a_transaction_that_is_undone_changes_nothing(world: World) -> None:
    await save(world, made("kept"), [at(0.9)])
    await world.settle()
    async with world.database.rehearsal() as rehearsal, rehearsal.transaction() as unit:
        await unit.documents.delete(made("kept").id)
    await world.settle()
    assert await world.titles() == ["kept"]


async def test_a_rewrite_and_its_undoing(world: World, embedder: LocalEmbedder) -> None:
    (keys, *_) = await ingest(world.app)
    await world.settle()
    (query,) = await embedder.embed_queries(["How do I rotate an API key?"])
    before = await world.nearest(query)
    outcome = await world.app.loop.review.act(ReviewAction.REWRITE, [keys], CURATOR, text="Ask the zebra desk.")
    for _ in range(2):
        found = await world.nearest(query)
        assert {row.chunk_id for row in found} != {row.chunk_id for row in before}
        assert len(found) == len(before)
        await world.settle()
    await world.app.loop.review.rollback(outcome.action_id, CURATOR)
    for _ in range(2):
        assert await world.nearest(query) == before
        await world.settle()
    result = await world.app.loop.search("How do I rotate an API key?", record=False)
    assert result.degraded == ()
    assert result.hits[0].text == TEXTS["Keys"]
    assert result.hits[0].candidate.vector_rank == 1


async def test_another_embedding_model_and_back(
    settings: Settings, world: World, embedder: LocalEmbedder, connection: AsyncConnection[Any]
) -> None:
    await ingest(world.app)
    await world.settle()
    (query,) = await embedder.embed_queries(["How do I rotate an API key?"])
    before = await world.nearest(query)
    model = SecondModel(embedder)
    await reembed(world.database, model)
    await world.settle()
    moved = await Database.open(settings, SECOND)
    other = App(world.app.settings.model_copy(update={"vectors": VectorsSection()}), DomainProfile(), moved, model)
    try:
        (second,) = await model.embed_queries(["How do I rotate an API key?"])
        plain = await world.nearest(second, index=other.vectors)
        index = world.app.vectors_of(moved)
        found = await world.nearest(second, index=index)
        assert found == plain
        assert found[0].score != before[0].score
        await other.loop.review.act(ReviewAction.ARCHIVE, [(await ids(connection))[found[0].chunk_id]], CURATOR)
        assert await world.nearest(second, index=index) == plain[1:]
        await world.settle()
        assert await world.nearest(second, index=index) == plain[1:]
        assert await world.nearest(query) == before[1:], "the old model knows it too"
        await reembed(moved, embedder)
        await world.settle()
        assert await world.nearest(query) == before[1:]
        await drop_idle(moved)
        if world.app.applier is not None:
            await world.app.applier.catch_up()
        assert await world.nearest(query) == before[1:]
    finally:
        await moved.close()
    if world.app.applier is not None:
        status = await world.app.applier.status()
        assert status.whole
        assert len(status.collections) == 1, "that of the model that was dropped went with it"


async def ids(connection: AsyncConnection[Any]) -> dict[int, str]:
    return {row[0]: row[1] for row in await rows(connection, "SELECT id, document_id FROM chunks")}


async def test_a_filter_by_time_is_exact_to_the_microsecond(world: World, connection: AsyncConnection[Any]) -> None:
    moment = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
    await save(world, made("a"), [at(0.9)])
    await connection.execute("UPDATE documents SET updated_at = %s", [moment])
    if world.app.applier is not None:
        await world.app.applier.catch_up()
    assert await world.titles(SearchFilters(updated_since=moment)) == ["a"]
    assert await world.titles(SearchFilters(updated_since=moment + timedelta(microseconds=1))) == []
