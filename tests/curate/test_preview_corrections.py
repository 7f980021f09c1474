"""CUR-13: before a correction goes live or is given up, which past questions it would go into, or leave."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import AsyncConnection

from harry_mcp.app import App
from harry_mcp.domain.corrections import CorrectionAction, CorrectionStatus, Lesson
from harry_mcp.errors import InputError, NotFoundError
from harry_mcp.settings import Settings
from harry_mcp.storage.database import Database
from tests.curate.test_review import CURATOR
from tests.loop.small_base import STRANGER, filled
from tests.server.test_review_tools import client
from tests.server.test_stdio import structured, text_of
from tests.storage.recount import rows

pytestmark = pytest.mark.promise("CUR-13")
ABOUT, BESIDE = "How many requests a minute does the API allow?", "When are invoices sent?"
LESSON = Lesson(
    wrong="The API allows 600 requests a minute.",
    truth="The API allows 900 requests a minute.",
    line="The API allows 900 requests a minute, not 600.",
    source_url="https://docs.example.com/rate-limits",
)
STORED = "SELECT id, status, status_reason, decided_by, updated_at FROM corrections"


async def asked(app: App) -> None:
    await filled(app)
    for question in (ABOUT, ABOUT, BESIDE):
        await app.loop.search(question)
    await app.loop.settled()


async def goes_into(app: App) -> bool:
    return bool((await app.loop.search(ABOUT)).corrections)


async def test_the_questions_are_those_whose_answers_then_change(app: App, connection: AsyncConnection[Any]) -> None:
    await asked(app)
    (submitted,) = await app.loop.submit_correction(LESSON, STRANGER)
    key = submitted.correction.id
    assert submitted.correction.status is CorrectionStatus.PENDING
    before = await rows(connection, STORED)
    preview = await app.loop.corrections.preview(key, CorrectionAction.APPROVE)
    assert [(each.question, each.asked, each.goes_in) for each in preview.changes] == [(ABOUT, 2, True)]
    assert preview.effects == (f"It flags “Rate limits” ({await _document(connection)}).",)
    assert await rows(connection, STORED) == before
    assert await rows(connection, "SELECT FROM kb_curation_log") == []
    assert await rows(connection, "SELECT FROM audit_log") == []
    assert not await goes_into(app), "nobody saw the rehearsal"
    await app.loop.corrections.review(key, CorrectionAction.APPROVE, CURATOR)
    assert await goes_into(app), "it was right"
    back = await app.loop.corrections.preview(key, CorrectionAction.DEPRECATE)
    assert [(each.question, each.goes_in) for each in back.changes] == [(ABOUT, False)]
    assert [each.startswith("It takes back what was said against “Rate limits”") for each in back.effects] == [True]
    assert await goes_into(app)
    with pytest.raises(InputError, match="is active already"):
        await app.loop.corrections.preview(key, CorrectionAction.APPROVE)
    with pytest.raises(NotFoundError):
        await app.loop.corrections.preview("cor_none", CorrectionAction.APPROVE)
    draft = await app.loop.corrections.preview(key, CorrectionAction.PROMOTE)
    assert (draft.changes, draft.asked) == ((), 0)
    assert "A draft changes no answer while it waits" in draft.note


async def _document(connection: AsyncConnection[Any]) -> str:
    ((key,),) = await rows(connection, "SELECT id FROM documents WHERE title = 'Rate limits'")
    return str(key)


async def test_one_that_another_outranks_everywhere_changes_nothing(app: App) -> None:
    """The very choice that agents meet: what does not come among the first few goes into no answer."""
    await asked(app)
    for minutes in ("minute", "minute at most", "minute as of now", "minute for each key"):
        line = f"How many requests a {minutes} does the API allow: 900."
        await app.loop.submit_correction(Lesson(wrong="600.", truth=f"900 a {minutes}.", line=line), CURATOR)
    (submitted,) = await app.loop.submit_correction(LESSON, STRANGER)
    preview = await app.loop.corrections.preview(submitted.correction.id, CorrectionAction.APPROVE)
    then = [each.goes_in for each in preview.changes]
    await app.loop.corrections.review(submitted.correction.id, CorrectionAction.APPROVE, CURATOR)
    served = {each.correction.id for each in (await app.loop.search(ABOUT)).corrections}
    assert (submitted.correction.id in served) is (then == [True])


async def test_what_is_held_by_somebody_costs_the_preview_its_questions_and_no_more(
    app: App, database: Database
) -> None:
    await asked(app)
    (submitted,) = await app.loop.submit_correction(LESSON, STRANGER)
    async with database.transaction() as unit:
        await unit.corrections.decide(submitted.correction.id, CorrectionStatus.PENDING, reason="", by="bob")
        preview = await app.loop.corrections.preview(submitted.correction.id, CorrectionAction.APPROVE)
    assert "could not be tried: Other work holds what this needs" in preview.note


@pytest.mark.promise("MCP-1")
async def test_a_curator_asks_the_tool_first(settings: Settings, app: App) -> None:
    await asked(app)
    (submitted,) = await app.loop.submit_correction(LESSON, STRANGER)
    wish = {"correction_id": submitted.correction.id, "action": "approve"}
    async with client(settings) as session:
        result = await session.call_tool("review_correction", {**wish, "preview": True})
        found = structured(result)
        assert (found["outcome"], found["corrections"][0]["status"]) == ("preview", "pending")
        assert found["questions"] == [{"question": ABOUT, "asked": 2, "goes_in": True}]
        assert found["questions_tried"] == 1
        for fact in (ABOUT, found["effects"][0], found["next_step"], "1 past questions were tried"):
            assert fact in text_of(result)
        done = structured(await session.call_tool("review_correction", wish))
        assert (done["outcome"], done["corrections"][0]["status"]) == ("done", "active")
        assert (done["questions"], done["questions_tried"]) == ([], 0)
