"""What two texts deny: a word that one of them denies and the other affirms turns its meaning round."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harry_mcp.domain.differences.lexicon import SOFT_NEGATORS
from harry_mcp.domain.differences.reading import Part, Reading, Word

# "not only", but not "cannot only".
_NOT_DENYING = frozenset({"only", "just", "necessarily", "merely"})
_AUXILIARIES = frozenset({"can", "could", "may", "should", "must", "will", "do", "does", "is", "are"})
_OF_THINGS = frozenset({"no", "kein", "keine", "keinen", "keiner", "geen"})
_HOLLOW = _NOT_DENYING | {"longer"}
_SOFT = SOFT_NEGATORS | {"prevent", "prevents", "prevented", "difficult", "hard", "impossible"}
# "sets no cookies" and "does not use any cookies": what is denied may stand some words behind the denial.
_SCOPE = 4


@dataclass(frozen=True, slots=True)
class Denials:
    """Keys of words. ``turned`` are denied in one text and affirmed in the other, ``shared`` denied in both."""

    turned: frozenset[str]
    shared: frozenset[str]
    soft: bool
    """One text has a word such as "fails" that the other has not, which may stand for a denial."""


def denials(one: Reading, other: Reading) -> Denials:
    """Compare what two texts deny, in English and by the commonest words of other languages."""
    mine, theirs = _denied(one), _denied(other)
    keys_one, keys_other = ({word.key for word in text.words} for text in (one, other))
    turned_one, shared_one = _against(mine, theirs, keys_other)
    turned_other, shared_other = _against(theirs, mine, keys_one)
    return Denials(
        frozenset(turned_one | turned_other),
        frozenset(shared_one | shared_other),
        _has_soft(one.words, keys_other) or _has_soft(other.words, keys_one),
    )


def _against(mine: list[tuple[str, ...]], theirs: list[tuple[str, ...]], keys: set[str]) -> tuple[set[str], set[str]]:
    """Heads of my denials that the other text has too: those that it affirms, and those that it denies."""
    heads, their_heads = {scope[0] for scope in mine}, {scope[0] for scope in theirs}
    # A denial of theirs that matches another one of mine says nothing of this one.
    free = {key for scope in theirs if scope[0] not in heads for key in scope}
    shared = {head for head in heads & keys if head in their_heads or head in free}
    return (heads & keys) - shared, shared


def _denied(text: Reading) -> list[tuple[str, ...]]:
    """For each denial the keys of the words that it may speak of: the one that it denies first."""
    found = (_scope(text, word) for word in text.words if _denies(text, word))
    return [scope for scope in found if scope]


def _denies(text: Reading, word: Word) -> bool:
    if word.part is not Part.NEGATION:
        return False
    before = text.folded[word.place - 1] if word.place else ""
    behind = text.folded[word.place + 1] if word.place + 1 < len(text.folded) else ""
    emphatic = word.folded == "not" and behind in _NOT_DENYING and before not in _AUXILIARIES
    return before != "or" and not emphatic


def _scope(text: Reading, negator: Word) -> tuple[str, ...]:
    behind = _telling(text.words[negator.place + 1 :])[:_SCOPE]
    # "sets no cookies" does not set any.
    before = _telling(reversed(text.words[: negator.place]))[:1] if negator.folded in _OF_THINGS else ()
    return (*behind, *before) if behind else ()


def _telling(words: Iterable[Word]) -> tuple[str, ...]:
    said = (word for word in words if word.part in (Part.CONTENT, Part.LIGHT))
    return tuple(word.key for word in said if word.folded not in _HOLLOW)


def _has_soft(words: Iterable[Word], keys: set[str]) -> bool:
    return any(word.folded in _SOFT and word.key not in keys for word in words)
