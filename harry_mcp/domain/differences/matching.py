"""Which word of one text is which word of the other, and which words are left over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

import regex

from harry_mcp.domain.differences.reading import Part, Reading, Shape, Word

# What stands between two figures belongs to the number: 2.1 is not 21.
_SEPARATORS = regex.compile(r"(?<!\d)[^\p{L}\p{N}]+|[^\p{L}\p{N}]+(?!\d)")
_PARTS = regex.compile(r"[./\\:]+")
_ENDINGS = regex.compile(
    r"(ization|ations?|itions?|ptions?|tions?|ions?|ments?|ances?|ences?|ings?|ers?|ors?|able|ible|ives?|ated?|ates?|"
    r"ally|al|ity|ness|ed|es|e|s|y|ies|ist|ists|ic|ics|ary|ory|ize[sdr]?|izing)?"
)
# Shorter stems are shared by words that have nothing else in common.
_SHORTEST_ROOT = 5
_LONGEST_RUN = 4
_SHORTEST_TYPO = 5


@dataclass(frozen=True, slots=True)
class Match:
    """What is without a counterpart: ``left`` content words whose like the other text has nowhere, ``spare`` places of
    words that it has less often. ``formed`` places were matched by their form only, not as the same word."""

    left_a: tuple[Word, ...]
    left_b: tuple[Word, ...]
    spare_a: frozenset[int]
    spare_b: frozenset[int]
    formed_a: frozenset[int]
    formed_b: frozenset[int]


def match(a: Reading, b: Reading, known: Set[str]) -> Match:
    """Pair the words, the surest way first. No word of ``known`` is taken for a typing error of another."""
    links = dict(_by_key(a, b))
    back = {place_b: place_a for place_a, place_b in links.items()}
    same_a = set(links) | _present(a, {word.key for word in b.words})
    same_b = set(back) | _present(b, {word.key for word in a.words})
    known_a, known_b = set(same_a), set(same_b)
    _by_run(a, b, known_a, known_b)
    _by_initials(a, b, known_a, known_b)
    _by_form(a, b, known_a, known_b, known)
    return Match(
        left_a=_rest(a, known_a),
        left_b=_rest(b, known_b),
        spare_a=_spare(a, links, known_a - same_a),
        spare_b=_spare(b, back, known_b - same_b),
        formed_a=frozenset(known_a - same_a),
        formed_b=frozenset(known_b - same_b),
    )


def _spare(text: Reading, links: dict[int, int], formed: set[int]) -> frozenset[int]:
    return frozenset(word.place for word in text.words if word.place not in links and word.place not in formed)


def _by_form(a: Reading, b: Reading, known_a: set[int], known_b: set[int], known: Set[str]) -> None:
    for one, other, known_one, known_other in ((a, b, known_a, known_b), (b, a, known_b, known_a)):
        for word in one.content:
            if word.place in known_one or not word.folded.isalpha():
                continue
            for like in other.words:
                if like.place not in known_other and _alike(word.folded, like.folded, known):
                    known_one.add(word.place)
                    known_other.add(like.place)
                    break


def _alike(one: str, other: str, known: Set[str]) -> bool:
    if one[0] != other[0] or not other.isalpha():
        return False
    return related(one, other) or (not (one in known and other in known) and mistyped(one, other, sure=bool(known)))


def squeezed(folded: str) -> str:
    """A name without what separates its parts."""
    return _SEPARATORS.sub("", folded)


def _rest(text: Reading, known: set[int]) -> tuple[Word, ...]:
    return tuple(word for word in text.content if word.place not in known)


def _present(text: Reading, keys: set[str]) -> set[int]:
    return {word.place for word in text.words if word.key in keys}


def _by_key(a: Reading, b: Reading) -> Iterator[tuple[int, int]]:
    free: dict[str, list[int]] = {}
    for word in b.words:
        free.setdefault(word.key, []).append(word.place)
    for word in a.words:
        places = free.get(word.key)
        if places:
            yield word.place, places.pop(0)


def _by_run(a: Reading, b: Reading, known_a: set[int], known_b: set[int]) -> None:
    """ "HubSpot" and "hub spot", "SQLSTATE-08003" and "SQLSTATE 08003"."""
    for one, other, known_one, known_other in ((a, b, known_a, known_b), (b, a, known_b, known_a)):
        wanted = {
            squeezed(word.folded): word.place
            for word in one.words
            if word.place not in known_one and word.shape is not Shape.NUMBER
        }
        # "datasets.Metric" is also called "Metric".
        wanted |= dict(_tails(one, known_one))
        wanted.pop("", None)
        for run in _runs(other) if wanted else ():
            place = wanted.get(squeezed(" ".join(word.folded for word in run)))
            if place is not None:
                known_one.add(place)
                known_other.update(word.place for word in run)


def _tails(text: Reading, known: set[int]) -> Iterator[tuple[str, int]]:
    for word in text.content:
        if word.place not in known and word.shape is Shape.CODE:
            tail = _PARTS.split(word.folded)[-1]
            if len(tail) > 3 and tail.isalpha():
                yield tail, word.place


def _runs(text: Reading) -> Iterator[Sequence[Word]]:
    for start in range(len(text.words)):
        for length in range(1, _LONGEST_RUN + 1):
            run = text.words[start : start + length]
            if len(run) == length:
                yield run


def _by_initials(a: Reading, b: Reading, known_a: set[int], known_b: set[int]) -> None:
    """ "HF" and "Hugging Face": an acronym that the other text spells out."""
    for one, other, known_one, known_other in ((a, b, known_a, known_b), (b, a, known_b, known_a)):
        for word in one.content:
            letters = word.folded
            if word.place in known_one or not (2 <= len(letters) <= 5 and letters.isalpha()):
                continue
            size = len(letters)
            for start in range(len(other.words) - size + 1):
                run = other.words[start : start + size]
                if "".join(each.folded[0] for each in run) == letters and _spells(run, known_other):
                    known_one.add(word.place)
                    known_other.update(each.place for each in run)
                    break


def _spells(run: Sequence[Word], known: set[int]) -> bool:
    # Either the acronym stands for these words, or it is a second name beside them.
    if len({word.place in known for word in run}) > 1:
        return False
    return all(word.part in (Part.CONTENT, Part.LIGHT) and len(word.folded) > 1 for word in run)


def related(one: str, other: str) -> bool:
    """Whether two words are forms of one root: "description" and "descriptive"."""
    if one[:_SHORTEST_ROOT] != other[:_SHORTEST_ROOT]:
        return False
    shared = 0
    for x, y in zip(one, other, strict=False):
        if x != y:
            break
        shared += 1
    for root in range(shared, _SHORTEST_ROOT - 1, -1):
        if _ENDINGS.fullmatch(one[root:]) and _ENDINGS.fullmatch(other[root:]):
            return True
    return False


def mistyped(x: str, y: str, *, sure: bool) -> bool:
    """Whether one slip of the fingers makes the one word the other.

    Two letters changed about or one doubled hardly ever make another word; one letter more, less or other does
    ("contact" and "contract"), so that it takes a list of words to be ``sure``.
    """
    if abs(len(x) - len(y)) > 1 or min(len(x), len(y)) < _SHORTEST_TYPO:
        return False
    start = 0
    while start < min(len(x), len(y)) and x[start] == y[start]:
        start += 1
    rest_x, rest_y = (x[start:], y[start:]) if len(x) >= len(y) else (y[start:], x[start:])
    if len(x) == len(y):
        changed_about = rest_x[:2] == rest_y[:2][::-1] and rest_x[2:] == rest_y[2:]
        return changed_about or (rest_x[1:] == rest_y[1:] and sure)
    longer = x if len(x) > len(y) else y
    doubled = start > 0 and longer[start] == longer[start - 1]
    return rest_x[1:] == rest_y and (doubled or sure)
