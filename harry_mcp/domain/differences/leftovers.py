"""Words of one text only: is it another name, another thing, or another word for the same?"""

from __future__ import annotations

from collections.abc import Sequence, Set

from harry_mcp.domain.differences.cutting import SPACELESS
from harry_mcp.domain.differences.kinds import Difference, Kind
from harry_mcp.domain.differences.lexicon import PREPOSITIONS, SOFT_NEGATORS
from harry_mcp.domain.differences.matching import Match
from harry_mcp.domain.differences.reading import Part, Reading, Shape, Word
from harry_mcp.domain.differences.vocabulary import Vocabulary

_NAMING = frozenset({Shape.CAPITAL, Shape.ACRONYM, Shape.CODE, Shape.QUOTED, Shape.NUMBER})
# Longer passages that differ were reworded, not exchanged.
_LONGEST_MIDDLE = 2


def name_differences(
    a: Reading, b: Reading, left_a: Sequence[Word], left_b: Sequence[Word], vocabulary: Vocabulary
) -> list[Difference]:
    """Names that the other text does not have, side by side in their order."""
    written_a, written_b = ([w for w in left if w.shape in _NAMING] for left in (left_a, left_b))
    typed_a, typed_b = _typed(a, left_a, vocabulary.named), _typed(b, left_b, vocabulary.named)
    names_a = sorted({*written_a, *typed_a}, key=_place)
    names_b = sorted({*written_b, *typed_b}, key=_place)
    differences: list[Difference] = []
    for number in range(max(len(names_a), len(names_b))):
        one = names_a[number] if number < len(names_a) else None
        other = names_b[number] if number < len(names_b) else None
        differences.append(Difference(Kind.NAME, one.surface if one else "", other.surface if other else ""))
    return differences


def _place(word: Word) -> int:
    return word.place


def _typed(text: Reading, left: Sequence[Word], named: Set[str]) -> list[Word]:
    if not text.caseless:
        return []
    return [word for word in left if word.shape is Shape.PLAIN and word.folded in named]


def object_differences(
    a: Reading, b: Reading, found: Match, left: tuple[Sequence[Word], Sequence[Word]], said: Set[str]
) -> list[Difference]:
    """Words without a counterpart that are no names.

    Two texts that are the same word for word but for one place speak of another thing there. In two that are worded
    differently throughout, a word left over is as often another word for the same. ``left`` are the words without a
    counterpart, ``said`` what was found to differ otherwise.
    """
    gap_a, gap_b = _gaps(a, b)
    one, other = _framed(gap_a), _framed(gap_b)
    if _few(one, a) and _few(other, b):
        one, other = _telling(one, found.formed_a, said), _telling(other, found.formed_b, said)
        if sorted(word.key for word in one) != sorted(word.key for word in other):
            return [Difference(Kind.OBJECT, _said(one), _said(other), not _reworded(one, other, gap_a, gap_b))]
    left_a, left_b = left
    if not left_a and not left_b:
        return []
    nothing_shared = bool(left_a and left_b) and (len(left_a), len(left_b)) == (len(a.content), len(b.content))
    return [Difference(Kind.OBJECT, _said(left_a), _said(left_b), nothing_shared)]


def _gaps(a: Reading, b: Reading) -> tuple[Sequence[Word], Sequence[Word]]:
    """What remains of two texts between the words that carry meaning that both begin with, and both end with."""
    one, other = _framed(a.words), _framed(b.words)
    shortest = min(len(one), len(other))
    start = 0
    while start < shortest and one[start].key == other[start].key:
        start += 1
    end = 0
    while end < shortest - start and one[-1 - end].key == other[-1 - end].key:
        end += 1
    return _between(a, one, start, end), _between(b, other, start, end)


def _between(text: Reading, frame: Sequence[Word], start: int, end: int) -> Sequence[Word]:
    first = frame[start - 1].place + 1 if start else 0
    last = frame[-end].place if end else len(text.words)
    return text.words[first:last]


def _framed(words: Sequence[Word]) -> list[Word]:
    return [word for word in words if word.part is Part.CONTENT or word.folded in PREPOSITIONS]


def _few(middle: Sequence[Word], text: Reading) -> bool:
    # A word of two characters or so.
    length = sum(0.5 if SPACELESS.match(word.folded) else 1 for word in middle)
    return length <= _LONGEST_MIDDLE and len(middle) < len(text.content)


def _telling(middle: Sequence[Word], formed: Set[int], said: Set[str]) -> list[Word]:
    """Without what is another form of the same word, and what speaks of failing, which negation looks at."""
    return [
        word
        for word in middle
        if word.part is Part.CONTENT
        and word.place not in formed
        and word.surface not in said
        and word.folded not in SOFT_NEGATORS
    ]


def _reworded(one: Sequence[Word], other: Sequence[Word], gap_a: Sequence[Word], gap_b: Sequence[Word]) -> bool:
    """ "returns the number" and "yields the amount", "is in" and "can be found in": more than the one word is other."""
    if one and other:
        return len(one) > 1 < len(other) and not (_adjacent(one) and _adjacent(other))
    light_a, light_b = ({word.key for word in gap if word.part is Part.LIGHT} for gap in (gap_a, gap_b))
    return bool(light_b - light_a) if one else bool(light_a - light_b)


def _adjacent(words: Sequence[Word]) -> bool:
    return words[-1].place - words[0].place < len(words)


def _said(words: Sequence[Word]) -> str:
    return " ".join(word.surface for word in words)
