"""MCP-1: a reply that is empty says whether nothing is there at all, or nothing of what was asked for."""

from __future__ import annotations

import pytest

from harry_mcp.app import App
from harry_mcp.domain.corrections import Lesson
from harry_mcp.domain.curation import ReviewAction
from harry_mcp.domain.people import Principal, Role
from harry_mcp.settings import Settings
from tests.curate.test_review import TEXTS, act, ingest
from tests.server.test_review_tools import call, client
from tests.server.test_stdio import structured, text_of

pytestmark = pytest.mark.promise("MCP-1")


async def test_gaps_of_an_unknown_id_or_topic_are_told_from_none_at_all(settings: Settings, app: App) -> None:
    async with client(settings) as session:
        assert (await call(session, "list_gaps"))["next_step"] == "No gap is on record."
    await ingest(app)
    await app.loop.search("Is there a zebra desk?")
    await app.loop.settled()
    async with client(settings) as session:
        refused = await session.call_tool("list_gaps", {"gap_id": "gap_nope"})
        assert refused.is_error
        assert "There is no gap 'gap_nope'." in text_of(refused)
        assert "No gap of that topic" in (await call(session, "list_gaps", topic="Nowhere"))["next_step"]
        assert "after the first 5" in (await call(session, "list_gaps", offset=5))["next_step"]


async def test_a_trail_of_an_unknown_action_names_those_that_there_are(settings: Settings, app: App) -> None:
    async with client(settings) as session:
        assert (await call(session, "audit_trail", action="bogus"))["next_step"] == "Nothing is on record."
        keys, *_ = await ingest(app)
        await act(app, ReviewAction.ARCHIVE, keys)
        await act(app, ReviewAction.RESTORE, keys)
        told = (await call(session, "audit_trail", action="bogus"))["next_step"]
        assert told == "No action 'bogus' is on record. Those that are: archive, restore."
        told = (await call(session, "audit_trail", action="archive", actor="nobody"))["next_step"]
        assert told == "Nothing on record matches. Leave a filter out."


@pytest.mark.promise("CUR-4")
@pytest.mark.parametrize("rating", ["up", "down"])
async def test_feedback_says_which_addresses_no_document_has(settings: Settings, app: App, rating: str) -> None:
    await ingest(app)
    known = "https://docs.example.com/keys"
    unknown = [f"https://docs.example.com/nowhere-{number}" for number in range(5)]
    async with client(settings) as session:
        found = await call(session, "search_kb", query="How do I rotate an API key?")
        wish = {"result_id": found["search_id"], "rating": rating, "reason": "wrong", "answer": TEXTS["Keys"]}
        some = await call(session, "submit_feedback", **wish, source_urls=[known, *unknown])
        (told,) = [effect for effect in some["effects"] if "No document has the address" in effect]
        assert known not in told
        assert f"{', '.join(unknown[:3])} and 2 more" in told
        none = await call(session, "submit_feedback", **wish, source_urls=[known])
        assert not [effect for effect in none["effects"] if "No document" in effect]


@pytest.mark.promise("COR-7")
async def test_no_corrections_listed_says_which_are_meant_and_how_many_there_are(settings: Settings, app: App) -> None:
    author = Principal(subject="ann", via="test", role=Role.CURATOR, trusted=True)
    async with client(settings) as session:
        none = await call(session, "list_corrections")
        assert (none["active"], none["next_step"]) == (0, "None waits for review, and there is no other.")
        for wrong, truth in (
            ("It is one hour.", "It is two hours."),
            ("Blue.", "The button is green and on the left."),
        ):
            await app.loop.submit_correction(
                Lesson(wrong=wrong, truth=truth, line=f"Say: {truth}", topic="Keys"), author
            )
        result = await session.call_tool("list_corrections", {})
        waiting = structured(result)
        assert (waiting["corrections"], waiting["active"]) == ([], 2)
        assert waiting["next_step"] == "None waits for review. There are 2 active (status active)."
        assert waiting["next_step"] in text_of(result)
        assert (await call(session, "list_corrections", topic="Nowhere"))["active"] == 0
        listed = await call(session, "list_corrections", status="active")
        assert (len(listed["corrections"]), listed["active"]) == (2, 2)
        one = await call(session, "list_corrections", correction_id=listed["corrections"][0]["correction_id"])
        assert one["active"] == -1
        beyond = await call(session, "list_corrections", status="active", offset=5)
        assert beyond["next_step"] == "None comes after the first 5. Begin at offset 0."
