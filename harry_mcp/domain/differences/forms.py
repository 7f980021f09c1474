"""What makes two forms of a word one: case, inflection, spelling, synonyms, figures for words."""

from __future__ import annotations

import functools
import unicodedata

import regex

from harry_mcp.domain.differences.measures import MONTHS, NUMBERS
from harry_mcp.domain.differences.relations import SYNONYMS
from harry_mcp.domain.tokens import index_terms

_FORMS = MONTHS | NUMBERS
_FIGURES = regex.compile(r"^v?(\d+(?:\.\d+)*?)(?:\.0+)*(?:\.x|st|nd|rd|th|\+)?$")
_CLITIC = regex.compile(r"'(s|ll|re|ve|d|m)$")
_AMERICAN = (
    (regex.compile(r"is(e[ds]?|ing|ation|ations|er|ers)$"), r"iz\1"),
    (regex.compile(r"(?<=[a-z]{3})our(s|ed|ing)?$"), r"or\1"),
)
_IRREGULAR = {
    "bought": "buy", "built": "build", "sent": "send", "lost": "lose", "written": "write", "wrote": "write",
    "kept": "keep", "ran": "run", "chose": "choose", "chosen": "choose", "began": "begin", "broke": "break",
    "broken": "break", "left": "leave", "took": "take", "taken": "take", "saw": "see", "seen": "see", "paid": "pay",
    "sold": "sell", "spent": "spend", "froze": "freeze", "frozen": "freeze", "hid": "hide", "analyses": "analysis",
    "analyze": "analysis", "analyse": "analysis", "children": "child", "indices": "index", "indexes": "index",
    "men": "man", "women": "woman", "criteria": "criterion", "forbidden": "forbid", "forgot": "forget",
    "forgotten": "forget",
}  # fmt: skip


def fold(surface: str) -> str:
    """The word without case, its possessive and the like taken off."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", surface).casefold())
    return _CLITIC.sub("", folded)


@functools.lru_cache(maxsize=50_000)
def key(folded: str) -> str:
    """The stem, or the first word of its group of synonyms; "2" for "two", "2nd", "v2" and "2.0"."""
    number = _FIGURES.match(folded)
    if number:
        return number[1]
    return _FORMS.get(folded) or _synonyms().get(folded) or _synonyms().get(stem(folded)) or stem(folded)


@functools.lru_cache(maxsize=50_000)
def stem(folded: str) -> str:
    """The stem of a plain word; anything else is its own."""
    if not folded.isalpha() or len(folded) < 4:
        return _IRREGULAR.get(folded, folded)
    plain = _IRREGULAR.get(folded, folded)
    for pattern, american in _AMERICAN:
        plain = pattern.sub(american, plain)
    terms = index_terms(plain)
    return terms[0] if len(terms) == 1 else plain


def phrase_key(joined: str) -> str:
    """The same for a verb with its particle: "turn_on"."""
    return _synonyms().get(joined, joined)


@functools.cache
def _synonyms() -> dict[str, str]:
    # Built at the first question, as everything that needs the stemmer: a server without questions pays nothing.
    return {form: group[0] for group in SYNONYMS for word in reversed(group) for form in (word, stem(word))}
