"""ING-5: ingestions in the background: in turn, one for each source, and told truly when they fail or are cut off."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from psycopg import AsyncConnection

from harry_mcp.domain.ingestions import Ingestion, IngestionRequest, IngestionState
from harry_mcp.domain.people import Principal, Role
from harry_mcp.errors import InputError, NotFoundError, ProviderError
from harry_mcp.ingest import background
from harry_mcp.ingest.background import BackgroundIngestions
from harry_mcp.ingest.crawl.crawler import Crawler
from harry_mcp.ingest.ingester import Ingester
from harry_mcp.ingest.requests import planned
from harry_mcp.ports import Vectors
from harry_mcp.providers.local.embedder import SPACE, LocalEmbedder
from harry_mcp.settings import Settings
from harry_mcp.storage.database import Database
from tests.ingest.second_model import SecondModel
from tests.storage.recount import rows

pytestmark = pytest.mark.promise("ING-5")

CURATOR = Principal(subject="ann", via="test", role=Role.CURATOR, trusted=True)
State = IngestionState
Run = Callable[..., BackgroundIngestions]


class Watched(SecondModel):
    """The local model, with something that happens before every batch."""

    space = SPACE

    def __init__(self, inner: LocalEmbedder, happening: Callable[[], Awaitable[None]]) -> None:
        super().__init__(inner)
        self._happening = happening

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        await self._happening()
        return await self._inner.embed_documents(texts)


@pytest.fixture
async def run(settings: Settings, database: Database, embedder: LocalEmbedder) -> AsyncIterator[Run]:
    """Makes a process of its own out of settings and of what happens while it embeds."""
    made: list[BackgroundIngestions] = []

    def start(happening: Callable[[], Awaitable[None]] | None = None, **ingest: Any) -> BackgroundIngestions:
        own = settings.model_copy(update={"ingest": settings.ingest.model_copy(update=ingest)})
        model = Watched(embedder, happening) if happening else embedder
        ingester = Ingester(database, model, own.ingest)
        made.append(BackgroundIngestions(database, ingester, Crawler(database, ingester, own.crawl), own))
        return made[-1]

    yield start
    for each in made:
        await each.close()


def files(place: Path, *names: str) -> Path:
    place.mkdir(exist_ok=True)
    for name in names:
        (place / f"{name}.md").write_text(f"# {name}\n\nSome words about {name}.\n", encoding="utf-8")
    return place


async def unseen(_: Ingestion) -> None:
    pass


async def begun(process: BackgroundIngestions, place: Path, **changes: Any) -> Ingestion:
    return await process.begin(IngestionRequest(source=str(place), **changes), CURATOR)


async def ended(process: BackgroundIngestions, ingestion: Ingestion) -> Ingestion:
    return await process.wait(ingestion.id, 60, unseen)


async def test_one_after_the_other_and_no_more_than_a_process_can_bear(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "_MOST", 2)
    release = asyncio.Event()

    async def wait() -> None:
        await release.wait()

    process = run(wait, at_once=1)
    first = await begun(process, files(tmp_path / "first", "a"))
    second = await begun(process, files(tmp_path / "second", "b"))
    seen: list[str] = []

    async def look(found: Ingestion) -> None:
        seen.append(found.doing)

    waiting = await process.wait(second.id, 1.5, look)
    assert (waiting.state, waiting.doing) == (State.RUNNING, "waiting for another ingestion to end")
    assert seen
    with pytest.raises(InputError, match="2 ingestions are under way here already"):
        await begun(process, files(tmp_path / "third", "c"))
    release.set()
    assert [(await ended(process, each)).state for each in (first, second)] == [State.FINISHED, State.FINISHED]
    assert [each.id for each in await process.recent(5)] == [second.id, first.id]
    third = await begun(process, tmp_path / "third")
    assert (await ended(process, third)).new == 1


async def test_what_fails_is_told_and_what_was_stored_stays(
    run: Run, tmp_path: Path, connection: AsyncConnection[Any]
) -> None:
    place = files(tmp_path / "docs", "a", "b")
    errors: list[Exception] = [ProviderError("The model is out of memory."), RuntimeError("secret details")]

    async def fail() -> None:
        if errors:
            raise errors.pop(0)

    process = run(fail)
    failed = await ended(process, await begun(process, place))
    assert (failed.state, failed.error) == (State.FAILED, "The model is out of memory.")
    assert failed.finished_at is not None
    unforeseen = await ended(process, await begun(process, place))
    assert unforeseen.id != failed.id
    assert unforeseen.error == ("It failed in a way that was not foreseen (RuntimeError); the server's log has more.")
    done = await ended(process, await begun(process, place))
    assert (done.state, done.new, done.attempts) == (State.FINISHED, 2, 1)
    assert await rows(connection, "SELECT state FROM ingestions ORDER BY number") == [
        ("failed",),
        ("failed",),
        ("finished",),
    ]


async def test_a_lost_connection_interrupts_and_the_next_call_goes_on(
    run: Run, tmp_path: Path, connection: AsyncConnection[Any]
) -> None:
    place = files(tmp_path / "docs", "a", "b")
    held = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = 26729 AND granted"
    stuck = asyncio.Event()

    async def wait() -> None:
        stuck.set()
        await asyncio.Event().wait()

    process = run(wait)
    ingestion = await begun(process, place)
    await stuck.wait()
    assert await rows(connection, held) == [(True,)]
    interrupted = await ended(process, ingestion)
    assert (interrupted.state, interrupted.finished_at) == (State.INTERRUPTED, None)
    other = run()
    again = await begun(other, place, topic="Help")
    assert again.id == ingestion.id
    done = await ended(other, again)
    assert (done.state, done.attempts, done.new, done.topic) == (State.FINISHED, 2, 2, "Help")


async def test_a_process_that_closes_gives_its_ingestions_free(run: Run, tmp_path: Path) -> None:
    place = files(tmp_path / "docs", "a")

    async def wait() -> None:
        await asyncio.Event().wait()

    process = run(wait)
    ingestion = await begun(process, place)
    await process.close()
    other = run()
    assert (await other.get(ingestion.id)).state is State.INTERRUPTED
    assert (await ended(other, await begun(other, place))).new == 1


async def test_counts_are_exact_over_edits_and_interruptions(
    run: Run, tmp_path: Path, database: Database, connection: AsyncConnection[Any]
) -> None:
    place = files(tmp_path / "docs", "same", "edited", "deleted")
    process = run()
    await ended(process, await begun(process, place))
    (place / "edited.md").write_text("# edited\n\nOther words.\n", encoding="utf-8")
    (place / "deleted.md").unlink()
    (place / "bad.md").write_bytes(b"\x00\x01\x02" * 50)
    files(place, "added")
    found = await ended(process, await begun(process, place))
    counts = (found.new, found.changed, found.unchanged, found.gone, found.failed, found.done, found.total)
    assert counts == (1, 1, 1, 1, 1, 4, 4)
    assert [(each.kind, each.source.rpartition("/")[2]) for each in found.problems] == [
        ("failed", "bad.md"),
        ("gone", "deleted.md"),
    ]
    # Cut off after its documents were stored: the second attempt counts what the first one did
    files(place, "more")
    (place / "edited.md").write_text("# edited\n\nYet other words.\n", encoding="utf-8")
    cut = await begun(process, place)
    await ended(process, cut)
    await connection.execute("UPDATE ingestions SET state = 'running' WHERE id = %s", (cut.id,))
    resumed = await ended(process, await begun(process, place))
    assert resumed.id == cut.id
    assert (resumed.new, resumed.changed, resumed.unchanged, resumed.gone) == (1, 1, 2, 1)
    # Only bad files: nothing of it was any use
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "a.md").write_bytes(b"\x00\x01\x02" * 50)
    useless = await ended(process, await begun(process, tmp_path / "bad"))
    assert (useless.state, useless.failed) == (State.FAILED, 1)
    assert "is a binary file" in useless.error
    (tmp_path / "empty").mkdir()
    empty = await ended(process, await begun(process, tmp_path / "empty"))
    assert "holds no documents; what is read is Markdown" in empty.error


async def test_an_unknown_id_and_the_plan_of_a_glob(run: Run, settings: Settings, tmp_path: Path) -> None:
    process = run()
    with pytest.raises(NotFoundError, match="There is no ingestion 'ing_none'"):
        await process.get("ing_none")
    files(tmp_path / "docs", "a", "b")
    glob = await begun(process, tmp_path / "docs" / "*.md")
    done = await ended(process, glob)
    assert (done.state, done.new) == (State.FINISHED, 2)
    request = IngestionRequest(source=done.source)
    assert planned(request, settings) == f"Read all documents under {tmp_path}/docs/*.md."
    none = await ended(process, await begun(process, tmp_path / "docs" / "*.rst"))
    assert (none.state, "No file matches" in none.error) == (State.FAILED, True)
