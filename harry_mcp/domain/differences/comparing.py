"""`differences`: everything that keeps two texts from meaning the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harry_mcp.domain.differences.kinds import Difference, Differences
from harry_mcp.domain.differences.leftovers import name_differences, object_differences
from harry_mcp.domain.differences.matching import match
from harry_mcp.domain.differences.order import direction_differences
from harry_mcp.domain.differences.polarity import polarity_differences, variant_differences
from harry_mcp.domain.differences.quantities import Quantity, number_differences, quantities
from harry_mcp.domain.differences.reading import Reading, Word, read
from harry_mcp.domain.differences.vocabulary import Vocabulary

NOTHING_KNOWN = Vocabulary()


def differences(a: str, b: str, *, vocabulary: Vocabulary = NOTHING_KNOWN) -> Differences:
    """What differs between two short texts in ways that change the meaning.

    Numbers and names are compared in any language, opposites and negation in English. The knowledge base's
    ``vocabulary`` is needed for names typed in lower case inside a sentence that is worded differently.
    """
    one, other = read(a), read(b)
    if one.folded == other.folded:
        return Differences()
    # One order inside, so that the result is the same whichever text comes first.
    if other.folded < one.folded:
        return Differences(tuple(each.turned for each in _compare(other, one, vocabulary)))
    return Differences(tuple(_compare(one, other, vocabulary)))


def _compare(a: Reading, b: Reading, vocabulary: Vocabulary) -> list[Difference]:
    found = match(a, b, vocabulary.known)
    numbers_a, numbers_b = quantities(a), quantities(b)
    numbers = number_differences(numbers_a, numbers_b, _places(found.left_a), _places(found.left_b))
    polarity = polarity_differences(a, b, found.spare_a, found.spare_b)
    turned = _fragments(polarity)
    left_a = _without(found.left_a, numbers_a, turned)
    left_b = _without(found.left_b, numbers_b, turned)
    variants = variant_differences(left_a, left_b)
    said = {word for fragment in _fragments(variants) for word in fragment.split()}
    left_a, left_b = _without(left_a, (), said), _without(left_b, (), said)
    names = name_differences(a, b, left_a, left_b, vocabulary)
    told = [*numbers, *polarity, *direction_differences(a, b), *variants, *names]
    if any(each.certain for each in told):
        return told
    return told + object_differences(a, b, found, (left_a, left_b), turned)


def _places(words: Iterable[Word]) -> frozenset[int]:
    return frozenset(word.place for word in words)


def _fragments(differences: Iterable[Difference]) -> set[str]:
    return {fragment for each in differences for fragment in (each.a, each.b)}


def _without(words: Sequence[Word], numbers: Sequence[Quantity], said: set[str]) -> tuple[Word, ...]:
    counted = {place for quantity in numbers for place in quantity.places}
    return tuple(word for word in words if word.place not in counted and word.surface not in said)
