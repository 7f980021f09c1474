"""CUR-2, CUR-6, CUR-7: when one side of a contradiction goes, the other one is free of it; and not any more, undone."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import AsyncConnection

from harry_mcp.app import App
from harry_mcp.domain.curation import QueueTab, ReviewAction
from harry_mcp.domain.documents import SourceDocument
from harry_mcp.domain.rot import RotSignal
from harry_mcp.stages.curate.flag import flag_rot
from tests.loop.small_base import CURATOR, down
from tests.storage.recount import rows

pytestmark = [pytest.mark.promise("CUR-2"), pytest.mark.promise("CUR-7")]

OLD = SourceDocument(
    source="test:old",
    title="Limits of the interface",
    language="en",
    text="# Limits\n\nThe interface takes 100 requests a minute from each of the clients.\n\nMore is refused.",
)
NEW = SourceDocument(
    source="test:new",
    title="How many requests are taken",
    language="en",
    text="# Limits\n\nThe interface takes 600 requests a minute from each of the clients.\n\nSend them slowly.",
)
_STATE = """
SELECT d.id, d.status, d.caveats, d.content_hash,
       ARRAY(SELECT f.id FROM standing_flags f WHERE f.document_id = d.id ORDER BY 1) AS standing
  FROM documents d ORDER BY d.id
"""


async def state(connection: AsyncConnection[Any]) -> Any:
    return await rows(connection, _STATE)


async def statuses(connection: AsyncConnection[Any]) -> dict[str, str]:
    found = await rows(connection, "SELECT source, status FROM documents")
    return dict(found)


async def contradicting(app: App) -> None:
    await app.ingester.ingest([OLD, NEW])
    report = await app.loop.rot.run([RotSignal.CONTRADICTION])
    assert report.flagged == 2


@pytest.mark.parametrize("action", [ReviewAction.ARCHIVE, ReviewAction.REWRITE])
async def test_what_is_left_alone_is_free_and_an_undo_restores_all(
    app: App, connection: AsyncConnection[Any], action: ReviewAction
) -> None:
    await contradicting(app)
    before = await state(connection)
    text = OLD.text.replace("100", "600") if action is ReviewAction.REWRITE else ""
    preview = await app.loop.review.preview(action, [OLD.id], text=text, answers=False)
    if not text:
        assert preview.changes[0].notes == (f"The contradiction with “{NEW.title}” is settled.",)
    assert await state(connection) == before
    done = await app.loop.review.act(action, [OLD.id], CURATOR, text=text)
    assert f"The contradiction with “{NEW.title}” is settled." in done.done[0].notes
    assert (await statuses(connection))["test:new"] == "live"
    detail = await app.loop.review.document(NEW.id)
    assert [(each.signal, each.settled) for each in detail.signals] == [("contradiction", True)]
    assert (await app.loop.search("How many requests a minute does the interface take?")).hits[0].caveats == ()
    (row,) = await rows(
        connection,
        "SELECT event, before, after, detail ->> 'action_id' FROM kb_curation_log WHERE event = 'withdraw'",
    )
    assert row == ("withdraw", "flagged", "live", done.action_id)
    await app.loop.review.rollback(done.action_id, CURATOR)
    assert [each[1:] for each in await state(connection)] == [each[1:] for each in before]
    (row,) = await rows(connection, "SELECT before, after FROM kb_curation_log WHERE event = 'reopen'")
    assert row == ("live", "flagged")
    # Once more: what was taken back and undone can be taken back again.
    again = await app.loop.review.act(ReviewAction.ARCHIVE, [NEW.id], CURATOR)
    assert (await statuses(connection))["test:old"] == "live"
    await app.loop.review.rollback(again.action_id, CURATOR)
    assert [each[1:] for each in await state(connection)] == [each[1:] for each in before]


async def test_a_rewrite_that_says_the_same_settles_nothing(app: App, connection: AsyncConnection[Any]) -> None:
    await contradicting(app)
    await app.loop.review.act(ReviewAction.REWRITE, [OLD.id], CURATOR, text=OLD.text + "\n\nAsk for more.")
    assert set((await statuses(connection)).values()) == {"flagged"}
    await app.loop.review.act(ReviewAction.REWRITE, [OLD.id], CURATOR, title="Another title")
    assert set((await statuses(connection)).values()) == {"flagged"}


async def test_what_else_speaks_against_it_still_does(app: App, connection: AsyncConnection[Any]) -> None:
    await contradicting(app)
    asked = await app.loop.search("How many requests a minute does the interface take?")
    await down(app, asked, source_urls=(NEW.id,))
    before = await state(connection)
    done = await app.loop.review.act(ReviewAction.ARCHIVE, [OLD.id], CURATOR)
    found = {each[0]: each for each in await state(connection)}
    assert found[NEW.id][1] == "flagged"
    assert list(found[NEW.id][2]) == ["negative_feedback"]
    assert len(found[NEW.id][4]) == 1
    await app.loop.review.rollback(done.action_id, CURATOR)
    assert await state(connection) == before


async def test_both_sides_in_one_act_and_what_a_curator_decided_meanwhile(
    app: App, connection: AsyncConnection[Any]
) -> None:
    await contradicting(app)
    before = await state(connection)
    both = await app.loop.review.act(ReviewAction.ARCHIVE, [OLD.id, NEW.id], CURATOR)
    assert set((await statuses(connection)).values()) == {"archived"}
    await app.loop.review.rollback(both.action_id, CURATOR)
    assert await state(connection) == before
    # The other side is archived after it was settled, and both are undone in the other order.
    first = await app.loop.review.act(ReviewAction.ARCHIVE, [OLD.id], CURATOR)
    second = await app.loop.review.act(ReviewAction.ARCHIVE, [NEW.id], CURATOR)
    await app.loop.review.rollback(first.action_id, CURATOR)
    assert await statuses(connection) == {"test:old": "flagged", "test:new": "archived"}
    await app.loop.review.rollback(second.action_id, CURATOR)
    assert await state(connection) == before


async def test_one_that_comes_back_is_compared_anew(app: App, connection: AsyncConnection[Any]) -> None:
    await contradicting(app)
    await app.loop.review.act(ReviewAction.ARCHIVE, [OLD.id], CURATOR)
    await app.loop.review.act(ReviewAction.RESTORE, [OLD.id], CURATOR)
    assert await statuses(connection) == {"test:old": "flagged", "test:new": "live"}
    await app.loop.rot.run([RotSignal.CONTRADICTION])
    assert set((await statuses(connection)).values()) == {"flagged"}


@pytest.mark.promise("CUR-6")
async def test_what_was_withdrawn_neither_waits_nor_is_found_by_its_signal(app: App) -> None:
    await contradicting(app)
    track = (await app.loop.rot.run([RotSignal.CONTRADICTION])).checks[0].track
    assert (track.confirmed, track.dismissed, track.waiting) == (0, 0, 2)
    await app.loop.review.act(ReviewAction.ARCHIVE, [OLD.id], CURATOR)
    track = (await app.loop.rot.run([RotSignal.CONTRADICTION])).checks[0].track
    assert (track.confirmed, track.dismissed, track.waiting) == (1, 0, 0)
    async with app.database.transaction() as unit:
        await flag_rot(unit, NEW.id, RotSignal.STALE, actor="test", detail={})
    page = await app.loop.review.queue(QueueTab.FLAGGED, limit=5)
    assert [(each.document_id, each.harm.signals) for each in page.items] == [(NEW.id, 1)]
    assert (await app.loop.review.queue(QueueTab.FLAGGED, limit=5, signal="contradiction")).total == 0
