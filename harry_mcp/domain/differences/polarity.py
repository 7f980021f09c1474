"""Negation, opposites, and things of one kind of which a question means one."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence, Set

from harry_mcp.domain.differences.forms import key, stem
from harry_mcp.domain.differences.kinds import Difference, Kind
from harry_mcp.domain.differences.lexicon import SOFT_NEGATORS
from harry_mcp.domain.differences.reading import Part, Reading, Word
from harry_mcp.domain.differences.relations import CONTRASTING, EXCLUSIVE, OPPOSITES

_DENYING_PREFIXES = ("un", "dis", "non", "de", "in", "im", "ir", "mis", "anti")
_SHORTEST_ROOT = 3
_PARTICLES = {"on": "off", "off": "on", "in": "out", "out": "in", "up": "down", "down": "up"}
_NOT_DENIED = (("only",), ("just",), ("necessarily",))
# A negation speaks of the next words.
_SCOPE = 2


@functools.cache
def _opposed() -> dict[str, frozenset[str]]:
    opposite: dict[str, set[str]] = {}
    for one, other in ((key(first), key(second)) for first, second in OPPOSITES):
        if one != other:
            opposite.setdefault(one, set()).add(other)
            opposite.setdefault(other, set()).add(one)
    return {word: frozenset(others) for word, others in opposite.items()}


@functools.cache
def _soft_stems() -> frozenset[str]:
    return frozenset(stem(word) for word in SOFT_NEGATORS)


def _groups(lines: Iterable[tuple[str, ...]]) -> dict[str, int]:
    return {word: number for number, line in enumerate(lines) for word in line}


_EXCLUSIVE = _groups(EXCLUSIVE)
_CONTRASTING = _groups(CONTRASTING)


def polarity_differences(a: Reading, b: Reading, spare_a: Set[int], spare_b: Set[int]) -> list[Difference]:
    """Where one text denies or turns about what the other says. ``spare`` are the places without a counterpart."""
    opposites = list(_opposites(_words(a, spare_a), _words(b, spare_b)))
    if not opposites:
        opposites.extend(_off(a, b))
    negation = _negation(a, b, spare_a, spare_b)
    found = [*opposites, *([negation] if negation else [])]
    # "is not enabled" and "is disabled" say the same.
    if len(opposites) == 1 and (_denies(a, opposites[0].a) != _denies(b, opposites[0].b)):
        return [Difference(each.kind, each.a, each.b, False) for each in found]
    return found


def _negation(a: Reading, b: Reading, spare_a: Set[int], spare_b: Set[int]) -> Difference | None:
    denied_a, denied_b = _negators(a), _negators(b)
    if len(denied_a) < len(denied_b):
        turned = _negation(b, a, spare_b, spare_a)
        return turned.turned if turned else None
    if len(denied_a) <= len(denied_b) + _soft(b, spare_b):
        return None
    # Of several negations one may be said in other words; the only one may not.
    keys = {word.key for word in b.words}
    certain = not denied_b or all(_scope(a, word) & keys for word in denied_a)
    said_a, said_b = (" … ".join(word.surface for word in words) for words in (denied_a, denied_b))
    return Difference(Kind.NEGATION, said_a, said_b, certain)


def _negators(text: Reading) -> list[Word]:
    found: list[Word] = []
    for word in text.words:
        before = text.folded[word.place - 1] if word.place else ""
        # "whether or not" and "not only" deny nothing; "No, ..." may answer whatever was asked.
        behind = text.folded[word.place + 1 : word.place + 2]
        if word.part is not Part.NEGATION or before == "or" or behind in _NOT_DENIED:
            continue
        if before or word.folded != "no":
            found.append(word)
    return found


def _scope(text: Reading, negator: Word) -> set[str]:
    following = [word for word in text.words[negator.place + 1 :] if word.part in (Part.CONTENT, Part.LIGHT)]
    return {word.key for word in following[:_SCOPE]}


def _denies(text: Reading, surface: str) -> bool:
    keys = {word.key for word in text.words if word.surface == surface}
    return any(_scope(text, negator) & keys for negator in _negators(text))


def _soft(text: Reading, spare: Set[int]) -> int:
    return sum(stem(word.folded) in _soft_stems() for word in _words(text, spare)) + (text.folded[:1] == ("no",))


def _words(text: Reading, places: Set[int]) -> list[Word]:
    return [word for word in text.words if word.place in places and word.part is not Part.NEGATION]


def _opposites(a: Sequence[Word], b: Sequence[Word]) -> Iterator[Difference]:
    theirs: dict[str, Word] = {word.key: word for word in reversed(b)}
    turned = {name: word for word in reversed(b) for name in _counterparts(word.folded, word.key)}
    for word in a:
        names = [name for name in _counterparts(word.folded, word.key) if name in theirs]
        others = [theirs[name] for name in names] or ([turned[word.key]] if word.key in turned else [])
        for other in others[:1]:
            if word.key != other.key:
                yield Difference(Kind.OPPOSITE, word.surface, other.surface)


@functools.lru_cache(maxsize=20_000)
def _counterparts(folded: str, name: str) -> tuple[str, ...]:
    """The keys of what is opposite to a word: from the table, without a denying prefix, with the other particle."""
    keys = set(_opposed().get(name, ()))
    for prefix in _DENYING_PREFIXES:
        root = folded.removeprefix(prefix)
        if root != folded and len(root) >= _SHORTEST_ROOT:
            keys.add(key(root))
    verb, _, particle = name.rpartition("_")
    if verb and particle in _PARTICLES:
        keys.add(f"{verb}_{_PARTICLES[particle]}")
    return tuple(sorted(keys))


def _off(a: Reading, b: Reading) -> Iterator[Difference]:
    """ "with caching on" and "with caching off"."""
    one, other = ({"on", "off"} & set(text.folded) for text in (a, b))
    if len(a.words) == len(b.words) and "off" in one ^ other and one and other:
        yield Difference(Kind.OPPOSITE, max(one), max(other))


def variant_differences(left_a: Iterable[Word], left_b: Iterable[Word]) -> list[Difference]:
    """Another platform, edition, format; or one where the other text names none. Of the words left over."""
    differences: list[Difference] = []
    left_a, left_b = list(left_a), list(left_b)
    for groups, alone in ((_EXCLUSIVE, True), (_CONTRASTING, False)):
        of_a, of_b = _members(left_a, groups), _members(left_b, groups)
        for group in sorted({*of_a, *of_b}):
            one, other = of_a.get(group, []), of_b.get(group, [])
            if (one and other) or alone:
                differences.append(Difference(Kind.VARIANT, " ".join(one), " ".join(other)))
    return differences


def _members(words: list[Word], groups: dict[str, int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for word in words:
        group = groups.get(word.folded, groups.get(word.folded.removesuffix("s")))
        if group is not None:
            found.setdefault(group, []).append(word.surface)
    return found
