"""COR-3: whether a question is the one that a correction was made on, and which of two things a lesson names."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from harry_mcp.domain.corrections import asked_id
from harry_mcp.domain.differences import Vocabulary
from harry_mcp.stages.correct.asking import Subject, same_question, shown, subject_of
from harry_mcp.stages.correct.selection import bearing
from tests.stages.correct.test_selection import correction

pytestmark = pytest.mark.promise("COR-3")

NOTHING_KNOWN = Vocabulary()
PLUS = "What does Zephlo Plus cost?"
LEANS = replace(
    correction("It costs 5 euro a month.", wrong="Zephlo Plus costs 4 euro.", truth="It costs 5 euro."),
    questions=(PLUS,),
)
NAMES = replace(correction("Zephlo Plus costs 5 euro a month.", truth="5 euro."), questions=(PLUS,))


@pytest.mark.parametrize(
    ("question", "asked", "cosine", "same"),
    [
        ("what does  zephlo plus cost", PLUS, 0.0, True),
        ("How much is Zephlo Plus?", PLUS, 0.94, True),
        # It asks for a price in other words; only where the two are too little alike it is another question.
        ("How much is Zephlo Plus?", PLUS, 0.75, True),
        ("How much is Zephlo Plus?", PLUS, 0.65, False),
        # A word that only one of them has may be another matter, where the two are less alike.
        ("What does delivery of Zephlo Plus cost?", PLUS, 0.88, False),
        ("What does Zephlo Basic cost?", PLUS, 0.97, False),
        ("What does Kindrel Plus cost?", PLUS, 0.97, False),
        ("What is the maximum attachment size?", "How large may an attachment be?", 0.86, True),
        ("What is the maximum attachment size?", "How large may an attachment be?", 0.84, False),
        ("How many users has the 100 GB plan?", "How many users has the 10 GB plan?", 0.99, False),
        ("Is caching on in Varn 3.0?", "Is caching on in Varn 2.4?", 0.99, False),
        ("How long lasts the battery of the Sonara One?", "How long lasts the battery of the Sonara Two?", 0.99, False),
        ("Can I not export a board?", "Can I export a board?", 0.99, False),
        ("Can I import a board?", "Can I export a board?", 0.99, False),
        ("Which wine goes with fish?", PLUS, 0.2, False),
    ],
)
def test_another_wording_is_the_same_question_and_another_thing_is_not(
    question: str, asked: str, cosine: float, same: bool
) -> None:
    assert same_question(question, asked, cosine, floor=0.85, vocabulary=NOTHING_KNOWN) is same
    assert same_question(asked, question, cosine, floor=0.85, vocabulary=NOTHING_KNOWN) is same


def test_a_question_as_long_as_an_essay_is_the_same_word_for_word_only_and_costs_no_time() -> None:
    essay = "Our team moved to Zephlo Plus in May and pays for 12 seats. " * 30
    began = time.perf_counter()
    assert same_question(essay + "?", essay, 0.99, floor=0.85, vocabulary=NOTHING_KNOWN)
    assert not same_question(essay + "And Basic?", essay, 0.99, floor=0.85, vocabulary=NOTHING_KNOWN)
    assert subject_of(essay, replace(LEANS, questions=(essay + PLUS,)), NOTHING_KNOWN) is Subject.THIS
    assert time.perf_counter() - began < 0.1


@pytest.mark.parametrize(
    ("question", "of_lean", "of_names"),
    [
        ("What does Zephlo Basic cost?", Subject.UNSAID, Subject.OTHER),
        ("How do I pay for Zephlo Plus?", Subject.THIS, Subject.THIS),
        # It names the thing less exactly: nothing says that another one is meant.
        ("What does it cost a month?", Subject.THIS, Subject.THIS),
    ],
)
def test_which_thing_a_lesson_names(question: str, of_lean: Subject, of_names: Subject) -> None:
    assert subject_of(question, LEANS, NOTHING_KNOWN) is of_lean
    assert subject_of(question, NAMES, NOTHING_KNOWN) is of_names
    said_of_both = replace(NAMES, lesson="Zephlo Plus costs 5 euro and Zephlo Basic 2 euro.")
    assert subject_of(question, said_of_both, NOTHING_KNOWN) is Subject.THIS
    assert subject_of(question, replace(LEANS, questions=()), NOTHING_KNOWN) is Subject.THIS
    made_on_both = replace(LEANS, questions=(PLUS, "What does Zephlo Basic cost?"))
    assert subject_of(question, made_on_both, NOTHING_KNOWN) is Subject.THIS


def test_the_question_is_shown_where_the_lesson_does_not_say_of_what_it_speaks() -> None:
    assert shown(LEANS, PLUS) == PLUS
    assert shown(NAMES, PLUS) == ""
    assert shown(correction("It costs 5 euro with Zephlo Plus."), PLUS) == PLUS
    assert shown(correction("No, since March."), "Is it\nfree?") == "Is it free?"
    assert len(shown(LEANS, PLUS * 40)) == 200


def test_a_lesson_comes_with_its_question_whatever_its_own_relevance() -> None:
    def bears(question: str, cosine: float, alike: float) -> tuple[float, bool, str] | None:
        near = {asked_id(LEANS.id, PLUS): alike}
        item = bearing(question, LEANS, cosine, near, floor=0.38, same=0.85)
        return item and (item.relevance, item.same_question, item.asked)

    assert bears(PLUS, 0.1, 1.0) == (1.0, True, PLUS)
    assert bears("How much is Zephlo Plus?", 0.1, 0.94) == (0.94, True, PLUS)
    assert bears("What does Zephlo Basic cost?", 0.9, 0.95) is None
    assert bears("Which wine goes with fish?", 0.1, 0.1) is None
    near = bears("Is Zephlo Plus 5 euro a month now?", 0.5, 0.7)
    assert near is not None
    assert (near[1], near[2]) == (False, PLUS)
