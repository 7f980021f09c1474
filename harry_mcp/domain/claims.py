"""Does a sentence of a document support a claim, contradict it, or neither?

A claim is supported when the sentence says all that it says: each number and name, and nearly each word of it, is there
or stands in the title and headings that the sentence belongs to. It is contradicted when the sentence speaks of the
same thing in nearly the same words, and has another number, a denial or the opposite in the same place. A claim in
entirely other words is neither: telling these apart takes a language model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import regex

from harry_mcp.domain.denials import Denials, denials
from harry_mcp.domain.differences import Difference, Kind, Vocabulary, differences
from harry_mcp.domain.differences.matching import match
from harry_mcp.domain.differences.quantities import Quantity, quantities
from harry_mcp.domain.differences.reading import Part, Reading, Shape, Word, read

NOTHING_KNOWN = Vocabulary()
_NAMING = frozenset({Shape.CAPITAL, Shape.ACRONYM, Shape.CODE, Shape.QUOTED, Shape.NUMBER})
_TURNING = frozenset({Kind.OPPOSITE, Kind.DIRECTION})
_INSTEAD = regex.compile(r"\b(?:rather than|instead of|as opposed to)\b", regex.IGNORECASE)
# Words on each side of a number, or of an opposite, that say what it speaks of.
_BESIDE = 3
# A sentence with so many more words than the claim adds something; it does not put another thing in its place.
_LONGER = 2


class Stance(StrEnum):
    """What a sentence says of a claim. ``near`` speaks of the same things and settles nothing."""

    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    NEAR = "near"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRules:
    """From which share of the claim's words, and from which cosine on, a sentence speaks for or against it."""

    support_words: float
    support_cosine: float
    contradict_words: float
    contradict_cosine: float


@dataclass(frozen=True, slots=True)
class Weighed:
    """A sentence beside a claim. ``covered`` is the share of the claim's words that it holds.

    ``differs`` says what keeps it from saying the same, empty when nothing is known to.
    """

    stance: Stance
    covered: float
    differs: str = ""


def weigh(
    claim: str,
    sentence: str,
    cosine: float,
    rules: ClaimRules,
    *,
    context: str = "",
    vocabulary: Vocabulary = NOTHING_KNOWN,
) -> Weighed:
    """What a sentence says of a claim.

    ``cosine`` is that of both. ``context`` is what the sentence stands under: its words count as said.
    """
    claim, sentence = _INSTEAD.sub("not", claim), _INSTEAD.sub("not", sentence)
    pair = _Pair(claim, sentence, context, vocabulary)
    lacking = pair.lacking
    covered = 1 - len(lacking) / max(1, len(pair.claim.content))
    named = any(word.shape in _NAMING or word.folded in vocabulary.named for word in lacking)
    against = pair.against
    if against:
        clear = covered >= rules.contradict_words and cosine >= rules.contradict_cosine and not named
        return Weighed(Stance.CONTRADICTS if clear and not pair.undone else Stance.NEAR, covered, against[0])
    doubts = pair.doubts
    clear = covered >= rules.support_words and cosine >= rules.support_cosine and not named
    return Weighed(Stance.SUPPORTS if clear and not doubts else Stance.NEAR, covered, doubts[0] if doubts else "")


