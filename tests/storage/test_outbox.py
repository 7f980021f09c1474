"""OPS-6: a Qdrant that lags, fails, is lost or is written to by several processes never makes a search wrong."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from psycopg import AsyncConnection
from pydantic import SecretStr

from harry_mcp.app import App
from harry_mcp.domain.documents import DocumentStatus
from harry_mcp.domain.search import SearchFilters, SearchStatus
from harry_mcp.errors import ProviderError, SettingsError, StorageError
from harry_mcp.settings import Settings, VectorsSection, child_environment, load_settings
from harry_mcp.storage.database import Database
from harry_mcp.storage.vector_index import PgvectorIndex
from tests.curate.test_review import ingest
from tests.providers.vendor import Answer, Asked, always
from tests.storage.qdrant_server import QdrantServer, qdrant_server
from tests.storage.recount import rows

pytestmark = pytest.mark.promise("OPS-6")

QUESTION = "How do I rotate an API key?"
_SEARCHABLE = """
SELECT k.name, v.chunk_id FROM chunk_vectors v JOIN vector_collections k USING (space_id) WHERE v.searchable
"""
_TRIGGERS = "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgname LIKE 'tell_%'"


@pytest.fixture
async def server() -> AsyncGenerator[QdrantServer, None]:
    async with qdrant_server() as running:
        yield running


def by_server(settings: Settings, server: QdrantServer, **fields: Any) -> Settings:
    given: dict[str, Any] = {"index": "qdrant", "qdrant_url": server.url, "pause": 0.001, **fields}
    section = VectorsSection.model_validate(given)
    return settings.model_copy(update={"vectors": section})


async def environment(settings: Settings, server: QdrantServer) -> dict[str, str]:
    return child_environment(
        HARRY_DATABASE_URL=settings.database_url.get_secret_value(),
        HARRY_VECTORS__INDEX="qdrant",
        HARRY_VECTORS__QDRANT_URL=server.url,
    )


async def run(*command: str, env: dict[str, str]) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, env=env, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    said, errors = await asyncio.wait_for(process.communicate(), 120)
    return process.returncode or 0, said.decode(), errors.decode()


async def searchable(connection: AsyncConnection[Any]) -> dict[str, set[int]]:
    """What each collection is to hold."""
    found = {row[0]: set[int]() for row in await rows(connection, "SELECT name FROM vector_collections")}
    for name, chunk in await rows(connection, _SEARCHABLE):
        found[name].add(chunk)
    return found


async def pending(connection: AsyncConnection[Any]) -> int:
    return (await rows(connection, "SELECT count(*) FROM vector_outbox"))[0][0]


async def test_with_pgvector_nothing_is_written_and_no_table_has_a_trigger(
    app: App, connection: AsyncConnection[Any]
) -> None:
    (keys, *_) = await ingest(app)
    async with app.database.transaction() as unit:
        await unit.documents.set_status(keys, DocumentStatus.ARCHIVED)
    assert await rows(connection, _TRIGGERS) == []
    assert await pending(connection) == 0
    assert isinstance(app.vectors, PgvectorIndex)


async def test_what_was_there_before_is_told_and_so_is_what_other_processes_write(
    app: App, settings: Settings, server: QdrantServer, connection: AsyncConnection[Any]
) -> None:
    (keys, draft, *_) = await ingest(app)
    async with await App.open(by_server(settings, server)) as second:
        assert second.applier is not None
        await second.applier.settled()
        assert server.points() == await searchable(connection)
        # The first process knows of no Qdrant; what it writes is written down all the same.
        async with app.database.transaction() as unit:
            await unit.documents.set_status(keys, DocumentStatus.ARCHIVED)
            await unit.documents.delete(draft)
        assert await pending(connection) == 2
        result = await second.loop.search(QUESTION, record=False)
        assert result.degraded == ()
        assert keys not in {hit.passage.document_id for hit in result.hits}
        await second.applier.settled()
        assert await pending(connection) == 0
        assert server.points() == await searchable(connection)


async def test_a_process_that_dies_between_commit_and_telling_leaves_nothing_wrong(
    settings: Settings, server: QdrantServer, connection: AsyncConnection[Any]
) -> None:
    env = await environment(settings, server)
    for seed in (1, 2):
        code, _, errors = await run("-m", "tests.storage.qdrant_writer", str(seed), "12", "dies", env=env)
        assert code == 9, errors
    assert await pending(connection) > 0
    assert server.points() != await searchable(connection)
    dice = np.random.default_rng(0)
    async with await App.open(settings) as plain, await App.open(by_server(settings, server)) as app:
        assert app.applier is not None
        server.fault = no_writes
        for _ in range(2):
            for _ in range(5):
                query = dice.normal(size=384).astype(np.float32)
                asked: dict[str, Any] = {"limit": 50, "floor": -1.0, "at_least": 0, "filters": SearchFilters()}
                assert await app.vectors.nearest([query], **asked) == await plain.vectors.nearest([query], **asked)
            server.fault = None
            await app.applier.settled()
            await app.applier.catch_up()
            assert await pending(connection) == 0
            assert server.points() == await searchable(connection)


def no_writes(asked: Asked) -> Answer | None:
    """Searches are answered, and everything else fails."""
    return None if "/query" in asked.path else Answer({"status": {"error": "read only"}}, status=500)


async def test_the_writes_of_several_processes_end_in_what_postgresql_holds(
    settings: Settings, server: QdrantServer, connection: AsyncConnection[Any]
) -> None:
    env = await environment(settings, server)
    number = 0

    def shaky(asked: Asked) -> Answer | None:
        nonlocal number
        number += 1
        return Answer({"status": {"error": "busy"}}, status=503) if "points" in asked.path and number % 7 == 0 else None

    server.fault = shaky
    ended = await asyncio.gather(
        *(run("-m", "tests.storage.qdrant_writer", str(seed), "25", env=env) for seed in range(3))
    )
    assert [(code, said, errors) for code, said, errors in ended] == [(0, "", "")] * 3
    server.fault = None
    async with await App.open(by_server(settings, server)) as app:
        assert app.applier is not None
        await app.applier.settled()
        assert (await app.applier.status()).whole
    assert await pending(connection) == 0
    held = server.points()
    assert held == await searchable(connection)
    assert sum(map(len, held.values())) > 0
    stored = {
        row[0]: json.loads(row[1])
        for row in await rows(connection, "SELECT chunk_id, embedding::text FROM chunk_vectors")
    }
    for name in held:
        for point in server.client.scroll(name, limit=100, with_vectors=True)[0]:
            assert point.vector == pytest.approx(stored[int(point.id)], abs=1e-6)


FAULTS: dict[str, tuple[Callable[[Asked], Answer | None], str]] = {
    "500": (lambda _: Answer({"status": {"error": "no disk"}}, status=500), "vectors_failed"),
    "429": (lambda _: Answer({}, status=429, headers={"retry-after": "60"}), "vectors_failed"),
    "slow": (lambda _: Answer(hangs=True), "vectors_timeout"),
    "hangs up": (lambda _: Answer(closes=True), "vectors_failed"),
    "half": (lambda _: Answer({"result": []}, half=True), "vectors_failed"),
    "endless": (lambda _: Answer(" ", endless=True), "vectors_timeout"),
    "nonsense": (lambda _: Answer("<html>"), "vectors_failed"),
    "empty": (lambda _: Answer({"result": None, "status": "ok", "time": 0.0}), "vectors_failed"),
    "fewer": (lambda _: Answer({"result": [], "status": "ok", "time": 0.0}), "vectors_failed"),
    "refuses the key": (lambda _: Answer({"status": {"error": "key"}}, status=403), "vectors_failed"),
}


@pytest.mark.promise("MCP-3")
@pytest.mark.parametrize("kind", FAULTS)
async def test_a_qdrant_that_fails_leaves_the_keywords_and_is_named_in_time(
    settings: Settings, server: QdrantServer, connection: AsyncConnection[Any], kind: str
) -> None:
    fault, named = FAULTS[kind]
    own = by_server(settings, server, budget=0.5, patience=0.5, retries=0, refused_pause=0.001, failures=1000)
    async with await App.open(own) as app:
        assert app.applier is not None
        (keys, *_) = await ingest(app)
        await app.applier.settled()
        server.fault = fault
        started = time.monotonic()
        result = await app.loop.search(QUESTION, record=False)
        assert time.monotonic() - started < settings.search.deadline
        assert result.status is SearchStatus.DEGRADED
        assert result.degraded == (named,)
        assert result.hits[0].passage.document_id == keys
        assert result.hits[0].candidate.vector_rank == 0
        assert result.hits[0].candidate.cosine is not None
        # Writes go on, into the outbox
        async with app.database.transaction() as unit:
            await unit.documents.set_status(keys, DocumentStatus.ARCHIVED)
        await app.applier.settled()
        assert await pending(connection) == 1
        server.fault = None
        await app.applier.catch_up()
        assert server.points() == await searchable(connection)
        assert (await app.loop.search(QUESTION, record=False)).degraded == ()


@pytest.mark.promise("MCP-3")
async def test_a_qdrant_that_is_not_there_stops_neither_the_start_nor_a_search(
    settings: Settings, unused_tcp_port: int, connection: AsyncConnection[Any]
) -> None:
    section = VectorsSection(index="qdrant", qdrant_url=f"http://127.0.0.1:{unused_tcp_port}", budget=0.5)
    async with await App.open(settings.model_copy(update={"vectors": section})) as app:
        (keys, *_) = await ingest(app)
        result = await app.loop.search(QUESTION, record=False)
        assert result.hits[0].passage.document_id == keys
        # No collection was made yet: what was written is found by way of the outbox, and more may be missing
        assert result.degraded == ("vectors_behind",)
        assert await pending(connection) == 3
        assert app.applier is not None
        with pytest.raises(ProviderError, match="cannot be reached at"):
            await app.applier.status()


async def test_a_lag_beyond_what_a_search_lays_beside_is_named(
    settings: Settings, server: QdrantServer, connection: AsyncConnection[Any]
) -> None:
    async with await App.open(by_server(settings, server, backlog=2)) as app:
        assert app.applier is not None
        await app.applier.settled()
        server.fault = no_writes
        ids = await ingest(app)
        assert (await app.loop.search(QUESTION, record=False)).degraded == ("vectors_behind",)
        async with app.database.transaction() as unit:
            await unit.documents.delete(ids[2])
        server.fault = None
        await app.applier.settled()
        await app.applier.catch_up()
        assert (await app.loop.search(QUESTION, record=False)).degraded == ()


async def test_a_qdrant_that_lost_everything_is_named_and_rebuilt_by_one_command(
    settings: Settings, server: QdrantServer, connection: AsyncConnection[Any]
) -> None:
    env = await environment(settings, server)
    async with await App.open(by_server(settings, server)) as app:
        assert app.applier is not None
        await ingest(app)
        await app.applier.settled()
        assert (await run("-m", "harry_mcp.cli.main", "vectors", "status", env=env))[0] == 0
        for name in server.points():
            server.client.delete_collection(name)
        assert (await app.loop.search(QUESTION, record=False)).degraded == ("vectors_failed",)
        code, said, _ = await run("-m", "harry_mcp.cli.main", "vectors", "status", env=env)
        assert code == 1
        assert "lost; run `harry vectors rebuild`" in said
        code, said, _ = await run("-m", "harry_mcp.cli.main", "doctor", "--json", env=env)
        line = next(check for check in json.loads(said)["checks"] if check["name"] == "index")
        assert (code, line["ok"]) == (1, False)
        code, said, errors = await run("-m", "harry_mcp.cli.main", "vectors", "rebuild", "--json", env=env)
        assert (code, json.loads(said), errors) == (0, {"told": 3}, "")
        assert server.points() == await searchable(connection)
        result = await app.loop.search(QUESTION, record=False)
        assert result.degraded == ()
        assert result.hits[0].candidate.vector_rank == 1
        code, said, _ = await run("-m", "harry_mcp.cli.main", "vectors", "status", "--json", env=env)
        assert (code, json.loads(said)["whole"]) == (0, True)


async def test_giving_qdrant_up_leaves_nothing_behind(
    settings: Settings, server: QdrantServer, connection: AsyncConnection[Any]
) -> None:
    env = await environment(settings, server)
    async with await App.open(by_server(settings, server)) as app:
        (keys, *_) = await ingest(app)
    plain = child_environment(HARRY_DATABASE_URL=settings.database_url.get_secret_value())
    code, said, _ = await run("-m", "harry_mcp.cli.main", "doctor", "--json", env=plain)
    line = next(check for check in json.loads(said)["checks"] if check["name"] == "index")
    assert (code, line["ok"]) == (1, False)
    assert "harry vectors off" in line["finding"]
    code, _, errors = await run("-m", "harry_mcp.cli.main", "vectors", "off", env=env)
    assert (code, "--yes" in errors) == (2, True)
    code, said, errors = await run("-m", "harry_mcp.cli.main", "vectors", "off", "--yes", "--json", env=env)
    assert (code, json.loads(said), errors) == (0, {"dropped": 1}, "")
    assert server.points() == {}
    assert await rows(connection, _TRIGGERS) == []
    async with await App.open(settings) as app, app.database.transaction() as unit:
        await unit.documents.set_status(keys, DocumentStatus.ARCHIVED)
    assert await pending(connection) == 0
    code, said, _ = await run("-m", "harry_mcp.cli.main", "vectors", "off", "--yes", env=plain)
    assert code == 2
    code, said, _ = await run("-m", "harry_mcp.cli.main", "vectors", "status", "--json", env=plain)
    assert (code, json.loads(said)) == (0, {"index": "pgvector"})


async def test_only_one_process_tells_at_a_time(
    settings: Settings, server: QdrantServer, database: Database, connection: AsyncConnection[Any]
) -> None:
    async with await App.open(by_server(settings, server)) as app:
        assert app.applier is not None
        await app.applier.settled()
        async with database.session() as other:
            assert await other.outbox.claim()
            await ingest(app)
            await app.applier.settled()
            assert await pending(connection) == 3
            with pytest.raises(StorageError, match="Another process is bringing the vector index up to date"):
                await app.applier.rebuild()
            assert (await app.loop.search(QUESTION, record=False)).degraded == ()
        # The other one died with its connection; whoever comes next goes on
        assert await app.applier.catch_up() == 3
        assert server.points() == await searchable(connection)


async def test_the_local_mode_is_for_one_process(settings: Settings, tmp_path: Path) -> None:
    section = VectorsSection(index="qdrant", qdrant_path=tmp_path / "q")
    own = settings.model_copy(update={"vectors": section})
    env = child_environment(
        HARRY_DATABASE_URL=settings.database_url.get_secret_value(),
        HARRY_VECTORS__INDEX="qdrant",
        HARRY_VECTORS__QDRANT_PATH=str(tmp_path / "q"),
    )
    async with await App.open(own) as app:
        await ingest(app)
        code, said, errors = await run("-m", "harry_mcp.cli.main", "search", QUESTION, env=env)
    assert (code, said) == (4, "")
    assert "open, and Qdrant's local mode is for one. Stop it, or run a Qdrant server" in errors
    async with await App.open(own) as app:
        result = await app.loop.search(QUESTION, record=False)
        assert result.degraded == ()
        assert result.hits[0].candidate.vector_rank == 1


async def test_a_missing_client_is_told_in_a_sentence(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "qdrant_client", None)
    section = VectorsSection(index="qdrant", qdrant_url="http://127.0.0.1:1")
    with pytest.raises(ProviderError, match=r"Install harry-mcp\[qdrant\], or take pgvector"):
        await App.open(settings.model_copy(update={"vectors": section}))


async def test_the_key_is_sent_and_never_shown(
    settings: Settings, server: QdrantServer, caplog: pytest.LogCaptureFixture
) -> None:
    key = "qdrant-secret-key-1234567890"
    async with await App.open(by_server(settings, server, qdrant_api_key=SecretStr(key))) as app:
        assert app.applier is not None
        await app.applier.settled()
        assert {asked.headers["api-key"] for asked in server.vendor.asked} == {key}
        server.fault = always_echo
        with pytest.raises(ProviderError) as caught:
            await app.applier.status()
    assert key not in str(caught.value)
    assert key not in caplog.text
    assert key not in repr(app.settings)


def always_echo(asked: Asked) -> Answer:
    """A server that repeats what it was sent."""
    return always(Answer({"status": {"error": asked.headers["api-key"]}}, status=400))(asked, 0)


async def test_a_copy_of_a_database_leaves_the_collections_of_the_other_alone(
    settings: Settings, server: QdrantServer, connection: AsyncConnection[Any]
) -> None:
    async with await App.open(by_server(settings, server)) as app:
        await ingest(app)
    (theirs,) = server.points()
    async with await App.open(by_server(settings, server, collection_prefix="copy")) as copy:
        assert copy.applier is not None
        await copy.applier.rebuild()
        assert (await copy.loop.search(QUESTION, record=False)).degraded == ()
        assert len(server.points()) == 2
        assert len(server.points()[theirs]) == 3
        assert await copy.applier.give_up() == 1
    assert list(server.points()) == [theirs]


@pytest.mark.parametrize(
    "given", [{}, {"HARRY_VECTORS__QDRANT_URL": "http://q:6333", "HARRY_VECTORS__QDRANT_PATH": "/tmp/q"}]
)
def test_qdrant_needs_one_place(given: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="Set either HARRY_VECTORS__QDRANT_URL, or HARRY_VECTORS__QDRANT_PATH"):
        load_settings({"HARRY_VECTORS__INDEX": "qdrant", **given})
