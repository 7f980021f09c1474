"""Two questions that ask the same in the same words, but for what people add or leave out without meaning anything.

"How much is the Team plan?" and "What does Team cost?" lie further apart by meaning than many that ask different
things; their words tell that they are one.
"""

from __future__ import annotations

import regex

from harry_mcp.domain.differences.reading import Part, Reading, Word, read

# Behind a name they only say what kind of thing it is.
_KINDS = frozenset(("plan", "tier", "edition", "package", "subscription"))
_PRICE = "cost"
_HOW_MUCH_IS = regex.compile(r"\bhow much (?:is|are)\b", regex.IGNORECASE)
_ASKS = regex.compile(
    r"\b(?:how (?:much|many|long|often|far|old|fast|big|soon)|how|what|whats|which|who|whom|whose|when|where|why)\b",
    regex.IGNORECASE,
)
_FOR_A_PRICE = frozenset(("what", "how much", "whats"))


def same_words(question: str, asked: str) -> bool:
    """Whether two questions ask for the same with the same words that carry meaning, synonyms as one."""
    one, other = read(question), read(asked)
    mine, theirs = _telling(one, question, other), _telling(other, asked, one)
    return bool(mine) and mine == theirs and _asks(question, mine) == _asks(asked, theirs) != frozenset()


def _telling(reading: Reading, text: str, other: Reading) -> frozenset[str]:
    """The keys of the words that carry meaning, without a kind behind a word that the other text has alone."""
    said = frozenset(
        word.key
        for word in reading.words
        if word.part in (Part.CONTENT, Part.LIGHT, Part.NEGATION) and not _only_a_kind(word, reading, other)
    )
    return said | {_PRICE} if _HOW_MUCH_IS.search(text) else said


def _only_a_kind(word: Word, reading: Reading, other: Reading) -> bool:
    if word.folded not in _KINDS or not word.place:
        return False
    before = reading.words[word.place - 1]
    kinds = any(each.folded in _KINDS for each in other.words)
    return not kinds and before.part is Part.CONTENT and before.key in {each.key for each in other.words}


def _asks(text: str, said: frozenset[str]) -> frozenset[str]:
    """What a question asks for, as its question words tell; for a price, however it is put."""
    found = frozenset(match.group().casefold() for match in _ASKS.finditer(text))
    return frozenset((_PRICE,)) if _PRICE in said and found and found <= _FOR_A_PRICE else found
