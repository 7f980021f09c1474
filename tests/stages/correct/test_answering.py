"""AGT-4, COR-3: which corrections answer a question, and which only share words with it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harry_mcp.domain.corrections import Relevant
from harry_mcp.stages.correct.answering import answers
from tests.stages.correct.test_selection import correction

pytestmark = pytest.mark.promise("AGT-4")

FLOOR = 0.55
BACKUPS = correction(
    "Ombra stores its backups in Frankfurt.",
    wrong="Ombra stores backups in Ireland.",
    truth="Ombra stores backups in Frankfurt.",
)
REFUNDS = correction(
    "Refunds need five to ten business days.",
    wrong="Refunds reach the card within two days.",
    truth="A refund takes five to ten business days.",
)
PAGE = "# Backups\n\nOmbra makes a backup each night.\n\nTo restore one, open Ombra and press Restore."


def item(relevance: float, **more: bool) -> Relevant:
    return replace(Relevant(correction=BACKUPS, relevance=relevance), **more)


def heads(question: str, relevant: Relevant, *pages: str) -> bool:
    return answers(question, relevant, pages, floor=FLOOR)


def test_one_that_only_shares_the_products_name_does_not_answer() -> None:
    for question in ("How do I restore a backup in Ombra?", "How often does Ombra make backups?"):
        assert not heads(question, item(0.67))
        assert not heads(question, item(0.67), PAGE)
    assert not heads("Does Ombra have an iPhone app?", item(0.6))
    assert heads("In which country does Ombra store backups?", item(0.6))
    assert not heads("In which country does Ombra store backups?", item(0.45))


def test_a_whole_answer_that_is_called_wrong_lends_the_lesson_no_words() -> None:
    question = "How do I restore a backup in Ombra?"
    whole = replace(BACKUPS, wrong=f"{PAGE} " * 5 + question)
    assert not heads(question, replace(item(0.67), correction=whole))


def test_in_other_words_without_a_name_its_relevance_counts() -> None:
    refunds = Relevant(correction=REFUNDS, relevance=0.6)
    question = "How long until my money is back?"
    assert heads(question, refunds)
    assert not heads(question, replace(refunds, relevance=0.5))
    # The best page has words of the question that the lesson has not, so the page is nearer to it.
    page = "Your money is back when the parcel reached us."
    assert not heads(question, refunds, page)
    assert heads(question, replace(refunds, relevance=0.75), page)


def test_what_the_best_page_says_and_is_called_wrong_is_corrected_at_the_head() -> None:
    refunds = Relevant(correction=REFUNDS, relevance=0.4)
    says_so = "# Refunds\n\nWe refund at once. Refunds reach the card within two days. Fees are kept."
    question = "When do I see the refund on my card?"
    assert heads(question, refunds, says_so)
    assert not heads(question, refunds, says_so.replace("two", "ten").replace("reach the card", "are done"))
    assert not heads(question, refunds, "# Refunds\n\nAsk for one.", says_so)
    # The page says it, and the question is about something else there.
    assert not heads("Are fees kept?", refunds, says_so)


def test_the_question_that_it_was_made_on_is_answered_and_an_outdated_one_or_one_on_another_thing_never() -> None:
    assert heads("Anything at all?", item(0.9, same_question=True), PAGE)
    asked = "In which country does Ombra store backups?"
    assert not heads(asked, item(0.9, other_subject=True))
    assert not heads(asked, replace(item(0.9, same_question=True), contradicts="cor_newer"))
