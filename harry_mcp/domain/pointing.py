"""Statements that begin with a word for something said before: "It costs 5 euro", "Yes, in the settings"."""

from __future__ import annotations

import regex

_POINTS = regex.compile(
    r"^(?:it|its|they|their|he|she|this|that|these|those|there|yes|no|you|use|es|das|dies\w*|sie|er|ja|nein|il|elle|ils"
    r"|c'est|oui|non|ello|eso|sí|questo|sì)\b",
    regex.IGNORECASE,
)


def points(text: str) -> bool:
    """Whether a statement begins with a word that points at what was said before it."""
    return bool(_POINTS.match(text.strip()))
