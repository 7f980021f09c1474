"""Whether a correction that bears on a question is the answer to it, or may only have to do with it.

Only the answer may stand at the head of one. A lesson that shares the product's name with a question, and nothing else,
is as near to it by meaning as many an answer in other words; what the pages found say tells the two apart.
"""

from __future__ import annotations

from collections.abc import Sequence

from harry_mcp.domain.corrections import Relevant
from harry_mcp.domain.sentences import sentences
from harry_mcp.domain.tokens import STOP_WORDS, index_terms
from harry_mcp.stages.correct.asking import names

# From here on nothing that a page says makes it another matter.
_SURE = 0.7
# Where a lesson shares a name with the question, the name alone brings the two near. It must have more than this share
# of the other words. On the golden sets of EVL-5, over a floor of 0.55, one headed answer in eighteen is then a wrong
# one; without it, one in three.
_OTHER_WORDS = 0.5
# A sentence with so many of the words of what was wrong says it.
_SAYS_SO = 0.8
# Fewer words are a phrase that many sentences have.
_LEAST_WORDS = 3
# Characters of a statement; longer is a text of several.
_STATES = 300


def answers(question: str, item: Relevant, pages: Sequence[str], *, floor: float) -> bool:
    """Whether the correction answers the question.

    It does where it was made on this very question; where the best page says what it calls wrong, in a sentence on what
    is asked; and where it is relevant from ``floor`` on, speaks of more than a name in the question, and has all that
    the best page has of what is asked. One that a newer one outdates, or that names another thing, never does.
    ``pages`` are the texts found, best first.
    """
    if item.contradicts or item.other_subject:
        return False
    if item.same_question or _denies(question, item, pages[:1]):
        return True
    if item.relevance < floor or _by_name_only(question, item):
        return False
    return item.relevance >= _SURE or not _lacking(question, item, pages)


def surely_answers(question: str, item: Relevant) -> bool:
    """Whether the correction answers the question, whatever the pages say."""
    return answers(question, item, (), floor=_SURE)


def _by_name_only(question: str, item: Relevant) -> bool:
    """Whether a lesson shares a name with the question and at most half of its other words."""
    said = _said(item)  # the topic first, which is a word for many things and no name
    asked, held = _words(question), _words(" ".join(said))
    named = {term for text in (question, *said[1:]) for name in names(text) for term in _words(name)}
    others = asked - named
    return bool(named & asked & held) and len(others & held) <= _OTHER_WORDS * len(others)


def _lacking(question: str, item: Relevant, pages: Sequence[str]) -> set[str]:
    """Words of the question that the best page has and the correction has not. What every page says tells nothing."""
    if not pages:
        return set()
    held = [_words(page) for page in pages]
    everywhere = set[str].intersection(*held) if len(held) > 1 else set[str]()
    return (_words(question) & held[0]) - everywhere - _words(" ".join(_said(item)))


def _denies(question: str, item: Relevant, pages: Sequence[str]) -> bool:
    """Whether a page says what the correction calls wrong, in a sentence that shares more with the question than every
    sentence of the page does."""
    wrong = _words(item.correction.wrong)
    if len(wrong) < _LEAST_WORDS:
        return False
    asked = _words(question)
    for page in pages:
        said = [_words(each.plain) for each in sentences(page)]
        everywhere = set[str].intersection(*said) if len(said) > 1 else set[str]()
        numbers = {term for term in wrong if any(character.isdigit() for character in term)}
        if any(
            len(wrong & each) >= _SAYS_SO * len(wrong) and numbers <= each and (asked & each) - everywhere
            for each in said
        ):
            return True
    return False


def _said(item: Relevant) -> tuple[str, ...]:
    """What a correction says. What was wrong is a whole answer at times, which speaks of more than the lesson does."""
    each = item.correction
    wrong = each.wrong if len(each.wrong) <= _STATES else ""
    return each.topic, each.lesson, each.truth, wrong, item.asked


def _words(text: str) -> set[str]:
    return {term for term in index_terms(text) if term not in STOP_WORDS}
