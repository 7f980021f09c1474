"""VER-1 to VER-5, VER-9: official answers in the loop, their counters, their bar, and what holds them back."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest
from psycopg import AsyncConnection

from harry_mcp.app import App
from harry_mcp.domain.corrections import CorrectionStatus, Lesson
from harry_mcp.domain.documents import DocumentStatus
from harry_mcp.domain.people import Role
from harry_mcp.domain.search import Band, NextAction
from harry_mcp.domain.verified import Match, VerifiedAction, VerifiedSource, VerifiedStatus
from harry_mcp.errors import InputError, NotFoundError
from harry_mcp.server.render_verified import entry_reply, match_reply
from harry_mcp.settings import Settings
from tests.loop.small_base import (
    ANN,
    ANSWER,
    BOB,
    CURATOR,
    IN_OTHER_WORDS,
    KEYS,
    QUESTION,
    STRANGER,
    backfilled,
    down,
    entry_of,
    filled,
    official,
    page,
    person,
    scalar,
    up,
)

FAR_WORDS = "How should an API key be rotated?"
DELETE = "How do I delete an API key?"


@pytest.mark.promise("VER-1")
@pytest.mark.promise("VER-5")
@pytest.mark.parametrize("question", [QUESTION, IN_OTHER_WORDS, "hi, how do I rotate an api key please?"])
async def test_the_official_answer_is_served_by_search_and_by_lookup(app: App, question: str) -> None:
    await filled(app)
    entry = await official(app)
    for result in (await app.loop.search(question), await app.loop.lookup(question)):
        match = result.verified
        assert (match.match, match.reason) == (Match.EXACT, "")
        assert match.response is not None
        assert (match.response.id, match.response.answer, match.response.approved_by) == (
            entry.id,
            ANSWER,
            CURATOR.name,
        )
        assert match.lookup_id.startswith("vlk_")
        assert result.verdict.next_action is NextAction.ANSWER
        shown = match_reply(match).model_dump_json() + entry_reply(match.response).model_dump_json()
        assert "embedding" not in shown
        assert "vector" not in shown
    assert (await entry_of(app, entry.id)).uses == 2


@pytest.mark.promise("VER-1")
async def test_a_candidate_is_not_served_and_another_question_gets_none(app: App) -> None:
    await filled(app)
    entry = await app.loop.verified.add(QUESTION, ANSWER, [], origin="test", by=ANN)
    assert entry.status is VerifiedStatus.CANDIDATE
    assert (await app.loop.lookup(QUESTION)).verified.match is Match.NONE
    await app.loop.verified.review(entry.id, VerifiedAction.APPROVE, CURATOR)
    other = await app.loop.lookup("When are invoices sent?")
    assert other.verified.match is Match.NONE
    assert other.verified.lookup_id  # it can be rated all the same
    assert (await app.loop.search("When are invoices sent?")).verified.lookup_id == ""


@pytest.mark.promise("VER-1")
@pytest.mark.promise("VER-7")
async def test_an_official_answer_takes_the_place_of_a_gap(app: App, connection: AsyncConnection[Any]) -> None:
    await filled(app)
    question = "Who is allowed to feed the office cat?"
    missed = await app.loop.search(question)
    assert (missed.verdict.band, bool(missed.gap_id)) == (Band.WEAK, True)
    await official(app, question, "Only Maria.", documents=())
    found = await app.loop.search(question)
    await app.loop.settled()
    assert (found.verified.match, found.gap_id) == (Match.EXACT, "")
    assert (found.verdict.band, found.verdict.next_action) == (Band.WEAK, NextAction.ANSWER)
    assert await scalar(connection, "SELECT occurrences FROM kb_gaps") == 1


@pytest.mark.promise("VER-4")
@pytest.mark.parametrize(
    "question", ["How do I rotate an API key in v2?", "How do I rotate 3 API keys?", "How do I not rotate an API key?"]
)
async def test_a_near_question_is_given_the_answer_as_context_only(app: App, question: str) -> None:
    await filled(app)
    entry = await official(app)
    for result in (await app.loop.search(question), await app.loop.lookup(question)):
        assert result.verified.match is Match.PARTIAL
        assert "It answers another question" in result.verified.reason
        assert result.verified.lookup_id
    assert (await entry_of(app, entry.id)).uses == 0


@pytest.mark.promise("VER-4")
async def test_never_this_for_that_is_remembered_for_that_in_other_words(app: App) -> None:
    await filled(app)
    entry = await official(app)
    assert (await app.loop.lookup(IN_OTHER_WORDS)).verified.match is Match.EXACT
    said = await app.loop.verified.review(
        entry.id, VerifiedAction.NEVER_SERVE, CURATOR, question="How can I rotate my API keys?"
    )
    assert said.status is VerifiedStatus.ACTIVE
    for question in ("How can I rotate my API keys?", "how can I rotate my api keys", "How can I rotate my API key?"):
        refused = (await app.loop.lookup(question)).verified
        assert (refused.match, refused.response) == (Match.NONE, None), question
        assert f"{entry.id} must never be served for “How can I rotate my API keys?”" in refused.reason
    # Its own question is still answered.
    assert (await app.loop.lookup(QUESTION)).verified.match is Match.EXACT


@pytest.mark.promise("VER-4")
async def test_never_serve_needs_a_question_and_an_entry(app: App) -> None:
    entry = await official(app, documents=())
    with pytest.raises(InputError, match="needs the question"):
        await app.loop.verified.review(entry.id, VerifiedAction.NEVER_SERVE, CURATOR, question=" ?! ")
    with pytest.raises(NotFoundError, match="list_verified shows them"):
        await app.loop.verified.review("ver_none", VerifiedAction.NEVER_SERVE, CURATOR, question=DELETE)
    with pytest.raises(NotFoundError, match="list_verified shows them"):
        await app.loop.verified.review("ver_\x00\ud800", VerifiedAction.APPROVE, CURATOR)


@pytest.mark.promise("VER-9")
@pytest.mark.parametrize("change", ["changed", "archived", "deleted"])
async def test_what_an_answer_cites_must_be_as_it_was_approved(app: App, change: str) -> None:
    # The page changes, but a search for the question still finds pages like it.
    twin = page("Rotate an API key", "Rotate an API key under Settings, API keys, Rotate.")
    await filled(app, twin)
    entry = await official(app, documents=(KEYS, twin))
    assert (await app.loop.lookup(IN_OTHER_WORDS)).verified.match is Match.EXACT
    if change == "changed":
        await app.ingester.ingest([page("Rotate an API key", "Rotate an API key under Account, API keys, Rotate.")])
    else:
        async with app.database.transaction() as unit:
            if change == "archived":
                await unit.documents.set_status(twin.id, DocumentStatus.ARCHIVED)
            else:
                await unit.documents.delete(twin.id)
    for question in (QUESTION, IN_OTHER_WORDS):
        held = (await app.loop.search(question)).verified
        assert held.match is Match.PARTIAL
        assert "held back for review" in held.reason
    (queued,) = await app.loop.verified.list("held", limit=10)
    assert queued.id == entry.id
    assert {"changed": "changed since", "archived": "no longer served", "deleted": "is gone"}[change] in queued.held
    # To approve it again vouches for what is there now.
    again = await app.loop.verified.review(entry.id, VerifiedAction.APPROVE, CURATOR)
    assert again.held == ""
    assert (await app.loop.lookup(IN_OTHER_WORDS)).verified.match is Match.EXACT
    assert await app.loop.verified.list("held", limit=10) == []


@pytest.mark.promise("VER-9")
@pytest.mark.promise("MCP-13")
async def test_a_flagged_source_is_told_with_the_answer(app: App) -> None:
    await filled(app)
    await official(app)
    await down(app, await app.loop.search("Where is Rotate?"), reason="outdated", source_urls=(KEYS.url,))
    match = (await app.loop.lookup(QUESTION)).verified
    assert match.match is Match.EXACT
    assert match.caveats == ("It rests on “API keys”, which is flagged for review: it may be out of date or wrong.",)


@pytest.mark.promise("VER-2")
async def test_one_complaint_does_nothing_to_an_answer_that_served_ten_times(app: App) -> None:
    await filled(app)
    entry = await official(app)
    results = [await app.loop.lookup(QUESTION) for _ in range(10)]
    outcome = await down(app, results[0])
    assert outcome.effects == ["Counted for the verified response that was served (1 complaint, 10 uses)."]
    assert (await app.loop.lookup(QUESTION)).verified.match is Match.EXACT
    after = await entry_of(app, entry.id)
    assert (after.uses, after.negatives, after.status) == (11, 1, VerifiedStatus.ACTIVE)


@pytest.mark.promise("VER-2")
async def test_complaints_degrade_and_then_retire_and_an_approval_settles_them(app: App) -> None:
    await filled(app)
    entry = await official(app)
    first, second = [await app.loop.lookup(QUESTION) for _ in range(2)]
    await down(app, first)
    degraded = (await app.loop.lookup(QUESTION)).verified
    assert (degraded.match, degraded.reason) == (Match.PARTIAL, "1 complaint about it stands against 2 uses.")
    outcome = await down(app, second)
    assert outcome.effects == ["The verified response that was served is retired (2 complaints, 2 uses)."]
    assert (await entry_of(app, entry.id)).status is VerifiedStatus.RETIRED
    assert (await app.loop.lookup(QUESTION)).verified.match is Match.NONE
    # It is kept, and a curator may bring it back, in better words; what was said before is settled by that.
    again = await app.loop.verified.review(entry.id, VerifiedAction.APPROVE, CURATOR, answer="Press Rotate.")
    assert (again.answer, again.uses, again.negatives, again.status) == ("Press Rotate.", 0, 0, VerifiedStatus.ACTIVE)
    assert (await app.loop.lookup(QUESTION)).verified.match is Match.EXACT
    await up(app, second)
    assert (await entry_of(app, entry.id)).negatives == 0


@pytest.mark.promise("VER-2")
async def test_a_change_of_mind_is_counted_exactly_whoever_else_speaks(app: App) -> None:
    await filled(app)
    entry = await official(app)
    results = [await app.loop.search(QUESTION) for _ in range(5)]

    async def negatives() -> int:
        return (await entry_of(app, entry.id)).negatives

    await down(app, results[0], ANN)
    await down(app, results[0], ANN, reason="irrelevant")
    assert await negatives() == 1
    await up(app, results[0], ANN)
    assert await negatives() == 0
    # Two people about one serving: it was wrong as long as one of them says so.
    await down(app, results[1], ANN)
    await down(app, results[1], BOB)
    assert await negatives() == 1
    await up(app, results[1], ANN)
    assert await negatives() == 1
    await up(app, results[1], BOB)
    assert await negatives() == 0
    # The serving and the search that it came with are one result.
    await down(app, results[2].search_id, ANN)
    outcome = await down(app, results[2].verified.lookup_id, ANN)
    assert (await negatives(), outcome.replaced) == (1, True)
    await up(app, results[2].verified.lookup_id, ANN)
    assert await negatives() == 0


@pytest.mark.promise("VER-3")
async def test_it_raises_its_own_bar_when_it_answered_another_question(app: App) -> None:
    await filled(app)
    entry = await official(app)
    served = await app.loop.lookup(FAR_WORDS)
    cosine = served.verified.cosine
    assert 0.85 <= cosine < 0.98
    for _ in range(9):
        await app.loop.lookup(QUESTION)
    await down(app, served, reason="outdated")
    assert (await entry_of(app, entry.id)).threshold == 0
    await down(app, served, reason="irrelevant")
    learnt = await entry_of(app, entry.id)
    assert learnt.threshold == pytest.approx(cosine + 0.001)
    again = (await app.loop.lookup(FAR_WORDS)).verified
    assert again.match is Match.PARTIAL
    assert f"needed {learnt.threshold:.3f}" in again.reason
    assert (await app.loop.lookup(QUESTION)).verified.match is Match.EXACT
    await up(app, served)
    assert (await entry_of(app, entry.id)).threshold == 0
    assert (await app.loop.lookup(FAR_WORDS)).verified.match is Match.EXACT


@pytest.mark.promise("VER-2")
async def test_counters_are_exact_when_all_speak_at_once_through_several_processes(
    settings: Settings, app: App, connection: AsyncConnection[Any]
) -> None:
    await filled(app)
    entry = await official(app)
    async with AsyncExitStack() as stack:
        apps = [app, *[await stack.enter_async_context(await App.open(settings)) for _ in range(2)]]
        served = [await app.loop.lookup(QUESTION) for _ in range(300)]
        people = [person(f"p{number}") for number in range(300)]

        async def serve(number: int) -> None:
            use = apps[number % 3].loop
            result = await (use.lookup(QUESTION) if number % 2 else use.search(QUESTION))
            assert result.verified.match is Match.EXACT

        async def complain(number: int) -> None:
            await down(apps[number % 3], served[number], people[number], reason="outdated")

        # As many at a time as fit into the pools; all others wait their turn.
        gate = asyncio.Semaphore(60)

        async def one(act: Any) -> None:
            async with gate:
                await act

        await asyncio.gather(
            *(one(serve(number)) for number in range(700)), *(one(complain(number)) for number in range(300))
        )
        after = await entry_of(app, entry.id)
        assert (after.uses, after.negatives, after.status) == (1000, 300, VerifiedStatus.ACTIVE)
        for each in apps:
            await each.loop.settled()
        # All of them change their mind, at once.
        await asyncio.gather(*(one(up(apps[number % 3], served[number], people[number])) for number in range(300)))
        assert (await entry_of(app, entry.id)).negatives == 0
    assert await scalar(connection, "SELECT count(*) FROM verified_lookups WHERE match = 'exact'") == 1000
    assert await scalar(connection, "SELECT count(*) FROM feedback") == 300


@pytest.mark.promise("COR-9")
@pytest.mark.parametrize("approver", ["contributor", "curator", "admin"])
async def test_who_may_approve_is_a_setting(settings: Settings, approver: str) -> None:
    changed = settings.model_copy(update={"verify": settings.verify.model_copy(update={"approve": approver})})
    async with await App.open(changed) as app:
        entry = await app.loop.verified.add(QUESTION, ANSWER, [], origin="test", by=ANN)
        for role in Role:
            someone = person("someone", role=role)
            if role >= Role[approver.upper()]:
                done = await app.loop.verified.review(entry.id, VerifiedAction.APPROVE, someone)
                assert done.status is VerifiedStatus.ACTIVE
            else:
                with pytest.raises(InputError, match=f"This takes the role {approver}; you are {role.name.lower()}"):
                    await app.loop.verified.review(entry.id, VerifiedAction.APPROVE, someone)


async def test_what_does_not_fit_an_entry_is_refused(app: App) -> None:
    entry = await app.loop.verified.add(QUESTION, ANSWER, [], origin="test", by=ANN)
    with pytest.raises(InputError, match="is candidate; it cannot be changed by retire"):
        await app.loop.verified.review(entry.id, VerifiedAction.RETIRE, CURATOR)
    await app.loop.verified.review(entry.id, VerifiedAction.REJECT, CURATOR)
    with pytest.raises(InputError, match="is rejected; it cannot be changed by reject"):
        await app.loop.verified.review(entry.id, VerifiedAction.REJECT, CURATOR)
    assert (await app.loop.lookup(QUESTION)).verified.match is Match.NONE
    for question, answer in (("", ANSWER), ("?!", ANSWER), (QUESTION, "  "), (QUESTION, "\u200b")):
        with pytest.raises(InputError, match="both with words in them"):
            await app.loop.verified.add(question, answer, [], origin="test", by=ANN)
    with pytest.raises(InputError, match="at most 8,000"):
        await app.loop.verified.add(QUESTION, "x" * 8001, [], origin="test", by=ANN)
    with pytest.raises(InputError, match="at most 8,000"):
        await app.loop.verified.review(entry.id, VerifiedAction.APPROVE, CURATOR, answer="x" * 8001)


@pytest.mark.promise("OPS-1")
async def test_official_answers_are_stored_clean_and_without_private_details(
    app: App, connection: AsyncConnection[Any]
) -> None:
    source = VerifiedSource(title="A\x00 page\ud800", url="https://docs.example.com/\x00\u202e")
    hostile = "Write to ann.smith@gmail.com.\x00\ud800 Pay \u202ewith\u202c 4539 1488 0343 6467.\u200b"
    entry = await app.loop.verified.add(f"Who pays\x00 \ud83d{QUESTION}", hostile, [source], origin="test", by=ANN)
    assert entry.answer == "Write to [EMAIL]. Pay with [CARD]."
    # A curator may want such a detail in it: what he writes stays, but for what does not show.
    kept = await app.loop.verified.review(
        entry.id, VerifiedAction.APPROVE, CURATOR, answer="Write to support@example.com.\x00\u202e\ud800"
    )
    assert kept.answer == "Write to support@example.com."
    stored: str = await scalar(connection, "SELECT string_agg(r::text, ' ') FROM verified_responses r")
    for gone in ("ann.smith", "4539", "\u202e", "\u200b"):
        assert gone not in stored


async def test_what_is_decided_while_vectors_are_made_again_counts(app: App, connection: AsyncConnection[Any]) -> None:
    await filled(app)
    questions = [f"Which colour has button {number}?" for number in range(12)]
    entries = [await app.loop.verified.add(question, "Green.", [], origin="test", by=ANN) for question in questions]
    for entry in entries[::2]:
        await app.loop.verified.review(entry.id, VerifiedAction.APPROVE, CURATOR)
    await connection.execute("DELETE FROM memory_vectors")
    app.backfill()
    await asyncio.gather(
        *(app.loop.verified.review(entry.id, VerifiedAction.RETIRE, CURATOR) for entry in entries[::2]),
        *(app.loop.verified.review(entry.id, VerifiedAction.APPROVE, CURATOR) for entry in entries[1::2]),
        backfilled(),
    )
    for number, question in enumerate(questions):
        match = (await app.loop.lookup(question)).verified
        assert (match.match is Match.EXACT) is bool(number % 2), question


async def test_vectors_that_were_lost_are_made_again_in_step_with_the_status(
    settings: Settings, app: App, connection: AsyncConnection[Any]
) -> None:
    await filled(app)
    active = await official(app)
    waiting = await app.loop.verified.add(DELETE, "Press Delete.", [], origin="test", by=ANN)
    await app.loop.verified.review(active.id, VerifiedAction.NEVER_SERVE, CURATOR, question="How do I rotate keys?")
    await connection.execute("DELETE FROM memory_vectors")
    assert (await app.loop.lookup(QUESTION)).verified.match is Match.NONE
    async with await App.open(settings) as again:
        await backfilled()
        assert (await again.loop.lookup(IN_OTHER_WORDS)).verified.match is Match.EXACT
        assert (await again.loop.lookup("How do I rotate keys?")).verified.match is Match.NONE
        assert (await again.loop.lookup(DELETE)).verified.match is not Match.EXACT
        await again.loop.verified.review(waiting.id, VerifiedAction.APPROVE, CURATOR)
        assert (await again.loop.lookup(DELETE)).verified.match is Match.EXACT


TEAM = "What does Team cost?"
DEARER = "Team costs 24 euro a month."


def price(euro: int, line: str = "Team costs {} euro a month.") -> Lesson:
    return Lesson(wrong=DEARER, truth=line.format(euro), line=line.format(euro))


@pytest.mark.promise("VER-4")
@pytest.mark.parametrize("line", ["Team costs {} euro a month.", "It costs {} euro a month."])
async def test_a_later_correction_of_the_question_takes_its_place_until_it_is_approved_again(
    app: App, line: str
) -> None:
    await filled(app)
    entry = await official(app, TEAM, DEARER, documents=())
    served = await app.loop.search(TEAM)
    assert served.verified.match is Match.EXACT
    (stored,) = await app.loop.submit_correction(price(19, line), ANN, result_id=served.search_id)
    for result in (await app.loop.search(TEAM), await app.loop.lookup("what does team cost")):
        assert result.verified.match is Match.PARTIAL
        assert f"{stored.correction.id} of" in result.verified.reason
        assert result.verified.reason.endswith("is newer than its approval and says otherwise.")
        assert [(item.correction.id, item.answers) for item in result.corrections] == [(stored.correction.id, True)]
    assert (await entry_of(app, entry.id)).uses == 1
    await app.loop.verified.review(entry.id, VerifiedAction.APPROVE, CURATOR)
    settled = await app.loop.search(TEAM)
    assert (settled.verified.match, settled.verified.reason) == (Match.EXACT, "")
    # Somebody says it once more.
    await app.loop.submit_correction(price(19, line), BOB, result_id=settled.search_id)
    assert (await app.loop.search(TEAM)).verified.match is Match.PARTIAL


@pytest.mark.promise("VER-4")
async def test_a_correction_that_waits_says_the_same_or_speaks_of_another_thing_leaves_it_official(app: App) -> None:
    await filled(app)
    await official(app, TEAM, DEARER + " Solo costs 19 euro a month.", documents=())
    served = await app.loop.search(TEAM)
    (waiting,) = await app.loop.submit_correction(price(21), STRANGER, result_id=served.search_id)
    assert waiting.correction.status is CorrectionStatus.PENDING
    same = Lesson(wrong="Team costs 23 euro a month.", truth=DEARER, line=DEARER)
    await app.loop.submit_correction(same, ANN, result_id=served.search_id)
    seats = Lesson(wrong="Team has 3 seats.", truth="Team has 5 seats.", line="Team has 5 seats.")
    await app.loop.submit_correction(seats, ANN)
    assert (await app.loop.search(TEAM)).verified.match is Match.EXACT
    # That it costs as much is said in the answer too, but of another plan.
    it = "It costs {} euro a month."
    await app.loop.submit_correction(price(19, it), ANN, result_id=served.search_id)
    assert (await app.loop.search(TEAM)).verified.match is Match.PARTIAL
