"""Thanks, greetings and goodbyes are told from questions that begin like them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harry_mcp.domain.courtesies import Courtesy, courtesy, without_courtesies

pytestmark = pytest.mark.promise("RET-2")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Thanks!", Courtesy.THANKS),
        ("ok great, thank you so much", Courtesy.THANKS),
        ("Cool. Thanks for your help! 🙂", Courtesy.THANKS),
        ("that's all, cheers", Courtesy.THANKS),
        ("No, thanks", Courtesy.THANKS),
        ("Vielen Dank", Courtesy.THANKS),
        ("谢谢", Courtesy.THANKS),
        ("👍", Courtesy.THANKS),
        ("👍🏽👍🏽", Courtesy.THANKS),
        ("great ❤️", Courtesy.THANKS),
        ("ok :)", Courtesy.THANKS),
        ("cool, that helps", Courtesy.THANKS),
        ("Perfect, that helps a lot.", Courtesy.THANKS),
        ("this was really useful!", Courtesy.THANKS),
        ("Hello there", Courtesy.GREETING),
        ("good morning, team", Courtesy.GREETING),
        ("bye", Courtesy.GOODBYE),
        ("see you later!", Courtesy.GOODBYE),
    ],
)
def test_courtesies(text: str, kind: Courtesy) -> None:
    assert courtesy(text, answered=False) is kind


@pytest.mark.parametrize("text", ["Great", "got it", "Perfect, then later.", "ok", "makes sense"])
def test_a_nod_is_one_only_behind_an_answer(text: str) -> None:
    assert courtesy(text, answered=True) is Courtesy.THANKS
    assert courtesy(text, answered=False) is None


@pytest.mark.parametrize(
    "text",
    [
        "Hello world in Rust",
        "thanks page",
        "yes",
        "no",
        "why?",
        "Right to be forgotten",
        "Is it fine?",
        "ok and Hugo",
        "does it work?",
        "cool down period",
        "How are you billed?",
        "Welcome email",
        "👎",
        "that helps page",
        "What does 👍 mean?",
        "",
        "!?",
        "How do I thank somebody?",
    ],
)
def test_questions_are_none(text: str) -> None:
    assert courtesy(text, answered=True) is None


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Thanks. How do I delete one?", "How do I delete one?"),
        ("Great, and on Windows?", "and on Windows?"),
        ("Hi! Thank you, that helps. And then?", "And then?"),
        ("Great expectations, a novel", "Great expectations, a novel"),
        ("Thanks!", "Thanks!"),
    ],
)
def test_what_stands_behind_a_courtesy_is_the_question(text: str, left: str) -> None:
    assert without_courtesies(text) == left


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    courtesy(text, answered=True)
    assert text.endswith(without_courtesies(text))
