"""CUR-6, CUR-7, CUR-8: what curators do, in one transaction with its records, and taking it back."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from psycopg import AsyncConnection

from harry_mcp.app import App
from harry_mcp.domain.curation import QueueTab, ReviewAction, ReviewOutcome
from harry_mcp.domain.documents import DocumentStatus, SourceDocument
from harry_mcp.domain.people import Principal, Role
from harry_mcp.domain.search import SearchFilters
from harry_mcp.errors import InputError, NotFoundError, StorageError
from harry_mcp.stages.curate.flag import RotSignal, flag_rot
from tests.storage.recount import assert_index_is_exact, rows

A, S = ReviewAction, DocumentStatus
CURATOR = Principal(subject="ann", via="test", role=Role.CURATOR, trusted=True)
TEXTS = {
    "Keys": "Rotate an API key under Settings; the old key works for one hour.",
    "Invoices": "Invoices are sent on the first day of the month to the billing address.",
    "Webhooks": "A webhook is retried five times, then it is switched off.",
}


def document(title: str, text: str = "") -> SourceDocument:
    return SourceDocument(
        source=f"test:{title}",
        title=title,
        text=text or TEXTS[title],
        language="en",
        url=f"https://docs.example.com/{title.lower()}",
    )


async def ingest(app: App, *titles: str, status: DocumentStatus = S.LIVE) -> list[str]:
    made = [document(title) for title in titles or TEXTS]
    await app.ingester.ingest(made, status=status)
    return [each.id for each in made]


async def flag(app: App, document_id: str, signal: RotSignal = RotSignal.NEGATIVE_FEEDBACK) -> None:
    async with app.database.transaction() as unit:
        await flag_rot(unit, document_id, signal, actor="test", detail={"reason": "outdated"})


async def act(
    app: App, action: ReviewAction, *ids: str, text: str = "", title: str = "", reason: str = ""
) -> ReviewOutcome:
    return await app.loop.review.act(action, ids, CURATOR, text=text, title=title, reason=reason)


async def status(app: App, document_id: str) -> DocumentStatus:
    async with app.database.reading() as unit:
        found = await unit.documents.get(document_id)
    assert found
    return found.status


async def first(app: App, question: str) -> str:
    found = await app.loop.search(question, record=False)
    return found.hits[0].passage.title if found.hits else ""


@pytest.mark.promise("CUR-6")
async def test_every_action_is_done_and_recorded_in_one_transaction(app: App, connection: AsyncConnection[Any]) -> None:
    (key,) = await ingest(app, "Keys", status=S.PENDING)
    steps: list[tuple[ReviewAction, DocumentStatus, dict[str, str]]] = [
        (A.REWRITE, S.PENDING, {"text": "Rotate a key under Settings. The old key works for two hours."}),
        (A.APPROVE, S.LIVE, {}),
        (A.ARCHIVE, S.ARCHIVED, {}),
        (A.RESTORE, S.LIVE, {}),
    ]
    done: list[str] = []
    for action, after, told in steps:
        outcome = await act(app, action, key, reason=f"because of {action.value}\nask bob@acme-tools.org", **told)
        assert [change.after for change in outcome.done] == [after]
        assert await status(app, key) is after
        assert outcome.undo_until
        done.append(outcome.action_id)
    await flag(app, key)
    done.append((await act(app, A.KEEP, key)).action_id)
    assert await status(app, key) is S.FLAGGED
    recorded = "SELECT event, actor, detail ->> 'action_id' FROM kb_curation_log WHERE event <> 'flag' ORDER BY id"
    reasons = (
        "SELECT reason FROM audit_log UNION SELECT reason FROM review_actions UNION SELECT detail ->> 'reason' FROM "
    )
    for (reason,) in await rows(connection, f"{reasons} kb_curation_log WHERE event <> 'flag'"):
        assert "bob@acme-tools.org" not in reason, "what is private in it is taken out"
        assert "\n" not in reason
    names = ["rewrite", "approve", "archive", "restore", "keep"]
    assert await rows(connection, recorded) == [
        (name, "test:ann", action_id) for name, action_id in zip(names, done, strict=True)
    ]
    audited = "SELECT action, actor, role, target_id, target, action_id, xmin FROM audit_log ORDER BY id"
    trail = await rows(connection, audited)
    assert [row[:6] for row in trail] == [
        (name, "test:ann", "curator", key, "Keys", action_id) for name, action_id in zip(names, done, strict=True)
    ]
    both = "SELECT l.xmin = a.xmin FROM kb_curation_log l JOIN audit_log a ON a.action_id = l.detail ->> 'action_id'"
    assert set(await rows(connection, both)) == {(True,)}
    await assert_index_is_exact(connection)


@pytest.mark.promise("CUR-6")
async def test_what_an_action_is_not_for_is_left_and_named(app: App) -> None:
    live, other, _ = await ingest(app)
    await flag(app, other)
    outcome = await act(app, A.APPROVE, live, other, "doc_none", other)
    assert [(change.document_id, change.before, change.after) for change in outcome.done] == [
        (other, S.FLAGGED, S.LIVE)
    ]
    assert {each.document_id: each.reason.split(",")[0] for each in outcome.refused} == {
        live: "It is live",
        "doc_none": "There is no such document; list_review_queue and search_kb show the ids.",
    }
    nothing = await act(app, A.REJECT, live)
    assert (nothing.action_id, nothing.done) == ("", ())
    assert [each.action for each in await app.loop.review.recent(limit=10)] == [A.APPROVE]


@pytest.mark.promise("CUR-6")
async def test_who_may_not_and_what_cannot_be_is_refused(app: App) -> None:
    (key, *_) = await ingest(app)
    reader = Principal(subject="bob", via="test", role=Role.CONTRIBUTOR, trusted=True)
    review = app.loop.review
    with pytest.raises(InputError, match="takes the role curator"):
        await review.act(A.ARCHIVE, [key], reader)
    with pytest.raises(InputError, match="takes the role curator"):
        await review.rollback("act_x", reader)
    with pytest.raises(InputError, match="No document is named"):
        await review.act(A.ARCHIVE, [" "], CURATOR)
    with pytest.raises(InputError, match="at most 100 are taken at a time"):
        await review.act(A.ARCHIVE, [f"doc_{n}" for n in range(101)], CURATOR)
    with pytest.raises(InputError, match="needs the whole new text"):
        await review.act(A.REWRITE, [key], CURATOR, text=" \u200b ")
    with pytest.raises(InputError, match="holds no word"):
        await review.act(A.REWRITE, [key], CURATOR, text="—", title="Keys")
    with pytest.raises(InputError, match="one by one"):
        await review.act(A.REWRITE, [key, "doc_x"], CURATOR, text="New.")
    with pytest.raises(InputError, match="takes no text"):
        await review.act(A.ARCHIVE, [key], CURATOR, text="New.")
    with pytest.raises(NotFoundError, match="no action 'act_none'"):
        await review.rollback("act_none", CURATOR)
    same = await review.act(A.REWRITE, [key], CURATOR, text=TEXTS["Keys"])
    assert [each.reason for each in same.refused] == ["This is its title and text already."]
    assert await status(app, key) is S.LIVE


@pytest.mark.promise("CUR-8")
async def test_a_rewrite_is_found_at_once_and_outlives_the_next_reading_of_its_source(
    app: App, connection: AsyncConnection[Any]
) -> None:
    (key, *_) = await ingest(app)
    new = "# Zebra\n\nThe zebra procedure replaces rotation.\n\n## Steps\n\nAsk the zebra desk."
    outcome = await act(app, A.REWRITE, key, text=new, title="Zebra keys")
    await assert_index_is_exact(connection)
    assert await first(app, "zebra procedure") == "Zebra keys"
    assert (await app.loop.search("hour", record=False)).hits[0].candidate.keyword_rank == 0, "the old words are gone"
    seen = await app.loop.review.document(key)
    assert (seen.document.version, seen.text) == (2, new)
    assert [(each.version, each.title, each.action_id) for each in seen.versions] == [(1, "Keys", outcome.action_id)]
    assert any(pair.before in TEXTS["Keys"] and pair.before for pair in seen.differences)
    assert any("zebra" in pair.after for pair in seen.differences)
    read_again = await app.ingester.ingest([document("Keys")])
    assert read_again.unchanged == ["Keys"], "the source says what it said when it was rewritten"
    assert (await app.loop.review.document(key)).text == new
    changed = await app.ingester.ingest([document("Keys", "Rotate a key on the keys page.")])
    assert changed.changed == ["Keys"], "the source says something new"
    await assert_index_is_exact(connection)


@pytest.mark.promise("CUR-7")
async def test_a_bulk_action_is_undone_once_and_as_a_whole(app: App, connection: AsyncConnection[Any]) -> None:
    ids = await ingest(app)
    await flag(app, ids[1])
    question = "When are invoices sent?"
    before = await app.loop.search(question, record=False)
    outcome = await act(app, A.ARCHIVE, *ids)
    assert await first(app, question) == ""
    undone = await app.loop.review.rollback(outcome.action_id, CURATOR)
    assert [await status(app, key) for key in ids] == [S.LIVE, S.FLAGGED, S.LIVE]
    await assert_index_is_exact(connection)
    after = await app.loop.search(question, record=False)
    assert [hit.candidate.score for hit in after.hits] == [hit.candidate.score for hit in before.hits]
    with pytest.raises(InputError, match=f"undone already, by {undone.action_id}"):
        await app.loop.review.rollback(outcome.action_id, CURATOR)
    with pytest.raises(InputError, match="A rollback is not undone itself"):
        await app.loop.review.rollback(undone.action_id, CURATOR)
    log = await rows(connection, "SELECT event, before, after FROM kb_curation_log WHERE event = 'undo' ORDER BY after")
    assert log == [("undo", "archived", "flagged"), ("undo", "archived", "live"), ("undo", "archived", "live")]
    recent = await app.loop.review.recent(limit=10)
    assert [(each.action, each.undoable, each.undone_by, each.undoes) for each in recent] == [
        (A.UNDO, False, "", outcome.action_id),
        (A.ARCHIVE, False, undone.action_id, ""),
    ]


@pytest.mark.promise("CUR-7")
async def test_what_stands_on_top_is_undone_first(app: App) -> None:
    one, two, _ = await ingest(app)
    lower = await act(app, A.ARCHIVE, one, two)
    upper = await act(app, A.RESTORE, two)
    with pytest.raises(InputError, match=f"undo {upper.action_id} first"):
        await app.loop.review.rollback(lower.action_id, CURATOR)
    assert await status(app, one) is S.ARCHIVED, "nothing of it was undone"
    await app.loop.review.rollback(upper.action_id, CURATOR)
    await app.loop.review.rollback(lower.action_id, CURATOR)
    assert [await status(app, key) for key in (one, two)] == [S.LIVE, S.LIVE]


@pytest.mark.promise("CUR-7")
async def test_what_changed_by_other_means_is_not_undone_over(app: App, connection: AsyncConnection[Any]) -> None:
    ids = await ingest(app)
    rewritten = await act(app, A.REWRITE, ids[0], text="A new text.")
    await app.ingester.ingest([document("Keys", "A newer text from the source.")])
    with pytest.raises(InputError, match="ingested anew since and has another text"):
        await app.loop.review.rollback(rewritten.action_id, CURATOR)
    archived = await act(app, A.ARCHIVE, ids[1])
    async with app.database.transaction() as unit:
        await unit.documents.set_status(ids[1], S.LIVE)
    with pytest.raises(InputError, match="changed outside of the review"):
        await app.loop.review.rollback(archived.action_id, CURATOR)
    gone = await act(app, A.REWRITE, ids[2], text="Another text.")
    async with app.database.transaction() as unit:
        await unit.documents.delete(ids[2])
    with pytest.raises(InputError, match="removed for good"):
        await app.loop.review.rollback(gone.action_id, CURATOR)
    assert await rows(connection, "SELECT count(*) FROM document_versions WHERE title = 'Webhooks'") == [(0,)]
    await ingest(app, "Webhooks")
    with pytest.raises(InputError, match="removed for good"):
        await app.loop.review.rollback(gone.action_id, CURATOR)
    await assert_index_is_exact(connection)


@pytest.mark.promise("CUR-7")
async def test_after_the_last_day_nothing_is_undone(app: App, connection: AsyncConnection[Any]) -> None:
    ids = await ingest(app)
    old, young = (await act(app, A.ARCHIVE, ids[0])).action_id, (await act(app, A.ARCHIVE, ids[1])).action_id
    move = "UPDATE review_actions SET created_at = now() - interval '6 days 23 hours' - %s::interval WHERE id = %s"
    await connection.execute(move.encode(), ["2 hours", old])
    await connection.execute(move.encode(), ["0", young])
    with pytest.raises(InputError, match="older than the 7 days"):
        await app.loop.review.rollback(old, CURATOR)
    await app.loop.review.rollback(young, CURATOR)
    assert [await status(app, key) for key in ids[:2]] == [S.ARCHIVED, S.LIVE]


@pytest.mark.promise("CUR-7")
async def test_of_undos_at_the_same_time_one_wins(app: App) -> None:
    ids = await ingest(app)
    outcome = await act(app, A.ARCHIVE, *ids)
    ended = await asyncio.gather(
        *(app.loop.review.rollback(outcome.action_id, CURATOR) for _ in range(3)), return_exceptions=True
    )
    assert sorted(type(each).__name__ for each in ended) == ["InputError", "InputError", "ReviewOutcome"]


@pytest.mark.promise("CUR-5")
@pytest.mark.promise("CUR-7")
async def test_a_signal_in_between_still_counts(app: App) -> None:
    (key, *_) = await ingest(app)
    rewritten = await act(app, A.REWRITE, key, text="Another text about keys.")
    await flag(app, key)
    await app.loop.review.rollback(rewritten.action_id, CURATOR)
    assert await status(app, key) is S.FLAGGED
    approved = await act(app, A.APPROVE, key)
    archived = await act(app, A.ARCHIVE, key)
    await flag(app, key, RotSignal.STALE)
    await app.loop.review.rollback(archived.action_id, CURATOR)
    assert await status(app, key) is S.FLAGGED, "it was said while nobody saw it"
    await app.loop.review.rollback(approved.action_id, CURATOR)
    seen = await app.loop.review.document(key)
    assert seen.document.status is S.FLAGGED
    assert [each.signal for each in seen.signals] == ["stale", "negative_feedback"]
    assert set(seen.document.caveats) == {"stale", "negative_feedback"}


@pytest.mark.promise("CUR-6")
async def test_the_audit_log_is_only_added_to(app: App, connection: AsyncConnection[Any]) -> None:
    (key, *_) = await ingest(app)
    await act(app, A.ARCHIVE, key)
    for statement in ("UPDATE audit_log SET actor = 'nobody'", "DELETE FROM audit_log", "TRUNCATE audit_log"):
        with pytest.raises(Exception, match="only added to"):
            await connection.execute(statement.encode())
    assert len(await rows(connection, "SELECT FROM audit_log")) == 1


@pytest.mark.promise("CUR-12")
async def test_the_queue_is_in_the_order_of_harm(app: App, connection: AsyncConnection[Any]) -> None:
    keys, invoices, webhooks = await ingest(app)
    for _ in range(7):
        await app.loop.search("When are invoices sent?", filters=SearchFilters(source="test:Invoices"))
    await app.loop.settled()
    await connection.execute(b"UPDATE documents SET updated_at = now() - interval '400 days' WHERE title = 'Webhooks'")
    for key in (keys, invoices, webhooks):
        await flag(app, key)
    for signal in (RotSignal.STALE, RotSignal.STALE, RotSignal.DEAD_SOURCE):
        await flag(app, keys, signal)
    page = await app.loop.review.queue(QueueTab.FLAGGED, limit=10)
    assert [(item.title, item.harm.score, item.harm.signals, item.signal_count) for item in page.items] == [
        ("Keys", 6.0, 3, 4),
        ("Invoices", 5.0, 1, 1),
        ("Webhooks", 4.0, 1, 1),
    ]
    kept = await act(app, A.KEEP, keys)
    after = await app.loop.review.queue(QueueTab.FLAGGED, limit=10)
    assert [item.title for item in after.items] == ["Invoices", "Webhooks", "Keys"]
    assert after.items[2].last_action == "keep"
    assert all(signal.settled for signal in after.items[2].signals)
    await act(app, A.KEEP, invoices)
    await flag(app, keys, RotSignal.CONTRADICTION)
    again = await app.loop.review.queue(QueueTab.FLAGGED, limit=10)
    assert [(item.title, item.harm.signals) for item in again.items] == [("Webhooks", 1), ("Keys", 1), ("Invoices", 0)]
    second = await app.loop.review.queue(QueueTab.FLAGGED, limit=1, offset=1)
    assert (second.items, second.total) == (again.items[1:2], 3)
    await app.loop.review.rollback(kept.action_id, CURATOR)
    back = await app.loop.review.queue(QueueTab.FLAGGED, limit=10)
    assert (back.items[0].title, back.items[0].harm.signals) == ("Keys", 4)
    assert (await app.loop.review.queue(QueueTab.PENDING, limit=10)).total == 0


async def test_a_failure_in_the_middle_leaves_nothing(app: App, connection: AsyncConnection[Any]) -> None:
    ids = await ingest(app)
    await connection.execute(
        b"CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.target = 'Webhooks' THEN "
        b"RAISE EXCEPTION 'no room'; END IF; RETURN NEW; END $$"
    )
    await connection.execute(b"CREATE TRIGGER fail BEFORE INSERT ON audit_log FOR EACH ROW EXECUTE FUNCTION fail()")
    with pytest.raises(StorageError, match="no room"):
        await act(app, A.ARCHIVE, *ids)
    assert [await status(app, key) for key in ids] == [S.LIVE] * 3
    for table in ("review_actions", "review_changes", "kb_curation_log", "audit_log"):
        assert await rows(connection, f"SELECT FROM {table}") == []
    await assert_index_is_exact(connection)
