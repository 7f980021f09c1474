"""COR-5, CUR-4: what was said against a document and is taken back speaks against it no more."""

from __future__ import annotations

import pytest

from harry_mcp.domain.corrections import CorrectionAction
from harry_mcp.domain.curation import ReviewAction
from harry_mcp.domain.documents import DocumentStatus
from harry_mcp.domain.feedback import FeedbackOutcome, Opinion, Rating
from harry_mcp.domain.rot import RotSignal
from harry_mcp.domain.search import SearchResult
from harry_mcp.stages.curate.flag import flag_rot
from tests.stages.curate.knowledge import Knowledge
from tests.stages.curate.test_feedback import FEEDBACK, KEYS, OWNER, STORED, lesson

pytestmark = pytest.mark.promise("CUR-4")
QUESTION = "How do I rotate an API key?"


async def corrected(knowledge: Knowledge, number: int = 1) -> str:
    (made,) = await knowledge.app.loop.submit_correction(lesson(KEYS.url, number), OWNER)
    return made.correction.id


async def give_up(knowledge: Knowledge, key: str) -> None:
    await knowledge.app.loop.corrections.review(key, CorrectionAction.DEPRECATE, OWNER)


async def say(knowledge: Knowledge, found: SearchResult, rating: Rating, *urls: str) -> FeedbackOutcome:
    reason = "wrong" if rating is Rating.DOWN else ""
    opinion = Opinion(result_id=found.search_id, rating=rating, reason=reason, source_urls=urls)
    return await knowledge.app.loop.submit_feedback(opinion, OWNER)


async def told(knowledge: Knowledge) -> tuple[str, ...]:
    result = await knowledge.app.loop.search(QUESTION)
    return next(hit.caveats for hit in result.hits if hit.passage.title == KEYS.title)


async def signalled(knowledge: Knowledge, signal: RotSignal = RotSignal.DEAD_SOURCE) -> None:
    async with knowledge.app.database.transaction() as unit:
        detail = {"since": "2026-03-01", "kind": "gone", "status": 404}
        await flag_rot(unit, KEYS.id, signal, actor="job", detail=detail, evidence="x")


async def test_a_correction_that_is_given_up_takes_its_caveat_and_its_flag_along(knowledge: Knowledge) -> None:
    await knowledge.add(KEYS, STORED)
    key = await corrected(knowledge)
    assert key in "".join(await told(knowledge))
    preview = await knowledge.app.loop.corrections.preview(key, CorrectionAction.DEPRECATE)
    assert preview.effects == (f"It takes back what was said against “{KEYS.title}” ({KEYS.id}).",)
    await give_up(knowledge, key)
    assert (await told(knowledge), await knowledge.flagged()) == ((), [])
    rows = await knowledge.rows(
        "SELECT event, before, after, detail ->> 'correction_id' FROM kb_curation_log ORDER BY id DESC LIMIT 1"
    )
    assert rows == [("withdraw", "flagged", "live", key)]
    audited = await knowledge.rows("SELECT action, target_id FROM audit_log WHERE action = 'withdraw'")
    assert audited == [("withdraw", KEYS.id)]
    # The job does not find it again, and who says it anew is heard.
    assert (await knowledge.check(FEEDBACK)).flagged == 0
    await knowledge.app.loop.corrections.review(key, CorrectionAction.APPROVE, OWNER)
    assert await knowledge.flagged() == [KEYS.title]
    await give_up(knowledge, key)
    assert await knowledge.flagged() == []


async def test_what_else_speaks_against_it_stays(knowledge: Knowledge) -> None:
    await knowledge.add(KEYS)
    key = await corrected(knowledge)
    await signalled(knowledge)
    await give_up(knowledge, key)
    caveats = await told(knowledge)
    assert (await knowledge.flagged(), len(caveats)) == ([KEYS.title], 2)
    assert "Its source is gone" in caveats[1]


async def test_of_two_that_said_so_the_other_is_told(knowledge: Knowledge) -> None:
    await knowledge.add(KEYS)
    first = await corrected(knowledge)
    found = await knowledge.app.loop.search(QUESTION)
    await say(knowledge, found, Rating.DOWN, KEYS.url)
    outcome = await say(knowledge, found, Rating.UP, KEYS.url)
    assert any("taken back" in effect for effect in outcome.effects)
    caveats = await told(knowledge)
    assert (len(caveats), first in caveats[1]) == (2, True)


async def test_praise_in_place_of_a_complaint_takes_back_what_it_said(knowledge: Knowledge) -> None:
    await knowledge.add(KEYS, STORED)
    found = await knowledge.app.loop.search(QUESTION)
    await say(knowledge, found, Rating.DOWN, KEYS.url, STORED.url)
    assert await knowledge.flagged() == [KEYS.title, STORED.title]
    # Another complaint that blames one of them only takes back the other.
    await say(knowledge, found, Rating.DOWN, STORED.url)
    assert await knowledge.flagged() == [STORED.title]
    outcome = await say(knowledge, found, Rating.UP, STORED.url)
    assert (outcome.replaced, await knowledge.flagged(), await told(knowledge)) == (True, [], ())
    await say(knowledge, found, Rating.DOWN, KEYS.url)
    assert await knowledge.flagged() == [KEYS.title]


async def test_a_decision_of_a_curator_stands(knowledge: Knowledge) -> None:
    await knowledge.add(KEYS)
    key = await corrected(knowledge)
    kept = await knowledge.app.loop.review.act(ReviewAction.KEEP, [KEYS.id], OWNER)
    await give_up(knowledge, key)
    assert await knowledge.flagged() == [KEYS.title]
    assert len(await told(knowledge)) == 1
    # Taken back, it never was: nothing speaks against the page any more, and nobody kept it flagged.
    undone = await knowledge.app.loop.review.rollback(kept.action_id, OWNER)
    assert undone.done[0].after is DocumentStatus.LIVE
    assert (await told(knowledge), await knowledge.flagged()) == ((), [])


async def test_an_undo_brings_back_nothing_that_was_taken_back(knowledge: Knowledge) -> None:
    await knowledge.add(KEYS)
    key = await corrected(knowledge)
    done = await knowledge.app.loop.review.act(ReviewAction.ARCHIVE, [KEYS.id], OWNER)
    await give_up(knowledge, key)
    undone = await knowledge.app.loop.review.rollback(done.action_id, OWNER)
    assert undone.done[0].after is DocumentStatus.LIVE
    assert (await told(knowledge), await knowledge.flagged()) == ((), [])
