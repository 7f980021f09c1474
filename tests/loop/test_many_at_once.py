"""Many searches at the same time: none fails, none is lost, every gap and every serving is counted exactly."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from psycopg import AsyncConnection

from harry_mcp.app import App
from harry_mcp.domain.corrections import Lesson
from harry_mcp.domain.search import SearchFilters, SearchResult, SearchStatus
from harry_mcp.domain.verified import Match
from harry_mcp.loop.recording import Recorder
from harry_mcp.settings import Settings, child_environment
from harry_mcp.storage.database import Database
from tests.loop.small_base import ANN, QUESTION, entry_of, filled, official, scalar
from tests.loop.with_models import with_models
from tests.providers.scripted import ScriptedAnthropic, ScriptedVoyage
from tests.providers.vendor import Answer

CLIENTS = 10
SERVE = ["-m", "harry_mcp.cli.main", "serve"]
MISSED = "Which zebra paints the moon purple?"
LESSON = Lesson(
    topic="invoices",
    wrong="Invoices are sent on the last day of the month.",
    truth="Invoices are sent on the first day of the month.",
    line="Invoices are sent on the first day of the month, not on the last.",
)
Written = tuple[str, str]


def questions(client: int) -> list[str]:
    """What one client asks at once: two that are answered, one that all miss in two spellings, one of its own."""
    own = f"Does giraffe number {client} whistle waltzes backwards?"
    return [QUESTION, "When are invoices sent?", MISSED, MISSED.upper(), own]


ALL = [question for client in range(CLIENTS) for question in questions(client)]


async def rows(connection: AsyncConnection[Any], statement: str) -> list[tuple[Any, ...]]:
    return await (await connection.execute(statement.encode())).fetchall()


async def assert_written_down(connection: AsyncConnection[Any], answered: Iterable[Written]) -> None:
    """What is stored is exactly what was answered: search ids, with the gap that each opened, or ''."""
    told = sorted(answered)
    assert sorted(row[0] for row in await rows(connection, "SELECT id FROM searches")) == [search for search, _ in told]
    missed = [(search, gap) for search, gap in told if gap]
    assert sorted(await rows(connection, "SELECT search_id, gap_id FROM kb_gap_logs")) == missed
    assert dict(await rows(connection, "SELECT id, occurrences FROM kb_gaps")) == Counter(gap for _, gap in missed)


def written(results: Iterable[SearchResult]) -> list[Written]:
    return [(result.search_id, result.gap_id) for result in results]


async def remembering(app: App) -> str:
    """A knowledge base that also remembers: an official answer, whose id is given, and a correction."""
    await filled(app)
    await app.loop.submit_correction(LESSON, ANN)
    return (await official(app)).id


@pytest.mark.promise("RUN-3")
@pytest.mark.promise("VER-2")
@pytest.mark.promise("VER-7")
async def test_ten_clients_with_five_searches_each_at_once(
    settings: Settings, app: App, connection: AsyncConnection[Any]
) -> None:
    entry = await remembering(app)
    environment = child_environment(HARRY_DATABASE_URL=settings.database_url.get_secret_value())
    server = StdioServerParameters(command=sys.executable, args=SERVE, env=environment)
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(Client(server)) for _ in range(CLIENTS)]
        answers = await asyncio.gather(
            *(
                client.call_tool("search_kb", {"query": question})
                for number, client in enumerate(clients)
                for question in questions(number)
            )
        )
        assert [answer.content for answer in answers if answer.is_error] == []
        replies: list[dict[str, Any]] = [answer.structured_content or {} for answer in answers]
        for client in clients:  # a web search needs the record, so that it waits for it
            await client.call_tool("web_fallback", {"query": MISSED, "search_id": "none"})
    assert Counter(reply["status"] for reply in replies) == {"ok": len(ALL)}
    stored = {row[0] for row in await rows(connection, "SELECT id FROM searches")}
    assert stored == {reply["search_id"] for reply in replies}
    assert len(stored) == len(ALL)
    missed = Counter(reply["gap_id"] for reply in replies if reply["gap_id"])
    assert sorted(missed.values()) == [1] * CLIENTS + [2 * CLIENTS]
    logged = dict(
        await rows(connection, "SELECT gap_id, count(*) FROM kb_gap_logs WHERE search_id IS NOT NULL GROUP BY 1")
    )
    assert logged == missed
    assert (await entry_of(app, entry)).uses == CLIENTS


@pytest.mark.promise("VER-2")
@pytest.mark.promise("VER-7")
@pytest.mark.parametrize("pool", [1, 2, 8])
async def test_fifty_at_once_in_one_process_whatever_the_pool(
    settings: Settings, connection: AsyncConnection[Any], pool: int
) -> None:
    # With a single connection, whoever waits for a second one while he holds the first waits for ever.
    narrow = settings.model_copy(update={"database": settings.database.model_copy(update={"pool_size": pool})})
    async with await App.open(narrow) as app:
        entry = await remembering(app)
        results = await asyncio.gather(*(app.loop.search(question) for question in ALL))
        await app.loop.settled()
        uses = (await entry_of(app, entry)).uses
    assert {result.status for result in results} == {SearchStatus.OK}
    await assert_written_down(connection, written(results))
    exact = [result for result in results if result.verified.match is Match.EXACT]
    assert {result.question for result in exact} == {QUESTION}
    assert len(exact) == uses == CLIENTS
    injected = sum(len(result.corrections) for result in results)
    assert injected >= CLIENTS
    assert await scalar(connection, "SELECT count(*) FROM correction_injections") == injected


@pytest.mark.promise("RNK-1")
async def test_fifty_at_once_with_every_model(settings: Settings, connection: AsyncConnection[Any]) -> None:
    async with with_models(settings, claude=ScriptedAnthropic(), voyage=ScriptedVoyage()) as made:
        results = await asyncio.gather(*(made.app.loop.search(f"{question} ({n})") for n, question in enumerate(ALL)))
        await made.app.loop.settled()
        asked = {kind: len(requests) for kind, requests in made.claude.asked.items()}
    assert {result.degraded for result in results} == {()}
    assert all(result.verdict.reranked for result in results)
    assert asked == {"complete": len(ALL), "Scores": len(ALL)}
    await assert_written_down(connection, written(results))


@pytest.mark.promise("OPS-3")
async def test_fifty_at_once_while_a_model_hangs(settings: Settings, connection: AsyncConnection[Any]) -> None:
    sections: dict[str, dict[str, object]] = {
        "search": {"hyde_budget": 0.3},
        "rank": {"budget": 0.3},
        "database": {"pool_size": 1},
    }
    claude = ScriptedAnthropic(complete=Answer(hangs=True), Scores=Answer(hangs=True))
    async with with_models(settings, claude=claude, sections=sections) as made:
        results = await asyncio.gather(*(made.app.loop.search(question) for question in ALL))
        await made.app.loop.settled()
    for result in results:
        assert result.status is SearchStatus.DEGRADED
        # Timed out, or not even asked any more once the breaker had opened.
        assert [part.partition("_")[0] for part in result.degraded] == ["hyde", "rerank"]
        assert result.hits
    await assert_written_down(connection, written(results))


# The recorder


@pytest.fixture
async def answered(app: App) -> SearchResult:
    await filled(app)
    return await app.loop.search(MISSED, record=False)


def as_another(result: SearchResult, number: int) -> SearchResult:
    return replace(result, search_id=f"srch_{number:032x}")


async def test_more_searches_than_may_wait_are_all_written_down(
    database: Database, connection: AsyncConnection[Any], answered: SearchResult
) -> None:
    assert answered.gap_id
    recorder = Recorder(database)
    told = [as_another(answered, number) for number in range(500)]
    await asyncio.gather(*(recorder.record_soon(result, SearchFilters()) for result in told))
    await recorder.settled()
    await assert_written_down(connection, written(told))


async def test_a_search_that_cannot_be_stored_takes_no_other_with_it(
    database: Database,
    connection: AsyncConnection[Any],
    answered: SearchResult,
    caplog: pytest.LogCaptureFixture,
) -> None:
    recorder = Recorder(database)
    good = [as_another(answered, number) for number in range(5)]
    bad = replace(as_another(answered, 99), revision=2**70)
    for result in (*good[:2], bad, *good[2:]):
        await recorder.record_soon(result, SearchFilters())
    await recorder.flush()
    await assert_written_down(connection, written(good))
    assert [bad.search_id in message for message in caplog.messages] == [True]


async def test_a_search_written_twice_is_counted_once(
    database: Database, connection: AsyncConnection[Any], answered: SearchResult
) -> None:
    told = [(as_another(answered, number), SearchFilters(topic="zoo")) for number in range(3)]
    for _ in range(2):
        async with database.reading() as unit:
            await unit.searches.record(told)
    await assert_written_down(connection, written(result for result, _ in told))
    assert await rows(connection, "SELECT topic, occurrences FROM kb_gaps") == [("zoo", 3)]


@pytest.mark.promise("OPS-3")
async def test_searches_are_written_down_though_the_connections_were_lost(
    database: Database, connection: AsyncConnection[Any], answered: SearchResult
) -> None:
    recorder = Recorder(database)
    await connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
        "AND pid <> pg_backend_pid()"
    )
    await recorder.record_soon(answered, SearchFilters())
    await recorder.flush()
    await assert_written_down(connection, written([answered]))
