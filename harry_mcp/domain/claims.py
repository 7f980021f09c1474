"""Does a sentence of a document support a claim, contradict it, or neither?

A claim is supported when the sentence says all that it says: every number, name and word of it is there, or stands in
the title and headings that the sentence belongs to. It is contradicted when the sentence speaks of the same thing, word
for word nearly, and has another number, a denial or the opposite in the same place. The rest is neither.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from enum import StrEnum

from harry_mcp.domain.differences import Difference, Kind, Vocabulary, differences
from harry_mcp.domain.differences.matching import match
from harry_mcp.domain.differences.quantities import Quantity, quantities
from harry_mcp.domain.differences.reading import Part, Reading, Shape, Word, read

_NAMING = frozenset({Shape.CAPITAL, Shape.ACRONYM, Shape.CODE, Shape.QUOTED, Shape.NUMBER})
_COUNTED = frozenset({Kind.NUMBER, Kind.DATE, Kind.VERSION, Kind.UNIT})
_TURNED = frozenset({Kind.NEGATION, Kind.OPPOSITE, Kind.DIRECTION})
# Words on each side of a number that say what it counts.
_BESIDE = 3


class Stance(StrEnum):
    """What a sentence says of a claim. ``near`` is about the same things and settles nothing."""

    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    NEAR = "near"


class ClaimVerdict(StrEnum):
    """What the knowledge base says of a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    NOT_COVERED = "not_covered"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRules:
    """Shares of the claim's words that a sentence must hold, and cosines that it must reach, to speak for or against."""

    support_words: float
    support_cosine: float
    contradict_words: float
    contradict_cosine: float


@dataclass(frozen=True, slots=True)
class Weighed:
    """A sentence beside a claim. ``covered`` is the share of the claim's words in it; ``differs`` is empty for none."""

    stance: Stance
    covered: float
    differs: str = ""


def weigh(claim: str, sentence: str, context: str, cosine: float, rules: ClaimRules) -> Weighed:
    """What a sentence says of a claim.

    ``context`` are the title and headings that the sentence stands under; ``cosine`` is that of claim and sentence.
    """
    one, other = read(claim), read(sentence)
    around = {word.key for word in read(context).words}
    missing = [word for word in match(one, other, frozenset()).left_a if word.key not in around]
    found = differences(claim, sentence).found
    numbers = _exchanged_numbers(one, other)
    turned = [each for each in found if each.kind in _TURNED and each.certain and _speaks_of(each, one, other)]
    said = {word for each in (*turned, *numbers) for word in each.a.split()}
    lacking = [word for word in missing if word.surface not in said]
    covered = 1 - len(lacking) / max(1, len(one.content))
    against = [*numbers, *turned]
    if against:
        strong = covered >= rules.contradict_words and cosine >= rules.contradict_cosine and not _named(lacking)
        return Weighed(Stance.CONTRADICTS if strong else Stance.NEAR, covered, str(against[0]))
    doubts = [each for each in found if _unproven(each, around)]
    enough = covered >= rules.support_words and cosine >= rules.support_cosine and not _named(lacking) and not doubts
    return Weighed(Stance.SUPPORTS if enough else Stance.NEAR, covered, str(doubts[0]) if doubts else "")
