"""CUR-2: what is told against a document says what became of it, and of the other side, since."""

from __future__ import annotations

import pytest

from harry_mcp.domain.curation import ReviewAction
from harry_mcp.domain.documents import SourceDocument
from harry_mcp.domain.rot import RotSignal
from tests.stages.curate.knowledge import Knowledge
from tests.stages.curate.test_feedback import OWNER

pytestmark = pytest.mark.promise("CUR-2")
QUESTION = "How many rows does an export of contacts hold?"
NEW = SourceDocument(
    source="test:export",
    title="Exports",
    text="# Exports\n\nAn export of contacts holds 600 rows at most.",
    language="en",
)
OLD = SourceDocument(
    source="test:old-export",
    title="Older exports",
    text="# Older exports\n\nAn export of contacts holds 900 rows at most.",
    language="en",
)


async def contradicting(knowledge: Knowledge) -> None:
    await knowledge.add(NEW, OLD)
    await knowledge.check(RotSignal.CONTRADICTION)
    assert await knowledge.flagged() == [NEW.title, OLD.title]


async def told(knowledge: Knowledge) -> str:
    """The stored caveat of the newer document, as a search and a reading tell it."""
    result = await knowledge.app.loop.search(QUESTION)
    hit = next(hit for hit in result.hits if hit.passage.title == NEW.title)
    page = await knowledge.app.loop.read(NEW.id, offset=0, limit=100)
    assert hit.caveats[:2] == page.caveats
    return hit.caveats[1]


async def test_while_both_stand_the_other_is_named_by_its_title(knowledge: Knowledge) -> None:
    await contradicting(knowledge)
    said = await told(knowledge)
    assert said.startswith(f"“{OLD.title}” ({OLD.id}) says something else")
    assert said.endswith("which of them is right is open. Nobody has checked it since.")


async def test_of_one_whose_other_side_was_archived_nothing_is_told_until_that_is_undone(knowledge: Knowledge) -> None:
    await contradicting(knowledge)
    before = await told(knowledge)
    done = await knowledge.app.loop.review.act(ReviewAction.ARCHIVE, [OLD.id], OWNER)
    assert (await knowledge.app.loop.read(NEW.id, offset=0, limit=100)).caveats == ()
    await knowledge.app.loop.review.rollback(done.action_id, OWNER)
    assert await told(knowledge) == before


async def test_what_became_of_the_other_is_told_and_an_undo_brings_the_sentence_back(knowledge: Knowledge) -> None:
    await contradicting(knowledge)
    before = await told(knowledge)
    done = await knowledge.app.loop.review.act(ReviewAction.APPROVE, [OLD.id], OWNER)
    said = await told(knowledge)
    assert said.startswith(f"“{OLD.title}” ({OLD.id}) said something else")
    assert said.endswith(" and was approved since. Nobody has checked this one since.")
    await knowledge.app.loop.review.rollback(done.action_id, OWNER)
    assert await told(knowledge) == before


async def test_another_text_of_the_other_is_told(knowledge: Knowledge) -> None:
    await contradicting(knowledge)
    await knowledge.add(
        SourceDocument(source=OLD.source, title=OLD.title, text="# Older exports\n\nSee the other page.", language="en")
    )
    assert " and was changed since. " in await told(knowledge)


async def test_what_a_curator_did_is_told_until_it_is_undone(knowledge: Knowledge) -> None:
    await contradicting(knowledge)
    before = await told(knowledge)
    done = await knowledge.app.loop.review.act(ReviewAction.KEEP, [NEW.id], OWNER)
    said = await told(knowledge)
    assert "Nobody" not in said
    assert "A curator kept it flagged on " in said
    await knowledge.app.loop.review.rollback(done.action_id, OWNER)
    assert await told(knowledge) == before
