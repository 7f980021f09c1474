"""ING-6: a process of the old model knows that it is one, and the vectors of models out of service can be dropped."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import AsyncConnection

from harry_mcp.app import App
from harry_mcp.domain.documents import SourceDocument
from harry_mcp.domain.search import OptimizedQuery, Retrieval, SearchFilters
from harry_mcp.errors import StorageError
from harry_mcp.ingest.ingester import Ingester
from harry_mcp.ingest.reembedding import drop_idle, reembed
from harry_mcp.ports import Embedder
from harry_mcp.profile import DomainProfile
from harry_mcp.providers.local.embedder import SPACE, LocalEmbedder
from harry_mcp.settings import Settings
from harry_mcp.stages.retrieve.retriever import HybridRetriever
from harry_mcp.storage.database import Database
from tests.ingest.second_model import SECOND, SecondModel
from tests.storage.recount import assert_index_is_exact, rows

pytestmark = pytest.mark.promise("ING-6")

PAGES = {
    "keys": "Open Settings, choose API keys and press Rotate. The old key works for one more hour.",
    "invoices": "Invoices are sent on the first day of the month to the billing address of the account.",
}
_PARTITIONS = "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'harry.chunk_vectors'::regclass"


def page(name: str, text: str = "") -> SourceDocument:
    return SourceDocument(source=f"test:{name}", title=name.title(), text=text or PAGES[name], language="en")


@pytest.fixture
async def filled(settings: Settings, database: Database, embedder: LocalEmbedder) -> Database:
    await Ingester(database, embedder, settings.ingest).ingest([page(name) for name in PAGES])
    return database


class Asking:
    """A process that searches, with what it remembers from one question to the next."""

    def __init__(self, database: Database, embedder: Embedder, settings: Settings) -> None:
        self._retriever = HybridRetriever(database, embedder, settings)

    async def ask(self, words: str = "rotate the API key") -> Retrieval:
        query = OptimizedQuery(question=words, text=words, keywords=words)
        return await self._retriever.retrieve(query, SearchFilters())


async def test_a_process_of_the_old_model_says_so_and_keeps_answering(
    settings: Settings, filled: Database, embedder: LocalEmbedder
) -> None:
    old = Asking(filled, embedder, settings)
    before = await old.ask()
    assert not before.statistics.space_changed
    assert before.statistics.degraded == ()
    await reembed(filled, SecondModel(embedder))
    after = await old.ask()
    assert after.statistics.space_changed
    assert after.statistics.degraded == ("embedding_space_changed",)
    # Both legs go on: keywords, and the vectors that the old model still has
    assert [item.cosine for item in after.candidates] == [item.cosine for item in before.candidates]
    assert (await old.ask("words of nobody qwxyz")).statistics.space_changed
    moved = await Database.open(settings, SECOND)
    new = Asking(moved, SecondModel(embedder), settings)
    assert not (await new.ask()).statistics.space_changed
    await reembed(filled, embedder)
    assert not (await old.ask()).statistics.space_changed
    assert (await new.ask()).statistics.space_changed
    await moved.close()


@pytest.mark.promise("OPS-3")
async def test_the_result_of_a_search_names_it(settings: Settings, filled: Database, embedder: LocalEmbedder) -> None:
    app = App(settings, DomainProfile(), filled, embedder)
    assert (await app.loop.search("How do I rotate the API key?", record=False)).degraded == ()
    await reembed(filled, SecondModel(embedder))
    result = await app.loop.search("How do I rotate the API key?", record=False)
    assert result.degraded == ("embedding_space_changed",)
    assert result.status == "degraded"
    assert result.hits[0].passage.title == "Keys"


async def test_idle_vectors_are_dropped_and_nothing_else(
    settings: Settings, filled: Database, embedder: LocalEmbedder, connection: AsyncConnection[Any]
) -> None:
    assert await drop_idle(filled) == []
    old = Asking(filled, embedder, settings)
    await old.ask()
    await reembed(filled, SecondModel(embedder))
    async with filled.reading() as unit:
        (idle,) = await unit.spaces.idle()
    assert (idle.space, idle.vectors) == (SPACE, 2)
    assert idle.bytes > 0
    assert await drop_idle(filled) == [idle]
    assert len(await rows(connection, _PARTITIONS)) == 1
    assert await rows(connection, "SELECT version FROM embedding_spaces") == [(SECOND.version,)]
    await assert_index_is_exact(connection)
    # A process of the dropped model answers by keywords, and says what it lacks
    left = await old.ask()
    assert left.statistics.space_changed
    assert [item.vector_rank for item in left.candidates] == [0]
    assert left.candidates[0].keyword_rank == 1
    # And the way back is open: the old model embeds anew
    back = await reembed(filled, embedder)
    assert (back.embedded, back.switched) == (2, True)
    assert {state.space for state in await _idle(filled)} == {SECOND}


async def test_a_space_that_is_being_filled_is_left_alone(
    filled: Database, embedder: LocalEmbedder, connection: AsyncConnection[Any]
) -> None:
    dropped: list[int] = []

    async def drop() -> None:
        dropped.append(len(await drop_idle(filled)))

    outcome = await reembed(filled, SecondModel(embedder, drop))
    assert (outcome.switched, dropped) == (True, [0])
    assert [space.space for space in await drop_idle(filled)] == [SPACE]


async def test_dropping_gives_up_while_others_hold_the_vectors(
    filled: Database, embedder: LocalEmbedder, connection: AsyncConnection[Any]
) -> None:
    await reembed(filled, SecondModel(embedder))
    async with connection.transaction():
        await connection.execute("LOCK TABLE chunk_vectors IN ACCESS SHARE MODE")
        with pytest.raises(StorageError, match="Nothing was changed; try again in a moment"):
            await drop_idle(filled)
    assert [space.space for space in await _idle(filled)] == [SPACE]
    assert len(await drop_idle(filled)) == 1


async def _idle(database: Database) -> list[Any]:
    async with database.reading() as unit:
        return list(await unit.spaces.idle())
