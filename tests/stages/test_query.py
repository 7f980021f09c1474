"""RET-1: the question made ready."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harry_mcp.stages.retrieve.query import clean, cut_at_word, optimize

GLOSSARY = {"ops hub": ["Operations Hub"], "hubspot": ["HubSpot"]}


@pytest.mark.promise("RET-1")
@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("hey can you tell me how to create an HNSW index please?", "how to create an HNSW index?"),
        ("Hi there, could you please help me with billing? thanks!", "billing?"),
        ("I was wondering if the API supports v3", "the API supports v3"),
        ("OK button missing", "OK button missing"),
        ("well-known text format", "well-known text format"),
        ("hello", "hello"),
        ("please", "please"),
        ("Can you tell me", "Can you tell me"),
        ("ops hub pricing", "ops hub pricing Operations Hub"),
        ("shops hubcap", "shops hubcap"),
    ],
)
def test_fluff_goes_and_the_glossary_comes(question: str, text: str) -> None:
    assert optimize(question, GLOSSARY, 400).text == text


@pytest.mark.promise("RET-1")
@given(st.text(alphabet=st.characters(), min_size=1, max_size=900), st.integers(50, 500))
def test_bounded_never_emptied_and_safe_to_store(question: str, limit: int) -> None:
    made = optimize(question, GLOSSARY, limit)
    assert len(made.text) <= limit
    made.text.encode("utf-8")
    assert "\x00" not in made.text
    if any(character.isalnum() for character in clean(question)):
        assert any(character.isalnum() for character in made.text)


@pytest.mark.promise("RET-1")
def test_cut_at_a_word_and_never_between_a_letter_and_its_mark() -> None:
    assert cut_at_word("one two three", 9) == "one two"
    assert cut_at_word("one two three", 7) == "one two"
    assert cut_at_word("e\u0301" * 10, 5) == "e\u0301e\u0301"
