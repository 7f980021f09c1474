"""RET-2: follow-up questions stand alone before they are searched for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harry_mcp.app import App
from harry_mcp.domain.documents import SourceDocument
from harry_mcp.domain.search import Band, NextAction, SearchStatus
from harry_mcp.domain.tokens import index_terms
from harry_mcp.domain.verified import Match
from harry_mcp.stages.retrieve.history import carry_over, keeps, spoken
from harry_mcp.stages.retrieve.leaning import Leaning, asks_on, leaning, own_words, whole
from harry_mcp.stages.retrieve.query import clean
from tests.loop.small_base import official

pytestmark = pytest.mark.promise("RET-2")


@pytest.mark.parametrize(
    "question",
    [
        "what about pricing for that?",
        "And on Windows?",
        "Why not?",
        "how long does it take",
        "Can I undo this?",
        "Does it support SSO?",
        "Which one is cheaper?",
        "And how many rows?",
        "which plan?",
        "What if I lose the phone?",
        "And how do I turn it off again?",
        "Thanks! And on a Mac?",
        "will I lose anything by doing so?",
        "Who told the staff about it?",
        "when will that option be there?",
        "how do I set it up there?",
        "Anything else that has to be changed?",
    ],
)
def test_what_points_elsewhere_leans(question: str) -> None:
    assert leaning(question) is Leaning.LEANS


@pytest.mark.parametrize(
    "question",
    [
        "How long does it take to import contacts?",
        "How do I find duplicates and merge them?",
        "How do customers change their password?",
        "Is there a limit for calls?",
        "Which index of pgvector should we build here?",
        "How do I create a key that expires?",
        "And how do I change the address of my account?",
        "What is a combined view of those sites that I own?",
        "How do I transfer a site to another person?",
        "How do I renew a certificate before it expires?",
        "So where do I see which cities visitors come from?",
        "Why do sessions expire?",
        "What is the rate limit?",
        "pricing",
    ],
)
def test_a_whole_question_does_not_lean_for_its_words(question: str) -> None:
    assert leaning(question) is not Leaning.LEANS


@pytest.mark.parametrize(
    "question",
    [
        "How do I create an index in MongoDB?",
        "What is the limit of get_user_name?",
        "Opening a module for exclusive edit fails with no such file or directory",
    ],
)
def test_a_question_that_names_its_object_or_says_much_stands_alone(question: str) -> None:
    assert leaning(question) is Leaning.ALONE


@pytest.mark.parametrize(
    ("typed", "question"),
    [
        ("ok great, thank you so much! and how do I export?", "how do I export?"),
        ("👍 And how do I export?", "how do I export?"),
        ("So where do I see it?", "where do I see it?"),
        ("Thanks! And on Windows?", "Thanks! And on Windows?"),
        ("And the yearly plan?", "And the yearly plan?"),
        ("AND is slow", "AND is slow"),
        ("Hello, world in Rust", "Hello, world in Rust"),
    ],
)
def test_what_opens_a_whole_question_is_no_part_of_it(typed: str, question: str) -> None:
    assert whole(typed) == question
    assert leaning(typed) is leaning(question)


@pytest.mark.parametrize("question", ["why?", "But why is that?", "Why not?", "and then?", "Tell me more.", "really?"])
def test_some_questions_only_ask_on(question: str) -> None:
    assert asks_on(question)


@pytest.mark.parametrize("question", ["Why do sessions expire?", "how much is it?", "What is it?", "and on Windows?"])
def test_others_ask_for_something(question: str) -> None:
    assert not asks_on(question)


@pytest.mark.parametrize(
    ("question", "history", "expected"),
    [
        ("what about pricing for that?", ["How do I use Operations Hub?"], "what about pricing for Operations Hub?"),
        ("And on Windows?", ["How do I install the agent on Linux?"], "How do I install the agent on Windows?"),
        ("and from a file?", ["How do I import contacts from Excel 2019?"], "How do I import contacts from a file?"),
        ("And into Slack?", ["How do I get weekly reports?"], "How do I get weekly reports into Slack?"),
        ("and the yearly plan?", ["How much is the monthly plan?"], "How much is the yearly plan?"),
        ("What about Okta?", ["How do I connect Entra?"], "How do I connect Okta?"),
        ("And clicks on links?", ["How do I count downloads?"], "How do I count clicks on links?"),
        ("And delete my account?", ["How do I cancel my plan?"], "How do I delete my account?"),
        ("who sees them?", ["What are the notes?"], "who sees notes?"),
        ("How do I delete one?", ["What are annotations?"], "How do I delete annotations?"),
        ("why?", ["Does getUserName() raise E1042?"], "why? getUserName raise E1042"),
        ("what is the limit?", ["Tell me about the search API."], "what is the limit? search API"),
        (
            "And on a Mac?",
            ["user: How do I install it on Linux?", "assistant: Unpack it.", "user: And on Windows?", "user: Thanks!"],
            "How do I install it on a Mac?",
        ),
        (
            "how do I get rid of it?",
            ["user: How do I export invoices?", "user: and then?", "assistant: Press Enter."],
            "how do I get rid of invoices? export",
        ),
        ("what does it cost?", ["assistant: Take it. Use Operations Hub then."], "what does it cost? Operations Hub"),
        ("what does it cost?", ["assistant: Take it. Correction that we made."], "what does it cost?"),
        ("and then?", ["user: Hello", "user: thanks a lot"], "and then?"),
    ],
)
def test_what_was_spoken_of_is_put_in(question: str, history: list[str], expected: str) -> None:
    assert carry_over(question, history) == expected


_WORDS = st.sampled_from(
    [
        "and",
        "so",
        "what",
        "about",
        "how",
        "do",
        "I",
        "is",
        "it",
        "that",
        "one",
        "them",
        "for",
        "with",
        "on",
        "the",
        "plan",
        "delete",
        "export",
        "Okta",
        "E1042",
        "note?",
        "links.",
        "thanks!",
        "then",
        "else",
    ]
)
_TEXTS = st.text(max_size=60) | st.lists(_WORDS, max_size=8).map(" ".join)


@given(_TEXTS, st.lists(_TEXTS, min_size=1, max_size=4))
def test_no_word_of_a_question_gets_lost(question: str, history: list[str]) -> None:
    question, turns = clean(question), spoken(history)
    assert own_words(question) <= set(index_terms(carry_over(question, turns)))


@pytest.mark.parametrize(
    ("question", "written", "kept"),
    [
        ("And on Windows 11?", "How do I install the agent on Windows?", False),
        ("and not on Windows?", "How do I install the agent on Windows?", False),
        ("Can I use it without a key?", "Can I use the API with a key?", False),
        ("Does it support SSO?", "Does Operations Hub work?", False),
        ("Is it kept?", "Are raw events not kept?", False),
        ("Can I use it without a key?", "Can I use the API without a key?", True),
        ("what about pricing for that?", "What is the pricing of Operations Hub?", True),
        ("And then?", "What happens after I cancel my subscription?", True),
    ],
)
def test_a_rewritten_question_keeps_numbers_names_and_negations(question: str, written: str, kept: bool) -> None:
    assert keeps(question, written) is kept


async def _hubs(app: App) -> None:
    await app.ingester.ingest(
        SourceDocument(source=f"test:{name}", title=name, text=f"{name} costs {price} a month for each seat.")
        for name, price in [("Operations Hub", 50), ("Marketing Hub", 40), ("Sales Hub", 30), ("Service Hub", 20)]
    )


async def test_a_follow_up_finds_what_the_conversation_was_about(app: App) -> None:
    await _hubs(app)
    follow_up = "what about pricing for that?"
    result = await app.loop.search(follow_up, history=["user: How do I set up the Sales Hub?"], record=False)
    assert result.hits[0].passage.title == "Sales Hub"
    assert "Sales Hub" in result.question
    assert result.course["asked"] == follow_up
    assert result.course["also_searched"] == follow_up
    assert not result.degraded
    other = await app.loop.search(follow_up, history=["user: Tell me about Marketing Hub"], record=False)
    assert other.hits[0].passage.title == "Marketing Hub"


async def test_a_follow_up_is_remembered_as_written_out_and_as_it_was_typed(app: App) -> None:
    await _hubs(app)
    before, follow_up = ["user: How do I set up the Sales Hub?"], "What does it cost a month?"
    typed = await official(app, follow_up, "It depends on the hub.", documents=())
    first = await app.loop.search(follow_up, history=before)
    assert "Sales Hub" in first.question, "the words that are kept are those written out"
    assert first.verified.response is not None
    assert (first.verified.match, first.verified.response.id) == (Match.EXACT, typed.id)
    written = await official(app, first.question, "30 a month.", documents=())
    again = await app.loop.search(follow_up, history=before)
    assert again.verified.response is not None
    assert (again.verified.match, again.verified.response.id) == (Match.EXACT, written.id), "the written-out one first"
    alone = await app.loop.search(follow_up)
    assert alone.verified.response is not None
    assert alone.verified.response.id == typed.id


async def test_what_was_spoken_of_does_not_answer_by_itself(app: App) -> None:
    await _hubs(app)
    before = ["user: What does the Sales Hub cost a month for each seat?"]
    asked = await app.loop.search("And does it swim under water?", history=before, record=False)
    assert asked.verdict.band is Band.WEAK
    assert asked.verdict.score >= asked.hits[0].candidate.score
    alone = "How do I bake bread?"
    bread = await app.loop.search(alone, history=before)
    assert (bread.question, bread.verdict.band, bool(bread.gap_id)) == (alone, Band.WEAK, True)
    explained = await app.loop.explain(bread.search_id)
    assert explained.search.question == alone


@pytest.mark.parametrize("said", ["Thanks!", "Hello", "Perfect, that helps a lot.", "ok, bye"])
async def test_thanks_are_not_searched_for_and_leave_no_gap(app: App, said: str) -> None:
    await _hubs(app)
    result = await app.loop.search(said, history=["user: What does the Sales Hub cost?"])
    assert (result.status, result.verdict.next_action) == (SearchStatus.NO_QUESTION, NextAction.REPLY)
    assert (result.hits, result.gap_id, result.search_id, result.query.text) == ((), "", "", "")
    await app.loop.recorded()
    async with app.database.reading() as unit:
        assert await unit.gaps.most_asked(5) == []
