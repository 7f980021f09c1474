"""Telling one lesson from several in one text."""

from __future__ import annotations

import regex

# A list, or a sentence end with another sentence behind it. "e.g. this", "v1.2" and "Settings > API. Keys" hold none.
_ITEM = regex.compile(r"(?m)^\s*(?:[-*•]|\d+[.)])\s+\S")
_SENTENCE_END = regex.compile(
    r"(?<!\b(?:e\.g|i\.e|etc|vs|approx|no|fig|st|dr|mr|mrs|inc|ltd|cf))[.!?]\s+(?=\p{Lu})", regex.I
)
_TURN = regex.compile(
    r"[.;]\s+(?:also|besides|in addition|additionally|furthermore|moreover|secondly)\b|;\s+\p{L}", regex.I
)
# A reason or a detail of the same statement, no statement of its own.
_CONTINUES = regex.compile(
    r"^(?:it|this|that|these|those|they|then|so|because|otherwise|instead|not|never|only|use|see|the (?:old|new|former))\b",
    regex.IGNORECASE,
)


def count_lessons(text: str) -> int:
    """How many statements a text makes, as far as its form shows: items of a list, or sentences that start anew."""
    items = len(_ITEM.findall(text))
    if items > 1:
        return items
    parts = [part for part in _SENTENCE_END.split(_TURN.sub(". ", text)) if part.strip()]
    anew = [part for number, part in enumerate(parts) if number and not _CONTINUES.match(part.strip())]
    turns = len(_TURN.findall(text))
    return 1 + (turns if turns else max(0, len(anew) - 1))
