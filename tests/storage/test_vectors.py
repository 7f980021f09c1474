"""ING-6 and RET-4: vectors in pgvector, their space, the floor, the filters and the HNSW index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from psycopg import AsyncConnection

from harry_mcp.domain.documents import Chunk, ContextualChunk, DocumentStatus, SourceDocument
from harry_mcp.domain.search import EmbeddingSpace, SearchFilters
from harry_mcp.errors import SpaceMismatch, StorageError
from harry_mcp.ingest.ingester import Ingester
from harry_mcp.providers.local.embedder import SPACE, LocalEmbedder
from harry_mcp.settings import Settings
from harry_mcp.storage import queries
from harry_mcp.storage.database import Database
from harry_mcp.storage.scratch import scratch_database
from tests.storage.recount import both_legs, rows

Vector = npt.NDArray[np.float32]
AXES = np.eye(SPACE.dimension, dtype=np.float32)
ASKED = AXES[0]


def at(cosine: float) -> Vector:
    """A unit vector of that cosine to the query."""
    return (cosine * AXES[0] + np.sqrt(1 - cosine**2) * AXES[1]).astype(np.float32)


async def save(database: Database, document: SourceDocument, vectors: Sequence[Vector]) -> None:
    chunks = [
        ContextualChunk(
            chunk=Chunk(ordinal=i, text=document.text), contextual_text=f"{document.text} {document.source} {i}"
        )
        for i in range(len(vectors))
    ]
    async with database.transaction() as unit:
        await unit.documents.save(document, chunks, vectors, recipe="test", status=DocumentStatus.LIVE)


def made(name: str, **fields: str) -> SourceDocument:
    return replace(SourceDocument(source=f"test:{name}", title=name, text="one word", language="en"), **fields)  # pyright: ignore[reportArgumentType] - pyright takes every field for any


# The space (ING-6)


@pytest.mark.promise("ING-6")
async def test_stored_vectors_have_unit_length_and_their_space_is_recorded(
    database: Database, embedder: LocalEmbedder, settings: Settings, connection: AsyncConnection[Any]
) -> None:
    texts = ["Rotate the API key.", "x", "Ключ, clé, 钥匙", "word " * 3000, "12 + 30 = 42 \U0001f511"]
    documents = [
        SourceDocument(source=f"test:{number}", title=f"Page {number}", text=text) for number, text in enumerate(texts)
    ]
    await Ingester(database, embedder, settings.ingest).ingest(documents)
    lengths = await rows(
        connection, "SELECT vector_norm(embedding), vector_dims(embedding), space_id FROM chunk_vectors"
    )
    assert len(lengths) >= len(texts)
    assert all(row[0] == pytest.approx(1.0, abs=1e-5) and row[1:] == (384, 1) for row in lengths)
    assert await rows(connection, "SELECT id, provider, model, dimension, version, active FROM embedding_spaces") == [
        (1, SPACE.provider, SPACE.model, SPACE.dimension, SPACE.version, True)
    ]
    assert database.space == SPACE == embedder.space


@pytest.mark.promise("ING-6")
async def test_questions_and_passages_live_in_one_space(
    database: Database, embedder: LocalEmbedder, settings: Settings, connection: AsyncConnection[Any]
) -> None:
    text = "Rotate the API key under Settings."
    await Ingester(database, embedder, settings.ingest).ingest(
        [SourceDocument(source="test:a", title="", text=text, language="en")]
    )
    stored = await rows(connection, "SELECT contextual_content FROM chunks")
    (query,) = await embedder.embed_queries([stored[0][0]])
    async with database.reading() as unit:
        found = await unit.vectors.nearest(query, limit=5, floor=0.0)
    assert [row.score for row in found] == [pytest.approx(1.0, abs=1e-4)]


@pytest.mark.promise("ING-6")
@pytest.mark.parametrize(
    "other",
    [
        EmbeddingSpace(provider="voyage", model="voyage-3.5", dimension=1024, version="1"),
        replace(SPACE, version="2"),
        replace(SPACE, dimension=256),
    ],
    ids=["model", "version", "dimension"],
)
async def test_a_second_space_is_refused_with_what_to_do_and_changes_nothing(
    database: Database, settings: Settings, connection: AsyncConnection[Any], other: EmbeddingSpace
) -> None:
    await save(database, made("a"), [ASKED])
    with pytest.raises(SpaceMismatch) as caught:
        await Database.open(settings, other)
    assert str(caught.value) == (
        f"The knowledge base was embedded with {SPACE}, but this process embeds with {other}. Run `harry reembed` to "
        "move it to the new model while the old one serves, or start with the settings of the old one."
    )
    assert await rows(connection, "SELECT count(*) FROM embedding_spaces") == [(1,)]
    again = await Database.open(settings, SPACE)
    async with again.reading() as unit:
        assert len(await unit.vectors.nearest(ASKED, limit=5, floor=0.0)) == 1
    await again.close()


@pytest.mark.promise("ING-6")
async def test_another_dimension_has_its_own_index_in_its_own_database(settings: Settings) -> None:
    wide = EmbeddingSpace(provider="voyage", model="voyage-3.5", dimension=1024, version="1")
    async with scratch_database(settings) as own:
        database = await Database.open(own, wide)
        await save(database, made("a"), [np.eye(1, 1024, dtype=np.float32)[0]])
        async with database.reading() as unit:
            assert len(await unit.vectors.nearest(np.eye(1, 1024, dtype=np.float32)[0], limit=5, floor=0.9)) == 1
        with pytest.raises(StorageError, match="dimensions"):
            await save(database, made("b"), [ASKED])
        await database.close()


@pytest.mark.promise("ING-6")
async def test_a_space_too_wide_for_the_index_is_refused(settings: Settings) -> None:
    async with scratch_database(settings) as own:
        with pytest.raises(StorageError, match="over the 2000 dimensions"):
            await Database.open(own, replace(SPACE, dimension=3072))


# The vector leg (RET-4)


@pytest.mark.promise("RET-4")
async def test_the_floor_leaves_out_what_is_far_but_for_the_nearest_few(database: Database) -> None:
    cosines = [0.9, 0.451, 0.449, 0.3, 0.1, -0.2]
    await save(database, made("a"), [at(cosine) for cosine in cosines])

    async def scores(floor: float, at_least: int, limit: int = 50) -> list[float]:
        async with database.reading() as unit:
            found = await unit.vectors.nearest(ASKED, limit=limit, floor=floor, at_least=at_least)
        return [round(row.score, 3) for row in found]

    assert await scores(0.45, 0) == cosines[:2]
    assert await scores(0.45, 1) == cosines[:2]
    assert await scores(0.45, 4) == cosines[:4]
    assert await scores(0.45, 100) == cosines
    assert await scores(0.95, 0) == []
    assert await scores(-1.0, 0) == cosines
    assert await scores(-1.0, 0, limit=3) == cosines[:3]


NOW = datetime.now(UTC)
FILTERS: list[tuple[SearchFilters, set[str]]] = [
    (SearchFilters(topic="billing"), {"bills", "rechnung"}),
    (SearchFilters(topic="BILLING"), {"bills", "rechnung"}),
    (SearchFilters(topic="none"), set()),
    (SearchFilters(source="https://docs.example.com/"), {"bills", "keys"}),
    (SearchFilters(source="https://docs.example.com/k"), {"keys"}),
    (SearchFilters(source="test:"), {"bills", "keys", "rechnung", "old"}),
    (SearchFilters(source="test:k"), {"keys"}),
    (SearchFilters(source="est:"), set()),
    (SearchFilters(source="test:%"), set()),
    (SearchFilters(language="de"), {"rechnung"}),
    (SearchFilters(language="DE"), {"rechnung"}),
    (SearchFilters(updated_since=NOW - timedelta(days=1)), {"bills", "keys", "rechnung"}),
    (SearchFilters(updated_since=NOW + timedelta(days=1)), set()),
    (SearchFilters(topic="billing", language="en"), {"bills"}),
    (SearchFilters(topic="'; DROP TABLE documents; --"), set()),
]


@pytest.mark.promise("RET-6")
@pytest.mark.promise("RET-4")
async def test_every_filter_narrows_both_legs_alike(database: Database, connection: AsyncConnection[Any]) -> None:
    documents = [
        made("bills", topic="Billing", url="https://docs.example.com/bills"),
        made("keys", topic="Security", url="https://docs.example.com/keys"),
        made("rechnung", topic="billing", language="de", url="https://docs.example.org/rechnung"),
        made("old", topic="Security"),
    ]
    for document in documents:
        await save(database, document, [at(0.9), at(0.8)])
    await connection.execute("UPDATE documents SET updated_at = now() - interval '40 days' WHERE title = 'old'")
    for filters, expected in FILTERS:
        for leg in await both_legs(database, "word", filters):
            assert {item.title for item in leg} == expected, filters
            assert len(leg) == 2 * len(expected)


async def _many(database: Database, count: int) -> Vector:
    """Passages in clusters, as real ones are, every fiftieth of them under a rare topic."""
    dice = np.random.default_rng(7)
    centres = dice.normal(size=(60, SPACE.dimension))
    vectors = centres[dice.integers(0, 60, count)] + 0.6 * dice.normal(size=(count, SPACE.dimension))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    rare = np.arange(count) % 50 == 0
    await save(database, made("rare", topic="rare"), list(vectors[rare]))
    await save(database, made("common", topic="common"), list(vectors[~rare]))
    await database.vacuum()
    return vectors


@pytest.mark.promise("RET-4")
async def test_a_large_table_is_searched_by_its_hnsw_index(
    database: Database, connection: AsyncConnection[Any], settings: Settings
) -> None:
    vectors = await _many(database, 3000)
    text = "[" + ",".join(str(value) for value in vectors[7]) + "]"
    sql = queries.load("vectors")
    for name in ("nearest", "nearest_filtered"):
        statement = sql[name].numbered(space=1, dimension=384).text
        values = {"query": text, "limit": 50, "topic": "rare", "source": "", "language": "", "since": None}
        await connection.execute("SET enable_seqscan = off")
        await connection.execute("SET enable_sort = off")
        plan = await (await connection.execute("EXPLAIN " + statement, values)).fetchall()  # pyright: ignore[reportArgumentType] - a statement of the package
        assert "chunk_vectors_1_hnsw" in "\n".join(str(row[0]) for row in plan), name

    # And its answers are those of the exact search, best first, also where a filter leaves few
    await connection.execute("RESET ALL")
    await connection.execute("SET search_path = harry, public")
    await connection.execute("SET enable_indexscan = off")
    right = total = 0
    for query in vectors[3::331]:
        for filters in (None, SearchFilters(topic="rare")):
            async with database.reading() as unit:
                found = await unit.vectors.nearest(query, limit=20, floor=-1.0, filters=filters)
            assert len(found) == 20
            scores = [row.score for row in found]
            assert scores == sorted(scores, reverse=True)
            exact = await connection.execute(
                "SELECT v.chunk_id FROM chunk_vectors v JOIN chunks c ON c.id = v.chunk_id "
                "JOIN documents d ON d.id = c.document_id WHERE %s::text IS NULL OR d.topic = %s "
                "ORDER BY v.embedding <=> %s::vector LIMIT 20",
                (filters and filters.topic, filters and filters.topic, str(query.tolist())),
            )
            right += len({row[0] for row in await exact.fetchall()} & {row.chunk_id for row in found})
            total += 20
    assert right / total > 0.95


@pytest.mark.promise("RET-4")
async def test_the_nearest_come_best_first_also_from_a_relaxed_scan(settings: Settings, database: Database) -> None:
    vectors = await _many(database, 3000)
    url = settings.database_url.get_secret_value()
    forced = settings.model_copy(
        update={
            "database_url": type(settings.database_url)(f"{url} options='-c enable_seqscan=off -c enable_sort=off'")
        }
    )
    by_index = await Database.open(forced, SPACE)
    for query in vectors[5::173]:
        async with by_index.reading() as unit:
            found = await unit.vectors.nearest(query, limit=50, floor=-1.0, filters=SearchFilters(topic="rare"))
        scores = [row.score for row in found]
        assert len(found) == 50
        assert scores == sorted(scores, reverse=True)
    await by_index.close()
