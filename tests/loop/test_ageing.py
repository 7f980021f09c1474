"""COR-11: stale corrections are given up with a reason. EVL-4: what each correction did since it was made."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import AsyncConnection

from harry_mcp.app import App
from harry_mcp.domain.corrections import CorrectionStatus, Lesson
from harry_mcp.domain.feedback import Opinion, Rating
from tests.loop.small_base import ANN, BOB, filled, page

LIMIT = Lesson(
    wrong="The API allows 600 requests a minute.",
    truth="The API allows 900 requests a minute.",
    line="The API allows 900 requests a minute, not 600.",
    source_url="https://docs.example.com/rate-limits",
)
OLD = Lesson(
    wrong="Exports arrive at once.", truth="Exports arrive by mail.", line="Exports arrive by mail, not at once."
)


async def of(app: App, lesson: Lesson) -> CorrectionStatus:
    return (await app.loop.corrections.get(lesson.id)).status


@pytest.mark.promise("COR-11")
async def test_a_correction_whose_page_says_it_now_is_given_up_and_not_before(app: App) -> None:
    await filled(app)
    await app.loop.submit_correction(LIMIT, ANN)
    assert await app.ageing.age_corrections() == []
    await app.ingester.ingest([page("Rate limits", "The API allows 600 requests a minute; write to us for more.")])
    assert await app.ageing.age_corrections() == [], "the page changed and still says what is wrong"
    await app.ingester.ingest([page("Rate limits", "The API allows 900 requests a minute; above that it answers 429.")])
    (aged,) = await app.ageing.age_corrections()
    assert aged.correction_id == LIMIT.id
    assert "its page says it now" in aged.reason
    assert await of(app, LIMIT) is CorrectionStatus.DEPRECATED
    assert (await app.loop.corrections.get(LIMIT.id)).status_reason == aged.reason
    result = await app.loop.search("How many requests does the API allow?")
    assert result.corrections == ()
    assert await app.ageing.age_corrections() == []


@pytest.mark.promise("COR-11")
async def test_a_correction_that_no_answer_used_for_long_is_given_up(
    app: App, connection: AsyncConnection[Any]
) -> None:
    await filled(app)
    await app.loop.submit_correction(OLD, ANN)
    await app.loop.submit_correction(LIMIT, ANN)
    await connection.execute("UPDATE corrections SET updated_at = now() - interval '200 days'")
    await app.loop.search("How many requests a minute does the API allow?")
    aged = await app.ageing.age_corrections()
    assert [(item.correction_id, item.reason) for item in aged] == [(OLD.id, "no answer used it for 180 days")]
    assert await of(app, LIMIT) is CorrectionStatus.ACTIVE


@pytest.mark.promise("EVL-4")
async def test_it_is_counted_how_often_a_correction_served_and_the_complaint_came_back(app: App) -> None:
    await filled(app)
    await app.loop.submit_correction(LIMIT, ANN)
    first = await app.loop.search("How many requests a minute does the API allow?")
    await app.loop.search("What is the API limit a minute?")
    await app.loop.submit_correction(LIMIT, BOB)
    await app.loop.submit_feedback(Opinion(result_id=first.search_id, rating=Rating.DOWN, reason="wrong"), BOB)
    (learnt,) = await app.loop.corrections.learning()
    assert (learnt.id, learnt.served, learnt.reported_again, learnt.complained_of) == (LIMIT.id, 2, 1, 1)
