"""Telling one lesson from several in one text."""

from __future__ import annotations

import regex

# A list, or a sentence end with another sentence behind it. "e.g. this", "v1.2" and "Settings > API. Keys" hold none.
_ITEM = regex.compile(r"(?m)^\s*(?:[-*•]|\d+[.)])\s+\S")
_SENTENCE_END = regex.compile(
    r"(?<!\b(?i:e\.g|i\.e|etc|vs|approx|no|fig|st|dr|mr|mrs|inc|ltd|cf|\p{L}\.\p{L}))[.!?]\s+(?=\p{Lu})|;\s+(?=\p{L})|\x1e"
)
# The writer says himself that another thing follows.
_TURN = regex.compile(
    r"[.;]\s+(?:also|besides|in addition|additionally|furthermore|moreover|secondly)\b,?\s*", regex.IGNORECASE
)
# A reason or a detail of the same statement, no statement of its own.
_CONTINUES = regex.compile(
    r"^(?:it|this|that|these|those|they|then|there|so|because|otherwise|instead|however|but|not|never|only|use|see"
    r"|the (?:old|new|former))\b",
    regex.IGNORECASE,
)
# A statement and one more sentence are most often one lesson with its reason; three are not.
_ONE_LESSON = 2


def count_lessons(text: str) -> int:
    """How many statements a text makes, as far as its form shows: items of a list, or sentences that start anew."""
    items = len(_ITEM.findall(text))
    if items > 1:
        return items
    _, *others = [part for part in _SENTENCE_END.split(_TURN.sub("\x1e", text)) if part.strip()] or [""]
    anew = 1 + sum(not _CONTINUES.match(part.strip()) for part in others)
    return anew if anew > _ONE_LESSON or _TURN.search(text) else 1
