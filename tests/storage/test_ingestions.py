"""ING-5: one ingestion at a time for each source, interrupted when its process lets go, and exact counts."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg import AsyncConnection

from harry_mcp.domain.documents import DocumentStatus
from harry_mcp.domain.ingestions import IngestionRequest, IngestionState, IngestionTally, Problem
from harry_mcp.storage.database import Database
from tests.storage.recount import rows
from tests.storage.test_documents import save

pytestmark = pytest.mark.promise("ING-5")

REQUEST = IngestionRequest(source="/docs", topic="Help")
State = IngestionState


async def test_an_ingestion_belongs_to_one_session_and_is_interrupted_without_it(database: Database) -> None:
    async with database.reading() as looking:
        async with database.session() as first, database.session() as second:
            opened = await first.ingestions.enter(REQUEST)
            assert opened is not None
            assert await second.ingestions.enter(REQUEST) == opened
            other = await second.ingestions.enter(IngestionRequest(source="/docs", crawl=True))
            assert other is not None
            assert other.id != opened.id
            assert await first.ingestions.try_lock(opened.number)
            assert not await second.ingestions.try_lock(opened.number)
            assert await second.ingestions.try_lock(other.number), "another source is another lock"
            taken = await first.ingestions.take(opened.number, REQUEST)
            assert taken is not None
            assert taken.attempts == 1
            found = await looking.ingestions.get(opened.id)
            assert found is not None
            assert (found.state, found.total, found.topic, found.problems) == (State.RUNNING, -1, "Help", ())
        async with asyncio.timeout(30):  # the server notices in its own time that a client has gone
            while State.RUNNING in {each.state for each in await looking.ingestions.recent(10)}:
                continue
        left = {each.id: each.state for each in await looking.ingestions.recent(10)}
        assert left == {opened.id: State.INTERRUPTED, other.id: State.INTERRUPTED}
        assert len(await looking.ingestions.recent(1)) == 1
        assert await looking.ingestions.get("") is None
        assert await looking.ingestions.get("ing_none") is None


async def test_what_ended_is_not_taken_up_again(database: Database) -> None:
    async with database.session() as first, database.session() as second:
        opened = await first.ingestions.enter(REQUEST)
        assert opened is not None
        assert await first.ingestions.try_lock(opened.number)
        assert await first.ingestions.take(opened.number, REQUEST) is not None
        await first.ingestions.finish(opened.number, error="The disk is full.")
        await first.ingestions.unlock(opened.number)
        # Who saw it open a moment ago gets the lock, and nothing to work on
        assert await second.ingestions.try_lock(opened.number)
        assert await second.ingestions.take(opened.number, REQUEST) is None
        ended = await second.ingestions.get(opened.id)
        assert ended is not None
        assert (ended.state, ended.error) == (State.FAILED, "The disk is full.")
        assert ended.finished_at is not None
        again = await second.ingestions.enter(REQUEST)
        assert again is not None
        assert again.id != opened.id


async def test_callers_at_once_agree_on_one(database: Database, connection: AsyncConnection[Any]) -> None:
    async def enter() -> tuple[str, bool]:
        async with database.session() as unit:
            opened = await unit.ingestions.enter(REQUEST)
            assert opened is not None
            held = await unit.ingestions.try_lock(opened.number)
            await barrier.wait()
            return opened.id, held

    barrier = asyncio.Barrier(8)
    found = await asyncio.gather(*(enter() for _ in range(8)))
    assert len({ingestion_id for ingestion_id, _ in found}) == 1
    assert sum(held for _, held in found) == 1
    assert await rows(connection, "SELECT count(*) FROM ingestions") == [(1,)]


async def test_the_tally_comes_back_as_it_was_written(database: Database) -> None:
    tally = IngestionTally(
        done=9,
        total=12,
        new=1,
        changed=2,
        unchanged=3,
        duplicates=4,
        gone=5,
        refused=6,
        failed=7,
        chunks=8,
        spent=0.25,
        doing="Größe 東京",
        problems=(Problem("failed", "file:///a.md", "it is a binary file"), Problem("gone", "https://x.org/", "moved")),
        warnings=("Slow.",),
    )
    async with database.session() as unit:
        opened = await unit.ingestions.enter(REQUEST)
        assert opened is not None
        await unit.ingestions.progress(opened.number, tally)
        found = await unit.ingestions.get(opened.id)
    assert found is not None
    for name in IngestionTally.__dataclass_fields__:
        value = getattr(found, name)
        assert (tuple(value) if name == "warnings" else value) == getattr(tally, name), name


async def test_documents_are_counted_by_when_they_were_made(database: Database) -> None:
    old = await save(database, "old", ["An old passage."])
    changed = await save(database, "changed", ["A passage."])
    since = datetime.now(UTC)
    await save(database, "changed", ["Another passage."])
    new = await save(database, "new", ["A new passage."])
    hidden = await save(database, "hidden", ["A hidden passage."], DocumentStatus.PENDING)
    async with database.reading() as unit:
        made = await unit.ingestions.made_since(since, [old, changed, new, hidden, "doc_none"])
        assert (made.new, made.changed) == (2, 1)
        later = await unit.ingestions.made_since(since + timedelta(hours=1), [old, changed, new])
        assert (later.new, later.changed) == (0, 0)


async def test_a_session_is_not_one_of_the_pool_and_gives_its_connection_back(
    database: Database, connection: AsyncConnection[Any]
) -> None:
    opened = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'harry_mcp'"
    )
    (before,) = (await rows(connection, opened))[0]
    async with database.session() as unit:
        assert await unit.ingestions.recent(1) == []
        assert await rows(connection, opened) == [(before + 1,)]
    async with database.reading() as unit:
        assert await unit.ingestions.recent(1) == []
