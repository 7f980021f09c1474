"""The part of a passage that a person should see first."""

from __future__ import annotations

import re
from collections import Counter

from harry_mcp.domain.tokens import index_terms

_BREAK = re.compile(r"(?<=[.!?])\s+|\n+")


def excerpt(text: str, question: str, width: int) -> str:
    """About ``width`` characters of the text, on one line, around the sentences that share most with the question."""
    whole = " ".join(text.split())
    if len(whole) <= width:
        return whole
    wanted = set(index_terms(question))
    parts = [" ".join(part.split()) for part in _BREAK.split(text) if part.strip()]
    held = [wanted & set(index_terms(part)) for part in parts]
    # A word that the passage says everywhere does not point at a place in it.
    often = Counter(term for terms in held for term in terms)
    none: set[str] = set()
    weights = [sum(1 / often[term] for term in none.union(*held[i : i + 3])) for i in range(len(parts))]
    best = max(range(len(parts)), key=lambda i: (weights[i], i))
    shown = " ".join(parts[best:])
    shown = shown if len(shown) <= width else shown[: width - 1].rstrip() + "…"
    return shown if best == 0 else "… " + shown
