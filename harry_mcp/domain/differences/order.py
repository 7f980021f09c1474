"""Who does what to whom: the same words with their parts exchanged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harry_mcp.domain.differences.kinds import Difference, Kind
from harry_mcp.domain.differences.lexicon import DIRECTED, PREPOSITIONS
from harry_mcp.domain.differences.measures import MONTHS
from harry_mcp.domain.differences.reading import Part, Reading, Word

_TURNED = frozenset(
    frozenset(pair.split())
    for pair in (
        "to from",
        "into from",
        "onto from",
        "for from",
        "for against",
        "within after",
        "over under",
        "until from",
    )
)


@dataclass(frozen=True, slots=True)
class _Relation:
    """ "X to Y": the content words close before and behind a preposition."""

    preposition: str
    before: tuple[Word, ...]
    behind: tuple[Word, ...]


def direction_differences(a: Reading, b: Reading) -> list[Difference]:
    """ "from A to B" against "from B to A", "link X to Y" against "link Y to X", "can A replace B" turned about."""
    theirs = list(_relations(b))
    for one in _relations(a):
        for other in theirs:
            if one.preposition == other.preposition and _crossed(one, other):
                return [Difference(Kind.DIRECTION, _said(one), _said(other))]
    return [*_turned_about(a, b), *_turned_round(a, b)]


def _said(relation: _Relation) -> str:
    before, behind = (" ".join(word.surface for word in words) for words in (relation.before, relation.behind))
    return f"{before} {relation.preposition} {behind}"


def _crossed(one: _Relation, other: _Relation) -> bool:
    left, right = _keys(one.before), _keys(one.behind)
    left_b, right_b = _keys(other.before), _keys(other.behind)
    return bool(left & right_b - right - left_b) and bool(right & left_b - left - right_b)


def _keys(words: tuple[Word, ...]) -> frozenset[str]:
    return frozenset(word.key for word in words)


def _relations(text: Reading) -> Iterator[_Relation]:
    for place, word in enumerate(text.words):
        if word.folded in DIRECTED:
            before = _content(text.words[:place][::-1])[::-1]
            behind = _content(text.words[place + 1 :])
            if before and behind:
                yield _Relation(word.folded, before, behind)


def _content(words: tuple[Word, ...]) -> tuple[Word, ...]:
    found: list[Word] = []
    for word in words:
        if word.part is Part.CONTENT:
            found.append(word)
        elif word.folded not in ("the", "a", "an", "my", "your", "our", "their", "its"):
            break
    return tuple(found)


def _turned_about(a: Reading, b: Reading) -> Iterator[Difference]:
    """The same frame of small words with the same content words in another order."""
    if len(a.words) != len(b.words) or sorted(w.key for w in a.words) != sorted(w.key for w in b.words):
        return
    moved: list[tuple[Word, Word]] = []
    for one, other in zip(a.words, b.words, strict=True):
        if one.key != other.key:
            # "October 15" and "15 October" are one.
            if one.part is not Part.CONTENT or other.part is not Part.CONTENT or one.key in MONTHS:
                return
            moved.append((one, other))
    if moved:
        yield Difference(
            Kind.DIRECTION, " … ".join(one.surface for one, _ in moved), " … ".join(other.surface for _, other in moved)
        )


def _turned_round(a: Reading, b: Reading) -> Iterator[Difference]:
    """The same words with one preposition turned round: "shipping to Canada" and "shipping from Canada"."""
    one, other = _telling(a), _telling(b)
    if len(one) != len(other):
        return
    turned = [pair for pair in zip(one, other, strict=True) if pair[0].key != pair[1].key]
    if len(turned) == 1 and frozenset(word.folded for word in turned[0]) in _TURNED:
        yield Difference(Kind.DIRECTION, turned[0][0].surface, turned[0][1].surface)


def _telling(text: Reading) -> list[Word]:
    return [word for word in text.words if word.part is Part.CONTENT or word.folded in PREPOSITIONS]
