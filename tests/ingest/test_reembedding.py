"""ING-6: another embedding model is filled beside the old one and switched to in one step, and back."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from psycopg import AsyncConnection

from harry_mcp.app import App
from harry_mcp.domain.documents import Chunk, ContextualChunk, DocumentStatus, SourceDocument
from harry_mcp.errors import ProviderError, SpaceMismatch
from harry_mcp.ingest import reembedding
from harry_mcp.ingest.ingester import Ingester
from harry_mcp.ingest.reembedding import reembed
from harry_mcp.ports import Vectors
from harry_mcp.profile import DomainProfile
from harry_mcp.providers.local.embedder import SPACE, LocalEmbedder
from harry_mcp.settings import Settings, child_environment
from harry_mcp.storage.database import Database
from tests.ingest.second_model import SECOND, SecondModel
from tests.storage.recount import rows

pytestmark = pytest.mark.promise("ING-6")

QUESTION = "How do I rotate an API key?"
PAGES = {
    "keys": "Open Settings, choose API keys and press Rotate. The old key works for one more hour.",
    "invoices": "Invoices are sent on the first day of the month to the billing address of the account.",
    "hooks": "A webhook is called within a minute of the event, and again for a day when nobody answers.",
}
_COVERED = """
SELECT s.version, s.active, count(v.chunk_id), count(v.chunk_id) FILTER (WHERE v.searchable)
  FROM embedding_spaces s LEFT JOIN chunk_vectors v ON v.space_id = s.id GROUP BY s.id ORDER BY s.id
