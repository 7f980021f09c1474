"""Whether a text says anything: a word that names something, whatever the language."""

from __future__ import annotations

import regex

from harry_mcp.domain.tokens import STOP_WORDS

_WORD = regex.compile(r"[\p{L}\p{M}\p{N}_]+(?:['’ʼ＇][\p{L}\p{M}]+)?")
_SPACELESS = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
_LETTERS = regex.compile(r"\p{L}")
_APOSTROPHE = regex.compile(r"['’ʼ＇]")
# They judge what somebody else said, or speak of all and nothing.
_JUDGING = frozenset(
    """yes yeah yep no nope ok okay true false right wrong correct incorrect good bad thanks hello test sure exactly
    everything anything something nothing answer answers statement indeed never always again now longer anymore still
    yet ja nein oui non""".split()  # noqa: SIM905
)
# "doesn't" and its like, with the apostrophe and without it. "couldnt" is one, "constant" is none.
_DENYING = regex.compile(
    r"(?:do|does|did|is|are|was|were|has|have|had|ca|can|wo|would|could|should|might|must|need|ai|sha)n['’ʼ＇]?t|cannot"
)


def names_something(text: str) -> bool:
    """Whether there is a word of two letters or more that is neither a stop word nor a bare judgement.

    Numbers name nothing: "600" is true of what? Neither does "It doesn't". Scripts without spaces count by their
    characters.
    """
    return any(_names(word) for word in _WORD.findall(text))


def _names(word: str) -> bool:
    if len(_LETTERS.findall(word)) < 2:
        return False
    bare = word.casefold()
    if _SPACELESS.search(word):
        return True
    said = _APOSTROPHE.sub("", bare)
    empty = STOP_WORDS | _JUDGING
    # "it's", "they'll", "nothing's": the word before the apostrophe says what there is to say.
    return not (_DENYING.fullmatch(bare) or said in empty or _APOSTROPHE.split(bare)[0] in empty)
