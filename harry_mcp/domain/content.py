"""Whether a text says anything: a word that names something, whatever the language."""

from __future__ import annotations

import regex

from harry_mcp.domain.tokens import STOP_WORDS

_WORD = regex.compile(r"[\p{L}\p{M}\p{N}_]+(?:['’][\p{L}\p{M}]+)?")
_SPACELESS = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
_LETTERS = regex.compile(r"\p{L}")
# They judge what somebody else said, and name nothing.
_JUDGING = frozenset(
    "yes yeah yep no nope ok okay true false right wrong correct incorrect good bad thanks hello test".split()  # noqa: SIM905
)


def names_something(text: str) -> bool:
    """Whether there is a word of two letters or more that is neither a stop word nor a bare judgement.

    Numbers name nothing: "600" is true of what? Scripts without spaces count by their characters.
    """
    return any(_names(word) for word in _WORD.findall(text))


def _names(word: str) -> bool:
    if len(_LETTERS.findall(word)) < 2:
        return False
    bare = word.casefold().replace("'", "").replace("’", "")
    return bool(_SPACELESS.search(word)) or bare not in STOP_WORDS | _JUDGING
