"""Numbers with their units, versions and dates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import regex

from harry_mcp.domain.differences.kinds import Difference, Kind
from harry_mcp.domain.differences.measures import MONTHS, NUMBERS, UNITS
from harry_mcp.domain.differences.reading import Reading, Shape, Word

_NUMBER = regex.compile(r"^(?P<sign>[$€£#+v-]*)(?P<digits>\d+(?:[.,:/-]\d+)*)(?:\.x)?(?P<tail>\+|%|[a-z.]*)$")
_DATE = regex.compile(r"^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$")
_ORDINAL = frozenset({"st", "nd", "rd", "th"})
_VERSION_WORDS = frozenset({"version", "versions", "release", "v", "fixpack", "pack", "edition", "revision", "build"})
_MONTH_NAMES = tuple(dict.fromkeys(MONTHS.values()))


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as it counts: ``value`` is equal however it was written. ``places`` are the words it is made of."""

    value: str
    unit: str
    kind: Kind
    fragment: str
    places: tuple[int, ...]
    spoken: bool


def quantities(text: Reading) -> tuple[Quantity, ...]:
    """The numbers of a text, in order. A month beside a number counts as one too."""
    found: list[Quantity] = []
    for place, word in enumerate(text.words):
        found.extend(_read(text.words, place, word))
    return tuple(found)


def number_differences(
    a: Sequence[Quantity], b: Sequence[Quantity], left_a: frozenset[int], left_b: frozenset[int]
) -> list[Difference]:
    """Numbers that one text has and the other has not, side by side where both have one.

    ``left_a`` and ``left_b`` are the places of the words without a counterpart: "7" has one in "WAS7".
    """
    only_a, only_b = _missing(a, b, left_a), _missing(b, a, left_b)
    differences = [
        Difference(
            pair[0].kind if pair[0].kind is not Kind.NUMBER else pair[1].kind, pair[0].fragment, pair[1].fragment
        )
        for pair in zip(only_a, only_b, strict=False)
    ]
    for rest, turned in ((only_a[len(only_b) :], False), (only_b[len(only_a) :], True)):
        for quantity in rest:
            # "one way to ..." and "the first step" count nothing.
            if quantity.value == "1" and quantity.spoken:
                continue
            alone = Difference(quantity.kind, quantity.fragment, "", not quantity.spoken)
            differences.append(alone.turned if turned else alone)
    return differences + _unit_differences(a, b)


def _missing(quantities: Sequence[Quantity], others: Sequence[Quantity], left: frozenset[int]) -> list[Quantity]:
    values = {quantity.value for quantity in others}
    distinct = {
        quantity.value: quantity
        for quantity in quantities
        if quantity.value not in values and quantity.places[0] in left
    }
    return list(distinct.values())


def _unit_differences(a: Sequence[Quantity], b: Sequence[Quantity]) -> list[Difference]:
    units: dict[str, tuple[Quantity, set[str]]] = {}
    for quantity in b:
        if quantity.unit:
            units.setdefault(quantity.value, (quantity, set()))[1].add(quantity.unit)
    differences: list[Difference] = []
    for quantity in a:
        other, theirs = units.get(quantity.value, (quantity, {quantity.unit}))
        if quantity.unit and quantity.unit not in theirs:
            differences.append(Difference(Kind.UNIT, quantity.fragment, other.fragment))
    return differences


def _read(words: tuple[Word, ...], place: int, word: Word) -> Iterable[Quantity]:
    if word.shape is Shape.NUMBER:
        date = _DATE.match(word.folded)
        if date and 1 <= int(date[2]) <= 12:
            month = _MONTH_NAMES[int(date[2]) - 1]
            for value in (date[1], month, date[3].lstrip("0")):
                yield Quantity(value, "", Kind.DATE, word.surface, (place,), False)
            return
        yield _written(words, place, word)
    elif word.folded in NUMBERS and not _is_unit(words, place, word):
        yield _spoken(words, place, word)
    elif word.folded in MONTHS and _dated(words, place, word):
        yield Quantity(MONTHS[word.folded], "", Kind.DATE, word.surface, (place,), False)


def _is_unit(words: tuple[Word, ...], place: int, word: Word) -> bool:
    return word.folded == "second" and place > 0 and words[place - 1].shape is Shape.NUMBER


def _spoken(words: tuple[Word, ...], place: int, word: Word) -> Quantity:
    unit, fragment, places = _unit_after(words, place)
    return Quantity(NUMBERS[word.folded], unit, Kind.NUMBER, fragment, places, True)


def _dated(words: tuple[Word, ...], place: int, word: Word) -> bool:
    beside = words[max(0, place - 1) : place] + words[place + 1 : place + 2]
    if any(other.shape is Shape.NUMBER for other in beside):
        return True
    # "may" and "march" are more often verbs.
    return word.folded not in ("may", "march", "mar", "jun", "sep", "dec", "jan") or word.shape is Shape.CAPITAL


def _written(words: tuple[Word, ...], place: int, word: Word) -> Quantity:
    match = _NUMBER.match(word.folded)
    if match is None:
        # "12c", "2nd-level": compared as it stands.
        return Quantity(word.folded, "", Kind.NAME, word.surface, (place,), False)
    value, tail, sign = match["digits"], match["tail"].strip("."), match["sign"]
    unit, fragment, places = "", word.surface, (place,)
    kind = Kind.NUMBER
    if "$" in sign or "€" in sign or "£" in sign:
        unit = UNITS[sign.strip("+-v#")]
    elif tail in UNITS:
        unit = UNITS[tail]
    elif tail in _ORDINAL or tail in ("", "+"):
        unit, fragment, places = _unit_after(words, place)
    else:
        value += tail
    if sign.endswith("v") or value.count(".") > 1 or (place and words[place - 1].folded in _VERSION_WORDS):
        kind = Kind.VERSION
    elif _beside_month(words, place) or (len(value) == 4 and value[:2] in ("19", "20")):
        kind = Kind.DATE
    if "-" in sign:
        value = "-" + value
    if "." in value:
        while value.endswith(".0"):
            value = value[:-2]
    return Quantity(value, unit, kind, fragment, places, False)


def _beside_month(words: tuple[Word, ...], place: int) -> bool:
    return any(word.folded in MONTHS for word in words[max(0, place - 2) : place + 3])


def _unit_after(words: tuple[Word, ...], place: int) -> tuple[str, str, tuple[int, ...]]:
    following = words[place + 1] if place + 1 < len(words) else None
    if following is not None and following.folded in UNITS and len(following.folded) > 1:
        return UNITS[following.folded], f"{words[place].surface} {following.surface}", (place, place + 1)
    return "", words[place].surface, (place,)
