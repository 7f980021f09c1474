"""RET-2, COR-3, VER-1: the same whole question is the same one in every conversation, over a real `harry serve`."""

from __future__ import annotations

from typing import Any

import pytest

from harry_mcp.agent.answers import Outcome
from harry_mcp.agent.reporting_back import correcting
from harry_mcp.agent.session import Session
from harry_mcp.app import App
from harry_mcp.settings import Settings
from tests.agent.chatting import Talk, own_server, talking
from tests.loop.small_base import filled, official, page

pytestmark = [pytest.mark.promise("RET-2"), pytest.mark.promise("COR-3")]

OTHERS = ["How do I set up the Stats API?", "How do I rotate an API key?", "How do exports arrive?"]
WHOLE = "What is the rate limit?"
FACT = "The rate limit is 240 requests a minute"
PAGES = [
    page(name, f"Set up the {name} in the settings. The rate limit of the {name} is {number} requests an hour.")
    for name, number in [("Stats API", 600), ("Events API", 700), ("Sites API", 800), ("Goals API", 900)]
]
# No question is strong as it stands, so that each is searched in both ways.
BOTH_WAYS = {"HARRY_RANK__STRONG": "0.999"}


@pytest.fixture
async def limits(app: App, settings: Settings) -> Settings:
    await filled(app, *PAGES)
    return settings


async def _searched(talk: Talk) -> dict[str, Any]:
    """What explain_search tells of the last answer."""
    last = talk.session.last
    assert last is not None
    found = await talk.session.connection.call("explain_search", {"search_id": last.search_id})
    return dict(found.structured or {})


async def _search(session: Session, question: str, *before: str) -> dict[str, Any]:
    history = [f"user: {each}" for each in before]
    return dict((await session.connection.call("search_kb", {"query": question, "history": history})).structured or {})


async def test_a_correction_of_a_whole_question_heads_in_its_chat_and_in_a_fresh_one(limits: Settings) -> None:
    async with talking(limits, target=own_server(limits, **BOTH_WAYS)) as talk:
        await talk.ask(OTHERS[0])
        shown = await talk.ask(WHOLE)
        assert shown.sources[0].title == "Stats API", "what was spoken of chooses the passages"
        told = await _searched(talk)
        assert (told["question"], told["query"]) == (WHOLE, WHOLE)
        assert told["course"]["also_searched"] == told["course"]["found_by"] != WHOLE
        assert "asked" not in told["course"]
        assert told["now"] == told["then"], "it is told again in the way in which it was found"
        await talk.session.outbox.send(correcting(shown, FACT))
        again = await talk.ask(WHOLE)
        assert again.text.startswith(f"A correction that people made: {FACT}"), again.text
        for before in ([], OTHERS[1:2], OTHERS):
            reply = await _search(talk.session, WHOLE, *before)
            (made,) = reply["corrections"]
            assert made["answers"], before
    async with talking(limits, target=own_server(limits)) as talk:
        fresh = await talk.ask(WHOLE)
        assert fresh.text.startswith(f"A correction that people made: {FACT}"), fresh.text


@pytest.mark.promise("VER-1")
async def test_an_official_answer_is_exact_after_whatever_was_said(app: App, limits: Settings) -> None:
    rests_on = page("Rate limits", "The API allows 600 requests a minute; above that it answers with code 429.")
    entry = await official(app, WHOLE, "600 requests a minute.", documents=[rests_on])
    # What it rests on must be what the question itself finds first, whatever page is shown first.
    strict = own_server(limits, **BOTH_WAYS, HARRY_VERIFY__EVIDENCE_HITS="1")
    async with talking(limits, target=strict) as talk:
        for words in (WHOLE, "What are the rate limits?", "What's the rate limit?", f"Great, thanks! And {WHOLE}"):
            for before in ([], OTHERS[:1], OTHERS[1:], OTHERS, ["Tell me about the Goals API"]):
                found = (await _search(talk.session, words, *before))["verified"]
                assert (found["match"], found["response_id"]) == ("exact", entry.id), (words, before, found)


async def test_a_question_that_is_missed_is_one_gap_whatever_was_said(app: App, limits: Settings) -> None:
    async with talking(limits) as talk:
        gaps = {
            (await _search(talk.session, "Which wine goes with fish?", *before))["gap_id"] for before in ([], OTHERS)
        }
    assert len(gaps) == 1
    assert all(gaps)


async def test_a_raised_thumb_is_thanks_before_and_behind_an_answer(limits: Settings) -> None:
    async with talking(limits) as talk:
        for said in ("👍", "cool, that helps", "👍🏽"):
            reply = await talk.ask(said)
            assert (reply.outcome, reply.gap_id, reply.sources) == (Outcome.REPLIED, "", ()), said
        await talk.ask(OTHERS[1])
        assert (await talk.ask("👍")).outcome is Outcome.REPLIED


async def test_thanks_in_front_of_a_question_are_not_searched_for(limits: Settings) -> None:
    async with talking(limits) as talk:
        for before in ([], OTHERS[:2]):
            reply = await _search(talk.session, "ok great, thank you so much! and how do I export?", *before)
            assert reply["query"] == "how do I export?"


async def test_why_alone_is_never_sure_of_the_same_page_again(limits: Settings) -> None:
    async with talking(limits) as talk:
        first = await _search(talk.session, OTHERS[1])
        assert first["verdict"]["band"] == "strong"
        for words in ("why?", "Why not?", "but why is that?", "Tell me more"):
            again = await _search(talk.session, words, OTHERS[1])
            assert again["verdict"]["band"] != "strong", words
        of_it = await _search(talk.session, "And how do I delete one?", OTHERS[1])
        assert of_it["hits"][0]["title"] == "API keys"
