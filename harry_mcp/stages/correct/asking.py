"""The question that a correction was made on: whether a new one is the same, and whether the lesson leans on it.

"It costs 5 euro a month" says nothing without the question before it. Such a lesson comes back with that question, and
not with one about another product, however alike the two read.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

import regex

from harry_mcp.domain.corrections import Correction
from harry_mcp.domain.differences import Difference, Kind, Vocabulary, differences
from harry_mcp.domain.plain import folded
from harry_mcp.domain.pointing import points
from harry_mcp.domain.tokens import STOP_WORDS, index_terms
from harry_mcp.stages.correct.rewording import same_words

# Longer ones are one only word for word: comparing them takes tens of milliseconds, and there are many to compare with.
_COMPARED = 600
# From this cosine on a word that only one of two questions has is another wording: "How much is it?", "What does it
# cost?".
_OTHER_WORDING = 0.9
# From this cosine on two questions in the same words ask the same.
SAME_WORDS = 0.7
# A lesson that has so many of the question's words says what it speaks of.
_SAYS_IT = 0.7
# Of a question that is denied the answer is still the same matter.
_ANOTHER_THING = frozenset(Kind) - {Kind.NEGATION, Kind.DIRECTION}
_SHOWN = 200
_WORD = regex.compile(r"[\p{L}\p{N}][\p{L}\p{N}_.-]*")
_STATEMENT = regex.compile(r"[.!?;:]\s+")


class Subject(StrEnum):
    """Where the question and the one that a correction was made on name two things: which of them the lesson names.

    ``unsaid``: neither, so that it leans on its question, and says nothing of the new one: "It costs 5 euro" was said
    of the Plus plan, and the Basic plan is asked about. ``other``: the one that is not asked about. ``this``: the one
    that is, or nothing tells the two questions apart.
    """

    THIS = "this"
    OTHER = "other"
    UNSAID = "unsaid"


def same_question(question: str, asked: str, cosine: float, *, floor: float, vocabulary: Vocabulary) -> bool:
    """Whether a question is the one that a correction was made on, in other words at most.

    Guarded as official answers are: nothing in them differs that could matter, whatever the cosine.
    """
    if folded(question) == folded(asked):
        return True
    if max(len(question), len(asked)) > _COMPARED:
        return False
    reworded = cosine >= min(floor, SAME_WORDS) and same_words(question, asked)
    if cosine < floor and not reworded:
        return False
    found = differences(question, asked, vocabulary=vocabulary)
    if any(each.kind is not Kind.OBJECT for each in found.found):
        return False
    return (
        reworded
        or not found.blocking
        or (cosine >= _OTHER_WORDING and all(_other_wording(each) for each in found.blocking))
    )


def subject_of(question: str, correction: Correction, vocabulary: Vocabulary) -> Subject:
    """What a correction speaks of, next to a question that is none of those that it was made on."""
    said = _words(f"{correction.topic} {correction.lesson} {correction.truth}")
    found = [_against(question, asked, said, vocabulary) for asked in correction.questions]
    if not found or Subject.THIS in found:
        return Subject.THIS
    return Subject.OTHER if Subject.OTHER in found else Subject.UNSAID


def shown(correction: Correction, asked: str) -> str:
    """The question to be shown with a lesson that does not say by itself what it speaks of; else empty."""
    wanted = _words(asked)
    held = _words(f"{correction.topic} {correction.lesson}")
    says_it = not points(correction.lesson) and len(wanted & held) >= _SAYS_IT * len(wanted)
    line = " ".join(asked.split())
    return "" if says_it else line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


def text_of(correction: Correction) -> str:
    """All that a correction says."""
    return " ".join((correction.topic, correction.lesson, correction.wrong, correction.truth))


def names(text: str) -> Iterator[str]:
    """Words with a capital inside of a statement, with a digit, or with a capital inside of them."""
    for statement in _STATEMENT.split(text):
        for place, match in enumerate(_WORD.finditer(statement)):
            word = match.group()
            if (place and word[0].isupper()) or any(each.isupper() or each.isdigit() for each in word[1:]):
                yield word


def _against(question: str, asked: str, said: set[str], vocabulary: Vocabulary) -> Subject:
    if max(len(question), len(asked)) > _COMPARED:
        return Subject.THIS
    found = Subject.THIS
    for each in differences(question, asked, vocabulary=vocabulary).blocking:
        if not (each.a and each.b) or each.kind not in _ANOTHER_THING:
            continue
        here, there = _words(each.a), _words(each.b)
        if said & (here - there):
            continue
        if not said & (there - here):
            return Subject.UNSAID
        found = Subject.OTHER
    return found


def _other_wording(each: Difference) -> bool:
    return not (each.a and each.b) and (each.a or each.b).islower()


def _words(text: str) -> set[str]:
    return {term for term in index_terms(text) if term not in STOP_WORDS}
