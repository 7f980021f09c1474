"""MCP-12: a past search told again, and what the same question brings today."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import AsyncConnection

from harry_mcp.app import App
from harry_mcp.domain.corrections import CorrectionAction, Lesson
from harry_mcp.domain.documents import DocumentStatus
from harry_mcp.domain.search import SearchFilters
from harry_mcp.domain.verified import VerifiedAction
from harry_mcp.errors import NotFoundError
from harry_mcp.server.schemas_explained import ExplainReply
from harry_mcp.server.tools.explain_search import explain_reply, explain_text
from tests.loop.small_base import ANN, CURATOR, KEYS, QUESTION, filled, official, page, scalar

pytestmark = pytest.mark.promise("MCP-12")
LESSON = Lesson(
    wrong="The old key works for one hour after rotation.",
    truth="The old key stops at once after rotation.",
    line="After rotation the old API key stops working at once.",
)


async def explained(app: App, search_id: str) -> ExplainReply:
    return explain_reply(await app.loop.explain(search_id))


async def test_what_each_stage_saw_is_told_as_it_was(app: App) -> None:
    await filled(app)
    result = await app.loop.search(QUESTION, k=2)
    told = await explained(app, result.search_id)
    assert (told.question, told.query) == (QUESTION, result.query.text)
    assert (told.then.band, told.then.score) == (result.verdict.band, round(result.verdict.score, 4))
    assert told.then.relevance_source == result.verdict.relevance_source
    assert told.now == told.then
    assert told.changed == ["No document was changed since."]
    assert len(told.passages) == len(result.ranking)
    for rank, (seen, item) in enumerate(zip(told.passages, result.ranking, strict=True), start=1):
        assert (seen.rank, seen.rank_now, seen.chunk_id) == (rank, rank, item.public_id)
        assert (seen.keyword_rank, seen.vector_rank) == (item.keyword_rank, item.vector_rank)
        assert seen.bm25 == pytest.approx(item.bm25, abs=1e-3)
        assert seen.cosine == pytest.approx(-1.0 if item.cosine is None else item.cosine, abs=1e-3)
        assert (seen.score, seen.rrf, seen.fusion) == pytest.approx((item.score, item.rrf, item.fusion), abs=1e-3)
        assert seen.document_status == "live"
    assert told.passages[0].title == KEYS.title
    assert told.timings_ms["total"] > 0


async def test_nothing_is_written_down_or_counted_by_an_explanation(app: App, connection: AsyncConnection[Any]) -> None:
    await filled(app)
    await app.loop.submit_correction(LESSON, ANN)
    entry = await official(app)
    result = await app.loop.search(QUESTION)
    missed = await app.loop.search("Who feeds the office cat?")
    for key in (result.search_id, missed.search_id) * 2:
        await app.loop.explain(key)
    await app.loop.settled()
    for table, number in (("searches", 2), ("verified_lookups", 1), ("correction_injections", 1), ("kb_gap_logs", 1)):
        assert await scalar(connection, f"SELECT count(*) FROM {table}") == number
    assert await scalar(connection, "SELECT uses FROM verified_responses WHERE id = %s", entry.id) == 1
    assert (await explained(app, missed.search_id)).gap_id == missed.gap_id


async def test_corrections_and_the_official_answer_then_and_now(app: App) -> None:
    await filled(app)
    (first,) = await app.loop.submit_correction(LESSON, ANN)
    entry = await official(app)
    result = await app.loop.search(QUESTION)
    told = await explained(app, result.search_id)
    named = f"{first.correction.id}: {LESSON.line}"
    assert (told.corrections, told.corrections_now) == ([named], [named])
    assert told.verified == told.verified_now == f"{entry.id}, exact."
    assert told.changed == ["No document was changed since."]
    assert told.now.next_action == told.then.next_action == "answer"
    # What people said since changes the answer, though no document did.
    await app.loop.corrections.review(first.correction.id, CorrectionAction.DEPRECATE, CURATOR)
    other = Lesson(wrong="It needs a restart.", truth="It needs none.", line="Rotating an API key needs no restart.")
    (second,) = await app.loop.submit_correction(other, ANN)
    await app.loop.verified.review(entry.id, VerifiedAction.RETIRE, CURATOR)
    told = await explained(app, result.search_id)
    assert told.corrections == [named]
    assert told.corrections_now == [f"{second.correction.id}: {other.line}"]
    assert (told.verified, told.verified_now) == (f"{entry.id}, exact.", "")
    assert told.changed == [
        f"The correction {second.correction.id} goes into it today.",
        f"The correction {first.correction.id} does not go into it any more.",
        "The match with an official answer was exact and is none.",
        "No document was changed since.",
    ]
    text = explain_text(told)
    for fact in (*told.changed, named, told.verified, told.corrections_now[0]):
        assert fact in text


@pytest.mark.parametrize("change", ["archived", "deleted", "changed", "another page"])
async def test_a_change_of_the_documents_is_seen(app: App, change: str) -> None:
    await filled(app)
    result = await app.loop.search(QUESTION)
    if change in ("archived", "deleted"):
        async with app.database.transaction() as unit:
            if change == "archived":
                await unit.documents.set_status(KEYS.id, DocumentStatus.ARCHIVED)
            else:
                await unit.documents.delete(KEYS.id)
    else:
        moved = page("API keys", "Cats like fish.") if change == "another page" else None
        await app.ingester.ingest([moved or page("Elephants", "They are grey.")])
    told = await explained(app, result.search_id)
    assert "No document was changed since." not in told.changed
    first = told.passages[0]
    if change in ("archived", "deleted"):
        status = {"archived": "archived", "deleted": "gone"}[change]
        assert (first.rank_now, first.document_status) == (0, status)
        assert any(f"is not found ({status}) today" in sentence for sentence in told.changed)
        assert (first.title == "") == (change == "deleted")
    else:
        assert first.rank_now == 1
        assert told.changed == ["Documents were changed since, and the answer stands."]


async def test_filters_and_the_conversation_are_kept(app: App) -> None:
    await filled(app)
    narrow = await app.loop.search(QUESTION, filters=SearchFilters(source="test:", language="en"))
    told = await explained(app, narrow.search_id)
    assert told.filters == {"source": "test:", "language": "en"}
    assert told.now == told.then
    follow_up = await app.loop.search("and how do I delete it?", history=["user: How do I rotate an API key?"])
    told = await explained(app, follow_up.search_id)
    assert told.question == follow_up.question
    assert told.course.get("asked", follow_up.question) in ("and how do I delete it?", follow_up.question)
    assert [item.rank_now for item in told.passages] == [item.rank for item in told.passages]


async def test_an_unknown_search_is_told_so(app: App) -> None:
    for key in ("srch_none", "", "srch_\x00\ud800", "x" * 10_000):
        with pytest.raises(NotFoundError, match="Pass a search_id that search_kb returned"):
            await app.loop.explain(key)
