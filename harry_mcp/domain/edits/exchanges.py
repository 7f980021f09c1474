"""Words that others took the place of, and words that were put in, where all around them stayed the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from harry_mcp.domain.differences import Difference
from harry_mcp.domain.differences.matching import Match, mistyped
from harry_mcp.domain.differences.reading import Part, Reading, Shape, Word

_NAMING = frozenset({Shape.CAPITAL, Shape.ACRONYM, Shape.CODE, Shape.QUOTED})
# Words that tell something wherever they stand: another one in this place is another fact.
_TELLING = _NAMING | {Shape.NUMBER}
_LONGEST = 2


def words_of(line: str) -> frozenset[str]:
    """The words of a line, to look them up."""
    return frozenset(line.split())


_GERMAN = words_of(
    "der die das den dem des und oder ist sind wird werden nicht ein eine einen auf mit von für im zum zur sie"
)
_ENOUGH = 2


def exchanges(one: Reading, other: Reading, matched: Match) -> Iterator[tuple[Word, ...]]:
    """Words that others took the place of, with those others: what stands around them is the same."""
    left = {*matched.left_a, *matched.left_b}
    keys = {word.key for word in one.words} & {word.key for word in other.words}
    for what, a, a_end, b, b_end in SequenceMatcher(None, one.folded, other.folded, autojunk=False).get_opcodes():
        if what != "replace" or max(a_end - a, b_end - b) > _LONGEST:
            continue
        old, new = (
            [w for w in words if w in left or (w.shape in _TELLING and w.part in (Part.CONTENT, Part.LIGHT))]
            for words in (one.words[a:a_end], other.words[b:b_end])
        )
        if old and new and not _one_word(old, new) and any(w in left or w.key not in keys for w in (*old, *new)):
            yield tuple(old + new)


def inserted(one: Reading, other: Reading) -> Iterator[str]:
    """The words that begin what was put in."""
    for what, _, _, start, _ in SequenceMatcher(None, one.folded, other.folded, autojunk=False).get_opcodes():
        if what == "insert":
            yield other.folded[start]


def _one_word(old: Sequence[Word], new: Sequence[Word]) -> bool:
    """Two forms of it, or a slip of the fingers."""
    shared = {word.key for word in old} & {word.key for word in new}
    return bool(shared) or (len(old) == len(new) == 1 and slip(old[0].folded, new[0].folded))


def counting(words: Sequence[Word]) -> bool:
    """Whether a number took the place of a number."""
    return len(words) == 2 and all(word.shape is Shape.NUMBER for word in words)


def naming(words: Sequence[Word], *, german: bool) -> bool:
    """Whether one of the words is written as names are."""
    shapes = _NAMING - {Shape.CAPITAL} if german else _NAMING
    return any(word.shape in shapes for word in words)


def is_german(text: Reading) -> bool:
    """Where every noun has a capital, a capital names nothing."""
    return len(_GERMAN & set(text.folded)) >= _ENOUGH


def written_as_name(each: Difference) -> bool:
    """By more than its first letter: "HubSpot", "DSGVO", "v2"."""
    return any(not side[1:].islower() for side in (each.a, each.b) if side)


def slip(one: str, other: str) -> bool:
    """Whether one word is the other with a slip of the fingers."""
    return one.isalpha() and other.isalpha() and mistyped(one, other, sure=True)