"""


def page(name: str, text: str = "") -> SourceDocument:
    return SourceDocument(source=f"test:{name}", title=name.title(), text=text or PAGES[name], language="en")


@pytest.fixture
async def filled(settings: Settings, database: Database, embedder: LocalEmbedder) -> App:
    app = App(settings, DomainProfile(), database, embedder)
    await app.ingester.ingest([page(name) for name in PAGES])
    return app


async def first_hit(database: Database, model: LocalEmbedder | SecondModel) -> tuple[str, float]:
    """The title of the nearest passage by this model, and its cosine."""
    (query,) = await model.embed_queries([QUESTION])
    async with database.reading() as unit:
        best = (await unit.vectors.nearest(query, limit=3, floor=-1.0))[0]
        passage = (await unit.documents.passages([best.chunk_id]))[best.chunk_id]
    return passage.title, best.score


async def test_the_old_space_serves_until_the_new_one_is_whole_then_all_switch(
    settings: Settings, filled: App, embedder: LocalEmbedder, connection: AsyncConnection[Any]
) -> None:
    seen: list[tuple[str, float]] = []
    steps: list[tuple[int, int]] = []

    async def search_meanwhile() -> None:
        result = await filled.loop.search(QUESTION, record=False)
        assert result.hits[0].passage.title == "Keys"
        seen.append(await first_hit(filled.database, embedder))
        with pytest.raises(SpaceMismatch):
            await Database.open(settings, SECOND)

    before = await first_hit(filled.database, embedder)
    model = SecondModel(embedder, search_meanwhile)
    outcome = await reembed(filled.database, model, report=lambda done, of: steps.append((done, of)))
    assert (outcome.space, outcome.before, outcome.embedded, outcome.switched) == (SECOND, SPACE, 3, True)
    assert seen == [before]
    assert steps[0] == (0, 3)
    assert steps[-1] == (3, 3)
    assert await rows(connection, _COVERED) == [("1", False, 3, 3), ("prefixed", True, 3, 3)]
    # The new model is taken, the old one refused, and each cosine is that of one space
    moved = await Database.open(settings, SECOND)
    model = SecondModel(embedder)
    title, cosine = await first_hit(moved, model)
    text = (await rows(connection, "SELECT contextual_content FROM chunks ORDER BY id LIMIT 1"))[0][0]
    (query,) = await model.embed_queries([QUESTION])
    expected = float((await model.embed_documents([text]))[0] @ query)
    await moved.close()
    assert (title, cosine) == ("Keys", pytest.approx(expected, abs=1e-4))
    assert cosine != pytest.approx(before[1], abs=1e-4)
    with pytest.raises(SpaceMismatch, match="Run `harry reembed`"):
        await Database.open(settings, SPACE)


async def test_what_is_written_meanwhile_is_caught_up_with(
    filled: App, embedder: LocalEmbedder, connection: AsyncConnection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reembedding, "_BATCH", 1)
    changes: list[Callable[[], Awaitable[object]]] = [
        lambda: filled.ingester.ingest([page("keys", "Keys are now rotated by the robot.")]),
        lambda: filled.ingester.ingest([page("hooks"), page("exports", "Exports are CSV files.")]),
        lambda: set_status("invoices", DocumentStatus.ARCHIVED),
        lambda: delete("hooks"),
    ]

    async def set_status(name: str, status: DocumentStatus) -> None:
        async with filled.database.transaction() as unit:
            await unit.documents.set_status(page(name, "x").id, status)

    async def delete(name: str) -> None:
        async with filled.database.transaction() as unit:
            await unit.documents.delete(page(name, "x").id)

    async def change() -> None:
        if changes:
            await changes.pop(0)()

    outcome = await reembed(filled.database, SecondModel(embedder, change))
    assert outcome.switched
    assert not changes
    assert await rows(connection, _COVERED) == [("1", False, 3, 2), ("prefixed", True, 3, 2)]
    stale = "SELECT FROM chunk_vectors a JOIN chunk_vectors b USING (chunk_id) WHERE a.searchable <> b.searchable"
    assert await rows(connection, stale) == []


async def test_a_writer_that_never_rests_cannot_put_the_switch_off(
    filled: App, embedder: LocalEmbedder, connection: AsyncConnection[Any]
) -> None:
    stop = asyncio.Event()
    written: list[str] = []

    async def write() -> None:
        while not stop.is_set():
            name = f"note {len(written)}"
            try:
                outcome = await filled.ingester.ingest([page(name, f"This is {name}.")])
            except SpaceMismatch:
                return
            written.extend(outcome.added)

    writer = asyncio.create_task(write())
    try:
        outcome = await asyncio.wait_for(reembed(filled.database, SecondModel(embedder)), timeout=60)
        await asyncio.wait_for(writer, timeout=30)  # refused since the switch
    finally:
        stop.set()
        await asyncio.gather(writer, return_exceptions=True)
    assert outcome.switched
    lacking = (
        "SELECT count(*) FROM chunks c, embedding_spaces s WHERE s.active AND NOT EXISTS "
        "(SELECT FROM chunk_vectors v WHERE v.chunk_id = c.id AND v.space_id = s.id)"
    )
    assert await rows(connection, lacking) == [(0,)]
    assert await rows(connection, "SELECT count(*) FROM documents") == [(3 + len(written),)]


async def test_a_process_of_the_old_model_still_answers_and_writes_no_more(
    settings: Settings, filled: App, embedder: LocalEmbedder, connection: AsyncConnection[Any]
) -> None:
    await reembed(filled.database, SecondModel(embedder))
    result = await filled.loop.search(QUESTION, record=False)
    assert result.hits[0].passage.title == "Keys"
    with pytest.raises(SpaceMismatch, match=r"switched to .*version prefixed.* Nothing was written"):
        await filled.ingester.ingest([page("exports", "Exports are CSV files.")])
    assert await rows(connection, "SELECT count(*) FROM documents") == [(3,)]


async def test_back_is_instant_when_complete_and_catches_up_when_not(
    settings: Settings, filled: App, embedder: LocalEmbedder, connection: AsyncConnection[Any]
) -> None:
    class Broken(SecondModel):
        space = SPACE

        async def embed_documents(self, texts: Sequence[str]) -> Vectors:
            raise ProviderError("This model must not be asked.")

    model = SecondModel(embedder)
    await reembed(filled.database, model)
    async with filled.database.reading() as unit:
        previous = await unit.spaces.previous()
    assert previous is not None
    assert previous.space == SPACE
    back = await reembed(filled.database, Broken(embedder))
    assert (back.space, back.embedded, back.switched) == (SPACE, 0, True)
    # Forth again at once, and with something new written the way back embeds only that
    assert (await reembed(filled.database, model)).embedded == 0
    moved = await Database.open(settings, SECOND)
    await Ingester(moved, model, settings.ingest).ingest([page("exports", "Exports are CSV files.")])
    with pytest.raises(ProviderError):
        await reembed(moved, Broken(embedder))
    assert (await rows(connection, _COVERED))[1] == ("prefixed", True, 4, 4)
    assert (await reembed(moved, embedder)).embedded == 1
    await moved.close()
    assert await rows(connection, _COVERED) == [("1", True, 4, 4), ("prefixed", False, 4, 4)]


async def test_a_model_that_fails_leaves_the_old_space_in_service(
    settings: Settings,
    filled: App,
    embedder: LocalEmbedder,
    connection: AsyncConnection[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reembedding, "_BATCH", 2)
    asked = 0

    async def fail_the_second_time() -> None:
        nonlocal asked
        asked += 1
        if asked == 2:
            raise ProviderError("The model is out of memory.")

    with pytest.raises(ProviderError, match="out of memory"):
        await reembed(filled.database, SecondModel(embedder, fail_the_second_time))
    assert await rows(connection, _COVERED) == [("1", True, 3, 3), ("prefixed", False, 2, 2)]
    again = SecondModel(embedder)
    assert (await reembed(filled.database, again)).embedded == 1
    assert again.batches == [1]


async def test_the_space_in_service_may_be_filled_anew_and_an_empty_base_switches_at_once(
    settings: Settings, filled: App, embedder: LocalEmbedder, database: Database, connection: AsyncConnection[Any]
) -> None:
    await connection.execute("DELETE FROM chunk_vectors WHERE chunk_id = (SELECT min(id) FROM chunks)")
    healed = await reembed(database, embedder)
    assert (healed.embedded, healed.switched) == (1, False)
    await connection.execute("DELETE FROM documents")
    assert (await reembed(database, SecondModel(embedder))).switched


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL of POSIX")
async def test_killed_in_the_middle_it_goes_on_where_it_stopped(
    settings: Settings, database: Database, embedder: LocalEmbedder, connection: AsyncConnection[Any]
) -> None:
    chunks = [
        ContextualChunk(chunk=Chunk(ordinal=n, text="x", start=0, end=1), contextual_text=f"{n} " + "many words " * 20)
        for n in range(640)
    ]
    made = np.eye(1, SPACE.dimension, dtype=np.float32)[0]
    async with database.transaction() as unit:
        await unit.documents.save(
            page("book", "x"), chunks, [made] * len(chunks), recipe="test", status=DocumentStatus.LIVE
        )

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.ingest.second_model"],
            env=child_environment(HARRY_DATABASE_URL=settings.database_url.get_secret_value()),
            stdout=subprocess.PIPE,
            text=True,
        )

    process = start()
    assert process.stdout is not None
    lines = [await asyncio.to_thread(process.stdout.readline) for _ in range(3)]
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert lines == ["0 640\n", "128 640\n", "256 640\n"]
    ((_, was_active, _, _), (_, active, stored, _)) = await rows(connection, _COVERED)
    assert (was_active, active) == (True, False)
    assert stored % 128 == 0
    assert 256 <= stored < 640
    reopened = await Database.open(settings, SPACE)  # the old model starts and serves as before
    await reopened.close()
    process = start()
    out, _ = await asyncio.to_thread(process.communicate)
    assert process.returncode == 0
    assert out.splitlines()[0] == f"{stored} 640"
    assert out.splitlines()[-1] == "640 640"
    assert await rows(connection, _COVERED) == [("1", False, 640, 640), ("prefixed", True, 640, 640)]


async def test_spaces_are_told_with_what_they_hold(filled: App, embedder: LocalEmbedder) -> None:
    other = replace(SECOND, model="another")
    async with filled.database.transaction() as unit:
        await unit.keywords.lock()
        await unit.spaces.register(other)
        states = await unit.spaces.all()
    assert [(state.space, state.active, state.vectors, state.chunks) for state in states] == [
        (SPACE, True, 3, 3),
        (other, False, 0, 3),
    ]
