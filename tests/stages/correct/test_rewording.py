"""COR-3: a question in the same words, but for what says nothing, is the one that a correction was made on."""

from __future__ import annotations

import pytest

from harry_mcp.domain.differences import Vocabulary
from harry_mcp.stages.correct.asking import same_question

pytestmark = pytest.mark.promise("COR-3")

SAME = [
    ("How much does Team cost?", "What's the price of the Team plan?"),
    ("How much does Team cost?", "How much is the Team plan?"),
    ("How much does Team cost?", "how much is team?"),
    ("What does Corvid Studio cost?", "How much is the Corvid Studio subscription?"),
    ("How do I cancel the Team plan?", "How can I cancel Team?"),
]
OTHERS = [
    ("How much does Team cost?", "How much is the Solo plan?"),
    ("How much does Team cost?", "Why does the Team plan cost so much?"),
    ("How much does Team cost?", "When does the price of Team change?"),
    ("How much does Team cost?", "How much does Team storage cost?"),
    ("How much does Team cost?", "Does Team cost anything?"),
    ("How much does the Team subscription cost?", "How much does the Team package cost?"),
    ("How do I cancel?", "How do I cancel my order?"),
    ("How do I cancel?", "How do I cancel an account?"),
    ("Who made Corvid?", "When was Corvid made?"),
    ("How long is the Team trial?", "How often is the Team trial?"),
    ("How much does Team cost?", "How much does Team not cost?"),
    ("How much does Team 2 cost?", "How much is the Team 3 plan?"),
]


@pytest.mark.parametrize(("asked", "question"), SAME)
def test_what_people_add_without_meaning_anything_makes_no_other_question(asked: str, question: str) -> None:
    for one, other in ((asked, question), (question, asked)):
        assert same_question(one, other, 0.75, floor=0.85, vocabulary=Vocabulary())
        assert not same_question(one, other, 0.6, floor=0.85, vocabulary=Vocabulary())


@pytest.mark.parametrize(("asked", "question"), OTHERS)
def test_another_thing_or_another_matter_is_another_question(asked: str, question: str) -> None:
    for one, other in ((asked, question), (question, asked)):
        assert not same_question(one, other, 0.8, floor=0.85, vocabulary=Vocabulary())
