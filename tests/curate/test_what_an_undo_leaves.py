"""CUR-7, CUR-8: what was undone is no predecessor, and an undo says what is not as it was."""

from __future__ import annotations

import pytest

from harry_mcp.app import App
from harry_mcp.domain.curation import ReviewAction
from harry_mcp.errors import InputError
from harry_mcp.server.review_replies import undone
from harry_mcp.settings import Settings
from harry_mcp.stages.curate.flag import RotSignal
from tests.curate.test_review import CURATOR, act, document, flag, ingest
from tests.server.test_review_tools import call, client

pytestmark = pytest.mark.promise("CUR-7")
A = ReviewAction


async def shown(app: App, key: str) -> tuple[list[int], set[str]]:
    """The kept versions, and what the text is compared with."""
    found = await app.loop.review.document(key)
    return [each.version for each in found.versions], {each.origin for each in found.differences}


@pytest.mark.promise("CUR-8")
async def test_a_text_is_compared_with_the_last_version_that_was_not_undone(app: App) -> None:
    key, *_ = await ingest(app)
    first = await act(app, A.REWRITE, key, text="Rotate a key on the first page.")
    second = await act(app, A.REWRITE, key, text="Rotate a key on the second page.")
    assert await shown(app, key) == ([2, 1], {"version 2"})
    await app.loop.review.rollback(second.action_id, CURATOR)
    assert await shown(app, key) == ([1], {"version 1"})
    await app.loop.review.rollback(first.action_id, CURATOR)
    assert await shown(app, key) == ([], set())
    await act(app, A.REWRITE, key, text="Rotate a key on the third page.")
    assert await shown(app, key) == ([1], {"version 1"}), "each version once"


async def test_an_undo_says_what_differs(app: App) -> None:
    keys, invoices, webhooks = await ingest(app)
    archived = await act(app, A.ARCHIVE, keys, invoices, webhooks)
    await app.ingester.ingest([document("Invoices", "Invoices are sent on the second day of the month.")])
    done = await app.loop.review.rollback(archived.action_id, CURATOR)
    notes = {change.document_id: " ".join(change.notes) for change in done.done}
    assert notes[keys] == notes[webhooks] == ""
    assert "it is at version 2, and was at version 1" in notes[invoices]
    assert "It is flagged now and was live: contradiction spoke against it since." in notes[invoices]
    reply = undone(archived.action_id, done)
    for told in (reply.note, reply.next_step):
        assert "1 of 3 documents are not wholly as before" in told
        assert "all is as it was" not in told

    whole = await act(app, A.ARCHIVE, keys, webhooks)
    reply = undone(whole.action_id, await app.loop.review.rollback(whole.action_id, CURATOR))
    assert "all is as it was" in reply.next_step

    await flag(app, keys)
    rewritten = await act(app, A.REWRITE, keys, text="Rotate a key on the keys page.")
    await flag(app, keys, RotSignal.STALE)
    again = await app.loop.review.rollback(rewritten.action_id, CURATOR)
    assert again.done[0].notes == ("It is flagged now: stale spoke against it since.",)
    assert "the document is not wholly as before" in undone(rewritten.action_id, again).next_step


@pytest.mark.promise("MCP-1")
async def test_recent_acts_and_undos_tell_the_use_of_documents(settings: Settings, app: App) -> None:
    keys, *_ = await ingest(app)
    await app.loop.search("How do I rotate an API key?")
    await app.loop.settled()
    async with client(settings) as session:
        done = await call(session, "review_documents", action="archive", document_ids=[keys])
        recent = await call(session, "list_review_queue", tab="recent")
        back = await call(session, "rollback_review", action_id=done["action_id"])
    uses = [each["changes"][0]["uses"] for each in (done, back)] + [recent["actions"][0]["documents"][0]["uses"]]
    assert uses == [1, 1, 1]


async def test_why_not_speaks_of_no_attempt_and_a_refused_undo_says_that_nothing_was_changed(app: App) -> None:
    key, *_ = await ingest(app)
    rewritten = await act(app, A.REWRITE, key, text="Rotate a key where the curator says.")
    for text in ("Rotate a key where the curator says.", "Rotate a key where the source says."):
        await app.ingester.ingest([document("Keys", text)])
        (recent,) = await app.loop.review.recent(limit=5)
        assert recent.why_not
        assert "was undone" not in recent.why_not
        assert "Nothing" not in recent.why_not
        with pytest.raises(InputError, match=r"cannot be undone.*Nothing was changed\.$"):
            await app.loop.review.rollback(rewritten.action_id, CURATOR)
