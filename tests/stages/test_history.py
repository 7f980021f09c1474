"""RET-2: follow-up questions stand alone before they are searched for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harry_mcp.app import App
from harry_mcp.domain.documents import SourceDocument
from harry_mcp.stages.retrieve.history import carry_over, is_follow_up


@pytest.mark.promise("RET-2")
@pytest.mark.parametrize(
    "question",
    [
        "what about pricing for that?",
        "And on Windows?",
        "Why not?",
        "how long does it take",
        "Can I undo this?",
        "Does it support SSO?",
        "pricing",
        "Which one is cheaper?",
    ],
)
def test_what_points_elsewhere_is_a_follow_up(question: str) -> None:
    assert is_follow_up(question)


@pytest.mark.promise("RET-2")
@pytest.mark.parametrize(
    "question",
    [
        "How long does it take to import contacts?",
        "How do I find duplicates and merge them?",
        "How do customers change their password?",
        "Is there a limit for API calls?",
        "How do I create a key that expires?",
        "What is the rate limit of the search endpoint?",
    ],
)
def test_a_question_that_stands_alone_is_left_alone(question: str) -> None:
    assert not is_follow_up(question)


@pytest.mark.promise("RET-2")
@pytest.mark.parametrize(
    ("question", "history", "expected"),
    [
        (
            "what about pricing for that?",
            ["How do I use Operations Hub?"],
            "what about pricing for that? Operations Hub",
        ),
        ("And on Windows?", ["How do I install the agent on Linux?"], "And on Windows? install agent"),
        ("why?", ["Does getUserName() raise E1042?"], "why? getUserName E1042 raise"),
        (
            "what about that?",
            ["How do I export invoices?", "user: and then?", "assistant: Press Enter."],
            "what about that? export invoices",
        ),
    ],
)
def test_what_was_spoken_of_is_carried_over(question: str, history: list[str], expected: str) -> None:
    assert carry_over(question, history) == expected


@given(st.text(max_size=80), st.lists(st.text(max_size=80), min_size=1, max_size=4))
def test_the_question_always_stays_whole_and_in_front(question: str, history: list[str]) -> None:
    assert carry_over(question, history).startswith(question)


@pytest.mark.promise("RET-2")
async def test_a_follow_up_finds_what_the_conversation_was_about(app: App) -> None:
    await app.ingester.ingest(
        SourceDocument(source=f"test:{name}", title=name, text=f"{name} costs {price} a month for each seat.")
        for name, price in [("Operations Hub", 50), ("Marketing Hub", 40), ("Sales Hub", 30), ("Service Hub", 20)]
    )
    follow_up = "what about pricing for that?"
    result = await app.loop.search(follow_up, history=["user: How do I set up the Sales Hub?"], record=False)
    assert result.hits[0].passage.title == "Sales Hub"
    assert "Sales Hub" in result.question
    assert not result.degraded
    other = await app.loop.search(follow_up, history=["user: Tell me about Marketing Hub"], record=False)
    assert other.hits[0].passage.title == "Marketing Hub"
