"""RET-9, MCP-11: pages in all but the same words are one hit only when they tell the same."""

from __future__ import annotations

import pytest

from harry_mcp.app import App
from harry_mcp.domain.checks import ClaimVerdict
from harry_mcp.domain.curation import ReviewAction
from harry_mcp.domain.documents import SourceDocument
from harry_mcp.domain.rot import RotSignal
from harry_mcp.domain.search import Band, NextAction, SearchResult
from harry_mcp.domain.variants import changed
from harry_mcp.server.render_claims import claim_reply
from harry_mcp.server.tools.search_kb import search_reply
from harry_mcp.stages.curate.flag import flag_rot
from tests.loop.small_base import CURATOR, KEYS, OTHERS, filled, page
from tests.loop.small_base import QUESTION as KEYS_QUESTION

QUESTION = "How long does the old access token stay valid after a rotation?"
PAGE = """# Access tokens

An access token lets a script act for a member of the workspace. Open the profile, choose access tokens and press
Rotate to rotate one. {said} Scripts that still send the old one get an error from then on, and the owner gets a letter
with the name of the script. Keep the new token in a vault, never in the code, and tell the others of the team where it
is kept. Somebody who leaves the team takes no token along: remove them on the same day, and look through the list of
the last calls. Tokens that nobody used for long are shown in grey, so that they can be taken away.
"""
SAID = "The old access token stays valid for 24 hours after a rotation."


def pages(*said: str) -> list[SourceDocument]:
    return [
        SourceDocument(
            source=f"test:tokens-{number}", title=f"Tokens {'abc'[number]}", text=PAGE.format(said=each), language="en"
        )
        for number, each in enumerate(said)
    ]


async def asked(app: App, *said: str) -> SearchResult:
    await filled(app, *pages(*said))
    return await app.loop.search(QUESTION)


def titles(result: SearchResult) -> list[str]:
    return sorted(hit.passage.title for hit in result.hits if hit.passage.title.startswith("Tokens"))


@pytest.mark.promise("RET-9")
@pytest.mark.parametrize(
    ("other", "denies"),
    [
        ("The old access token stays valid for 72 hours after a rotation.", True),
        ("The old access token stays valid for 24 minutes after a rotation.", True),
        ("The old access token is not valid for 24 hours after a rotation.", True),
        ("The old access token stays invalid for 24 hours after a rotation.", True),
        ("The old access token of Jenkins stays valid for 24 hours after a rotation.", False),
        (f"{SAID} This does not hold for guests.", False),
    ],
)
async def test_near_copies_that_tell_different_things_are_hits_each(app: App, other: str, denies: bool) -> None:
    result = await asked(app, SAID, other)
    assert titles(result) == ["Tokens a", "Tokens b"]
    both = [hit for hit in result.hits if hit.passage.title.startswith("Tokens")]
    assert [hit.disputed for hit in both] == [denies, denies]
    reply = search_reply(result, budget=20_000)
    for mine, theirs in (both, both[::-1]):
        named = f"“{theirs.passage.title}” ({theirs.passage.document_id})"
        assert any(named in caveat for caveat in mine.caveats) is denies
    assert ("contradict each other" in reply.verdict.reason) is denies
    assert reply.verdict.band == "strong"
    assert reply.verdict.next_action == ("answer_with_care" if denies else "answer")


@pytest.mark.promise("MCP-13")
async def test_a_contradiction_that_a_curator_has_not_decided_is_answered_with_care(app: App) -> None:
    await filled(app)
    plain = (await app.loop.search(KEYS_QUESTION)).verdict
    assert (plain.band, plain.next_action) == (Band.STRONG, NextAction.ANSWER)
    other = page(*OTHERS[0])
    detail = {"other": {"document_id": other.id, "title": other.title, "version": 1}}
    async with app.database.transaction() as unit:
        for key, against in ((KEYS.id, other.id), (other.id, KEYS.id)):
            named = {"other": {**detail["other"], "document_id": against}}
            await flag_rot(unit, key, RotSignal.CONTRADICTION, actor="t", detail=named, evidence="statements:1")
    open_ = (await app.loop.search(KEYS_QUESTION)).verdict
    assert (open_.score, open_.band, open_.next_action) == (plain.score, Band.STRONG, NextAction.ANSWER_WITH_CARE)
    assert "tell both sides" in open_.reason
    await app.loop.review.act(ReviewAction.ARCHIVE, [other.id], CURATOR)
    settled = (await app.loop.search(KEYS_QUESTION)).verdict
    assert (settled.next_action, "both sides" in settled.reason) == (NextAction.ANSWER, False)


@pytest.mark.promise("RET-9")
async def test_copies_that_tell_the_same_stay_one_hit(app: App) -> None:
    result = await asked(app, SAID, SAID.replace("after a", "after the"), SAID)
    assert len(titles(result)) == 1
    (hit,) = [hit for hit in result.hits if hit.passage.title.startswith("Tokens")]
    assert (len(hit.candidate.duplicates), hit.disputed, hit.caveats) == (2, False, ())


@pytest.mark.promise("RET-9")
async def test_of_three_the_two_that_agree_are_one_hit(app: App) -> None:
    other = SAID.replace("24", "72")
    result = await asked(app, SAID, other, other)
    assert len(titles(result)) == 2
    assert sorted(len(hit.candidate.duplicates) for hit in result.hits if hit.disputed) == [0, 1]
    assert [item.score for item in result.ranking] == sorted((item.score for item in result.ranking), reverse=True)


@pytest.mark.promise("RET-9")
async def test_a_contradiction_beside_the_question_is_not_told(app: App) -> None:
    await filled(app, *pages(SAID, SAID.replace("24", "72")))
    result = await app.loop.search("Where should a team keep secrets, in a vault or in the code?")
    assert len(titles(result)) == 2
    assert not any(hit.disputed for hit in result.hits)


@pytest.mark.promise("MCP-11")
@pytest.mark.parametrize("hours", ["24", "72"])
async def test_a_claim_that_documents_contradict_each_other_about_is_not_simply_stated(app: App, hours: str) -> None:
    await filled(app, *pages(SAID, SAID.replace("24", "72")))
    check = await app.loop.check_claim(SAID.replace("24", hours))
    assert check.finding.verdict is ClaimVerdict.SUPPORTED
    reply = claim_reply(check)
    assert {quote.says for quote in reply.quotes} == {"supports", "contradicts"}
    assert "may state it" not in reply.next_step
    assert "contradicts itself" in reply.next_step


def test_what_differs_in_no_way_that_matters_is_no_change() -> None:
    assert changed(PAGE.format(said=SAID), PAGE.format(said=SAID)) == ()
    assert changed("The colour of the page.", "The color of the page.") == ()
    (pair,) = changed(PAGE.format(said=SAID), PAGE.format(said=SAID.replace("24", "72")))
    assert (pair.before, pair.after) == (SAID, SAID.replace("24", "72"))
