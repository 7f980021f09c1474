"""Two documents that say different things about the same: told from pages that only are alike.

Pages about two products share most of their sentences and differ in names; release notes differ in versions and dates.
None of that is a contradiction. One is left where two statements are the same word for word, but for how much or how
many, or but for a denial.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import regex

from harry_mcp.domain.alignment import statements
from harry_mcp.domain.differences import Difference, Kind, differences
from harry_mcp.domain.differences.lexicon import FUNCTION, NEGATORS, PREPOSITIONS
from harry_mcp.domain.differences.measures import UNITS

_WORD = regex.compile(r"[\p{L}\p{M}_'’]+")
# What has a number for its name: "step 2", "section 2.6", "version 3".
_NAMED_BY_NUMBER = regex.compile(
    r"\b(?:steps?|sections?|chapters?|figures?|fig|tables?|pages?|parts?|appendix|examples?|options?|tasks?|phases?|items?"
    r"|notes?|lines?|ports?|errors?|codes?|issues?|tickets?|rfc|iso|http|status|versions?|releases?|fix|builds?|levels?"
    r"|updates?|copyright|id|no|number|pull requests?|changes? (?:in|sinces?)|since|until)"
    r"[\s.:#]*(?:\d|one\b|two\b|three\b)"
    r"|#\d|\b(?:gh|pr|bpo|cve|pep)-?\d",
    regex.IGNORECASE,
)
# The numbers of an example are nobody's fact.
_MADE_UP = regex.compile(r"\b(?:examples?|e\.g\.|for instance|say)\b", regex.IGNORECASE)
_CAPITALISED = regex.compile(r"\b(\p{Lu}[\p{L}-]*)\s+v?\d")
# "2.11" without a unit is a version more often than a count.
_DOTTED = regex.compile(r"^\d+(?:\.\d+)+$")
# Lines of code are examples: they state nothing that another document could deny.
_CODE = regex.compile(
    r"^\s*(?:>>>|\$|\.\.\.)|^\w+(?:\.\w+)*\(.*\)\s*\S{0,6}$|[{};]\s*$|^(?:import|from|def|return|class|assert)\b.*[:()=]"
)
_SMALL_WORDS = FUNCTION | PREPOSITIONS
_NUMBER = regex.compile(r"\d")
_COUNTS = frozenset({Kind.NUMBER, Kind.UNIT})
# Words that two statements must have beside their numbers; fewer are a row of a table or a caption.
_LEAST_WORDS = 4
_SAME = 0.9


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A statement of each document, and in what they differ."""

    here: str
    there: str
    differences: tuple[Difference, ...]


def disagreements(here: str, there: str) -> list[Disagreement]:
    """The statements of two passages that deny each other, each statement once."""
    found: list[Disagreement] = []
    ours, theirs = list(dict.fromkeys(statements(here))), list(dict.fromkeys(statements(there)))
    both = set(ours) & set(theirs)
    others = [(text, _words(text)) for text in theirs if text not in both]
    for text in ours:
        if text in both:
            continue
        words = _words(text)
        best = max(others, key=lambda other: _alike(words, other[1]), default=("", Counter[str]()))
        if _alike(words, best[1]) < _SAME or words.total() < _LEAST_WORDS:
            continue
        reasons = denied(text, best[0])
        if reasons:
            found.append(Disagreement(text, best[0], reasons))
    return found


def denied(here: str, there: str) -> tuple[Difference, ...]:
    """In what two statements deny each other, empty when they do not: another count of the same, or a negation, and
    nothing else that differs."""
    found = differences(here, there).found
    if not found or not all(_denies(each) for each in found):
        return ()
    if any(each.kind in _COUNTS for each in found) and (_names(here) or _names(there)):
        return ()
    if _CODE.search(here) or _CODE.search(there):
        return ()
    return found


def _denies(each: Difference) -> bool:
    if each.kind in _COUNTS:
        dotted = _DOTTED.match(each.a) or _DOTTED.match(each.b)
        return bool(each.a and each.b and _NUMBER.search(each.a) and _NUMBER.search(each.b) and not dotted)
    return each.kind is Kind.NEGATION and each.certain


def _names(text: str) -> bool:
    """Whether numbers in a statement name something, or are made up."""
    if _NAMED_BY_NUMBER.search(text) or _MADE_UP.search(text):
        return True
    # "Windows 11", but not "Within 11 days"
    return any(name[1].casefold() not in _SMALL_WORDS for name in _CAPITALISED.finditer(text))


def _words(text: str) -> Counter[str]:
    """What is said, without how many of what unit, and whether."""
    found = (match.group().replace("’", "'") for match in _WORD.finditer(text.casefold()))
    said = (word for word in found if word.replace("'", "") not in NEGATORS and not word.endswith("n't"))
    return Counter(word for word in said if word not in UNITS)


def _alike(one: Counter[str], other: Counter[str]) -> float:
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 0.0


def siblings(titles: Sequence[str]) -> bool:
    """Whether two titles name two things of one kind, or two versions of one, as "Limits in v1" and "Limits in v2"."""
    found = differences(*titles).found
    return any(each.a and each.b and each.kind in _TELLS_APART for each in found)


_TELLS_APART = frozenset({Kind.VERSION, Kind.NUMBER, Kind.DATE, Kind.VARIANT})
