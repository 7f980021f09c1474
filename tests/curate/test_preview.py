"""CUR-13: before a document goes live or away, which past questions change; COR-8: a draft closes its correction."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from psycopg import AsyncConnection

from harry_mcp.app import App
from harry_mcp.domain.corrections import CorrectionAction, CorrectionStatus, Lesson
from harry_mcp.domain.curation import ReviewAction
from harry_mcp.domain.documents import DocumentStatus, SourceDocument
from harry_mcp.domain.verified import Match, VerifiedAction, VerifiedSource
from harry_mcp.storage.database import Database
from tests.curate.test_review import CURATOR, act, document, ingest, status
from tests.storage.recount import assert_index_is_exact, rows

A, S = ReviewAction, DocumentStatus
LOGS = ("review_actions", "review_changes", "kb_curation_log", "audit_log", "document_versions")


async def asked(app: App, *questions: str) -> None:
    for question in questions:
        await app.loop.search(question)
    await app.loop.settled()


@pytest.mark.promise("CUR-13")
async def test_a_draft_is_tried_on_past_questions_and_nobody_sees_it(
    app: App, connection: AsyncConnection[Any]
) -> None:
    await ingest(app, "Invoices", "Webhooks")
    await asked(app, "How do I rotate an API key?", "How do I rotate an API key?", "When are invoices sent?")
    (draft,) = await ingest(app, "Keys", status=S.PENDING)
    before = await rows(connection, "SELECT revision FROM corpus")
    preview = await app.loop.review.preview(A.APPROVE, [draft])
    assert [(change.before, change.after) for change in preview.changes] == [(S.PENDING, S.LIVE)]
    assert [(each.question, each.asked, each.after.title) for each in preview.answers] == [
        ("How do I rotate an API key?", 2, "Keys")
    ]
    assert preview.answers[0].before.title != "Keys"
    assert preview.answers[0].after.score > preview.answers[0].before.score
    assert preview.asked >= 1
    assert "local ranker" in preview.note
    assert await status(app, draft) is S.PENDING
    assert await rows(connection, "SELECT revision FROM corpus") == before
    for table in LOGS:
        assert await rows(connection, f"SELECT FROM {table}") == []
    await assert_index_is_exact(connection)
    # What the rehearsal remembered of its own revision reached no search.
    await act(app, A.APPROVE, draft)
    found = await app.loop.search("How do I rotate an API key?", record=False)
    assert (found.hits[0].passage.title, found.verdict.score) == ("Keys", preview.answers[0].after.score)


@pytest.mark.promise("CUR-13")
async def test_what_goes_away_or_is_rewritten_is_tried_too(app: App) -> None:
    keys, invoices, _ = await ingest(app)
    await asked(app, "How do I rotate an API key?", "When are invoices sent?")
    gone = await app.loop.review.preview(A.ARCHIVE, [keys, "doc_none"])
    assert [each.document_id for each in gone.refused] == ["doc_none"]
    changed = {each.question: (each.before.title, each.after.title) for each in gone.answers}
    assert changed["How do I rotate an API key?"][0] == "Keys"
    assert changed["How do I rotate an API key?"][1] != "Keys"
    assert "When are invoices sent?" not in changed
    text = "Rotate an API key: invoices are sent when keys are rotated, on the first day."
    rewritten = await app.loop.review.preview(A.REWRITE, [invoices], text=text)
    assert {each.after.title for each in rewritten.answers} <= {"Invoices"}
    assert await status(app, keys) is S.LIVE
    assert (await app.loop.review.document(invoices)).document.version == 1


@pytest.mark.promise("CUR-13")
async def test_it_is_bounded_and_says_what_it_left_out(app: App) -> None:
    keys, *_ = await ingest(app)
    await asked(app, *(f"How do I rotate an API key number {number}?" for number in range(24)))
    preview = await app.loop.review.preview(A.ARCHIVE, [keys])
    assert 1 <= preview.asked <= 20
    assert preview.asked + preview.unasked == 24
    nothing = await app.loop.review.preview(A.ARCHIVE, [keys], answers=False)
    assert (nothing.asked, nothing.answers) == (0, ())
    assert len(nothing.changes) == 1


@pytest.mark.promise("CUR-13")
async def test_a_busy_writer_costs_the_preview_its_answers_and_no_more(app: App, database: Database) -> None:
    keys, *_ = await ingest(app)
    await asked(app, "How do I rotate an API key?")
    async with database.transaction() as unit:
        await unit.keywords.lock()
        preview = await app.loop.review.preview(A.ARCHIVE, [keys])
    assert "could not be asked: Other work holds what this needs" in preview.note
    assert [change.after for change in preview.changes] == [S.ARCHIVED]


@pytest.mark.promise("CUR-13")
async def test_searches_go_on_while_it_is_tried(app: App) -> None:
    keys, *_ = await ingest(app)
    await asked(app, *(f"How do I rotate an API key number {number}?" for number in range(8)))
    trying = asyncio.ensure_future(app.loop.review.preview(A.ARCHIVE, [keys]))
    titles: set[str] = set()
    while not trying.done():
        found = await app.loop.search("How do I rotate an API key?", record=False)
        titles.add(found.hits[0].passage.title)
    await trying
    assert titles == {"Keys"}


@pytest.mark.promise("COR-8")
@pytest.mark.promise("CUR-7")
async def test_a_draft_closes_its_correction_and_an_undo_opens_it_again(
    app: App, connection: AsyncConnection[Any]
) -> None:
    lesson = Lesson(wrong="Keys last a day.", truth="Keys last an hour.", line="Old API keys work for one hour.")
    (submitted,) = await app.loop.submit_correction(lesson, CURATOR)
    promoted = await app.loop.corrections.review(submitted.correction.id, CorrectionAction.PROMOTE, CURATOR)
    draft = promoted.document_id
    stored = "SELECT status, status_reason, decided_by, updated_at FROM corrections"
    before = await rows(connection, stored)
    preview = await app.loop.review.preview(A.APPROVE, [draft])
    assert preview.changes[0].notes == ("1 correction that it was made of closed: the document says it.",)
    assert (await app.loop.corrections.get(promoted.id)).status is CorrectionStatus.ACTIVE
    approved = await act(app, A.APPROVE, draft)
    assert (await app.loop.corrections.get(promoted.id)).status is CorrectionStatus.DEPRECATED
    assert (await app.loop.search("How long do old API keys work?", record=False)).hits
    await app.loop.review.rollback(approved.action_id, CURATOR)
    assert await rows(connection, stored) == before
    again = await app.loop.search("How long do old API keys work?")
    assert [each.correction.id for each in again.corrections] == [promoted.id]
    approved = await act(app, A.APPROVE, draft)
    await app.loop.corrections.review(promoted.id, CorrectionAction.APPROVE, CURATOR)
    undone = await app.loop.review.rollback(approved.action_id, CURATOR)
    assert undone.done[0].notes == (f"{promoted.id} stayed as it is: somebody decided about it since.",)


@pytest.mark.promise("CUR-7")
async def test_an_official_answer_is_held_back_and_served_again(app: App) -> None:
    keys, *_ = await ingest(app)
    question = "How do I rotate an API key?"
    source = VerifiedSource(title="Keys", url="", document_id=keys)
    entry = await app.loop.verified.add(question, "Under Settings.", [source], origin="test", by=CURATOR)
    await app.loop.verified.review(entry.id, VerifiedAction.APPROVE, CURATOR)
    assert (await app.loop.lookup(question)).verified.match is Match.EXACT
    rewritten = await act(app, A.REWRITE, keys, text="Rotate an API key on the keys page of the API settings.")
    assert rewritten.done[0].notes == ("1 official answer that cites it is held back until a curator vouches again.",)
    assert (await app.loop.lookup(question)).verified.match is not Match.EXACT
    await app.loop.verified.review(entry.id, VerifiedAction.APPROVE, CURATOR)
    assert (await app.loop.lookup(question)).verified.match is Match.EXACT, "vouched for with the new text"
    await app.loop.review.rollback(rewritten.action_id, CURATOR)
    assert (await app.loop.lookup(question)).verified.match is not Match.EXACT
    await act(app, A.REWRITE, keys, text="Quite another text about how to rotate an API key.")
    assert (await app.loop.lookup(question)).verified.match is not Match.EXACT, "version 2 again, but not that one"


@pytest.mark.promise("CUR-12")
async def test_searches_remember_the_documents_of_their_first_passages(
    app: App, connection: AsyncConnection[Any]
) -> None:
    many = [document(f"Page {number}", f"Rotate key number {number}.") for number in range(8)]
    await app.ingester.ingest(many)
    await app.ingester.ingest([SourceDocument(source="test:other", title="Other", text="Invoices.", language="en")])
    await asked(app, "How do I rotate key number 3?")
    ((first, ranking),) = await rows(connection, "SELECT first_documents, ranking FROM searches")
    assert first == [item["document_id"] for item in ranking[:5]]
    assert len(first) == 5