class _Pair:
    """A claim and a sentence, read and compared once."""

    def __init__(self, claim: str, sentence: str, context: str, vocabulary: Vocabulary) -> None:
        self.claim, self.sentence, self._context = read(claim), read(sentence), read(context)
        self._around = {word.key for word in self._context.words}
        self._found = differences(claim, sentence, vocabulary=vocabulary).found
        self._denials: Denials = denials(self.claim, self.sentence)
        self._numbers = exchanged_numbers(self.claim, self.sentence)
        self._opposed = [
            each for each in self._found if each.kind in _TURNING and each.certain and self._in_place(each)
        ]

    @property
    def lacking(self) -> list[Word]:
        """Words of the claim that the sentence and its context lack, without those that it has another one for."""
        left = match(self.claim, self.sentence, NOTHING_KNOWN.known).left_a + self._light_names
        said = {word for each in self._opposed for word in each.a.split()}
        said |= {word for mine, _ in self._numbers for word in mine.fragment.split()}
        return [word for word in left if word.key not in self._around and word.surface not in said]

    @property
    def _light_names(self) -> tuple[Word, ...]:
        """ "Go" and "Make", which are words of no weight when they are written small."""
        theirs = {word.folded for word in self.sentence.words}
        return tuple(
            word
            for word in self.claim.words
            if word.part is Part.LIGHT and word.shape in _NAMING and word.folded not in theirs
        )

    @property
    def against(self) -> list[str]:
        """What the sentence has in the place of something that the claim says."""
        told = [str(each) for each in self._opposed]
        told += [f"another number: “{mine.fragment}” and “{theirs.fragment}”" for mine, theirs in self._numbers]
        return [*told, *(["one is negated"] if self._denied else [])]

    @property
    def undone(self) -> bool:
        """ "is not enabled" and "is disabled": two turns that make none."""
        return self._denied and sum(each.kind is Kind.OPPOSITE for each in self._opposed) == 1

    @property
    def _denied(self) -> bool:
        """Whether one denies what the other affirms, as far as can be told for certain."""
        if not self._denials.turned or self._denials.soft:
            return False
        told = [each for each in self._found if each.kind is Kind.NEGATION]
        return any(each.certain for each in told) or (not told and not self._denials.shared)

    @property
    def doubts(self) -> list[str]:
        """What may keep the sentence from saying all that the claim says."""
        doubts = [str(each) for each in self._found if each.kind in _TURNING or self._unproven(each)]
        if self._denials.turned or (self._denials.soft and self._one_sided_denial):
            doubts.append("one may be negated")
        if self._uncounted:
            doubts.append("a number of the claim is not in it")
        return doubts

    @property
    def _one_sided_denial(self) -> bool:
        counts = [sum(word.part is Part.NEGATION for word in text.words) for text in (self.claim, self.sentence)]
        return counts[0] > counts[1] or any(word.part is Part.CONTENT for word in self.lacking)

    @property
    def _uncounted(self) -> bool:
        """Whether the claim has a number more often than the sentence and its context: "10.6, 10.7 and 10.8"."""
        mine, theirs, around = (
            Counter(each.value for each in quantities(text)) for text in (self.claim, self.sentence, self._context)
        )
        return any(count > max(theirs[value], around[value]) for value, count in mine.items() if value != "1")

    def _unproven(self, each: Difference) -> bool:
        """Whether a difference is something that the claim says and the sentence does not."""
        if each.kind is Kind.NEGATION:
            return bool(each.a) and not self._denials.shared
        if not each.a or each.kind in _TURNING:
            return False
        if each.kind is Kind.OBJECT and not each.b and len(self.sentence.content) > len(self.claim.content) + _LONGER:
            return False
        parts = each.a.split()
        keys = {word.key for word in self.claim.words if word.surface in parts}
        return bool(keys) and not keys <= self._around

    def _in_place(self, each: Difference) -> bool:
        """Whether two opposites speak of the same thing: the same words stand beside them."""
        if each.kind is not Kind.OPPOSITE:
            return True
        mine = [word.place for word in self.claim.words if word.surface == each.a]
        theirs = [word.place for word in self.sentence.words if word.surface == each.b]
        return any(_alike(self.claim, a, self.sentence, b) for a in mine for b in theirs)


def _alike(one: Reading, a: int, other: Reading, b: int) -> bool:
    (before_a, behind_a), (before_b, behind_b) = _beside(one, (a,)), _beside(other, (b,))
    return bool({*before_a, *behind_a} & {*before_b, *behind_b})


def exchanged_numbers(one: Reading, other: Reading) -> list[tuple[Quantity, Quantity]]:
    """Numbers of one text that the other has not, each with the one that stands in its place there."""
    # "one" is most often no number; where it stands in the place of a number, it is.
    lone = [each for each in _lone_numbers(one, other) if not (each.value == "1" and each.spoken)]
    free = _lone_numbers(other, one)
    pairs: list[tuple[Quantity, Quantity]] = []
    for mine in lone:
        ranked = sorted(((_same_place(one, mine, other, theirs), -n) for n, theirs in enumerate(free)), reverse=True)
        if ranked and ranked[0][0] > 0:
            pairs.append((mine, free[-ranked[0][1]]))
    return pairs


def _lone_numbers(text: Reading, other: Reading) -> list[Quantity]:
    values = {each.value for each in quantities(other)}
    keys = {word.key for word in other.words}
    return [
        each for each in quantities(text) if each.value not in values and text.words[each.places[0]].key not in keys
    ]


def _same_place(one: Reading, mine: Quantity, other: Reading, theirs: Quantity) -> int:
    """How surely two numbers count the same thing, 0 for not: the words before and behind them tell."""
    before_a, behind_a = _beside(one, mine.places)
    before_b, behind_b = _beside(other, theirs.places)
    common = len({*before_a, *behind_a} & {*before_b, *behind_b})
    if behind_a[:1] == behind_b[:1] != []:
        return 3 + common
    unit = bool(mine.unit) and mine.unit == theirs.unit
    led = before_a[:1] == before_b[:1] != []
    if (unit and common) or (led and (common > 1 or not (behind_a and behind_b))):
        return common + unit
    return 0


def _beside(text: Reading, places: Sequence[int]) -> tuple[list[str], list[str]]:
    """The keys of the words that say something before and behind a place, the nearest first."""
    first, last = places[0], places[-1]
    before = text.words[max(0, first - _BESIDE) : first]
    behind = text.words[last + 1 : last + 1 + _BESIDE]
    return _telling(reversed(before)), _telling(behind)


def _telling(words: Iterable[Word]) -> list[str]:
    return [word.key for word in words if word.part in (Part.CONTENT, Part.LIGHT) and word.shape is not Shape.NUMBER]
