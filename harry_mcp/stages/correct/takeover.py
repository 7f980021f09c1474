"""Attempts to displace a model's instructions or to draw its secrets out, in about thirty languages.

The words are in ``languages.toml``. Three things must come together within one sentence: a verb that drops, a noun for
what a model is bound by, and a word that points at what it was told before. Two of them alone are ordinary speech:
"ignore the error", "the previous instructions on this page".
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

import regex

from harry_mcp.stages.correct.findings import Finding, excerpt

_SENTENCE_END = regex.compile(r"[.!?](?=\s|$)|[。！？।؟\n]")
# Instructions *of a page* are product matter: "ignore the earlier instructions in the setup guide".
_OF_A_PAGE = regex.compile(
    r"""\W*(?:\w+\W+){0,2}(?:on|in|from|of|at|for|auf|der|im|in|aus|sur|dans|de|del|della|nella|en|na|no|da|do)\W+
        (?:\w+\W+){0,4}(?:pages?|p[áa]ginas?|pagina|seite|guides?|gu[ií]a|guida|leitfaden|handbuch|manuals?|manuel|docs?
        |documentation|documentaci[óo]n|documenta[çc][ãa]o|dokumentation|articles?|art[íi]culo|artigo|artikel|readme
        |wiki|faq|tutorials?|release\W+notes|videos?|posts?|section|chapter|appendix|technote|kb|e-?mails?|wizard|label
        |invoice|box|package|versions?)\b""",
    regex.VERBOSE | regex.IGNORECASE,
)
# How far a verb may stand from the noun, and the pointing word from it: a clause, not a paragraph.
_VERB_REACH = 70
_POINTER_REACH = 40
_ASK_REACH = 90
_OF_A_PAGE_WEIGHT = 0.3


@dataclass(frozen=True, slots=True)
class _Language:
    drop: regex.Pattern[str]
    earlier: regex.Pattern[str]
    rules: regex.Pattern[str]
    ask: regex.Pattern[str]
    secret: regex.Pattern[str]


@lru_cache(maxsize=1)
def _languages() -> tuple[_Language, ...]:
    data = resources.files("harry_mcp.stages.correct").joinpath("languages.toml")
    tables: dict[str, dict[str, Any]] = tomllib.loads(data.read_text(encoding="utf-8"))
    return tuple(_compiled(table) for table in tables.values())


def _compiled(table: dict[str, Any]) -> _Language:
    start = "" if table.get("joined") else r"(?<![\p{L}\p{N}_])"
    end = r"(?![\p{L}\p{N}_])" if table.get("whole") else ""

    def words(key: str) -> regex.Pattern[str]:
        entries: list[str] = table[key]
        alternatives = "|".join(entries) if entries else r"(?!)"
        return regex.compile(f"{start}(?:{alternatives}){end}", regex.IGNORECASE)

    return _Language(*(words(key) for key in ("drop", "earlier", "rules", "ask", "secret")))


def takeovers(text: str) -> list[Finding]:
    """At most one finding of each kind: the text's strongest override, and a request for secrets."""
    overrides = [found for language in _languages() for found in _overrides(text, language)]
    found = [max(overrides, key=lambda finding: finding.weight)] if overrides else []
    disclosure = next((asked for language in _languages() if (asked := _disclosure(text, language))), None)
    return [*found, disclosure] if disclosure else found


def _overrides(text: str, language: _Language) -> list[Finding]:
    found: list[Finding] = []
    for noun in language.rules.finditer(text):
        first, last = _sentence(text, noun.start(), noun.end())
        verb = _nearest(language.drop, text, noun.span(), (first, last), _VERB_REACH)
        pointer = verb and _nearest(language.earlier, text, noun.span(), (first, last), _POINTER_REACH)
        if verb and pointer:
            start, end = min(verb[0], noun.start(), pointer[0]), max(verb[1], noun.end(), pointer[1])
            of_a_page = _OF_A_PAGE.match(text, noun.end(), last)
            found.append(
                Finding(
                    name="override",
                    says="It tells the reader to drop the instructions it has.",
                    weight=_OF_A_PAGE_WEIGHT if of_a_page else 0.9,
                    excerpt=excerpt(text, start, end),
                )
            )
    return found


def _disclosure(text: str, language: _Language) -> Finding | None:
    for secret in language.secret.finditer(text):
        first, last = _sentence(text, secret.start(), secret.end())
        asked = _nearest(language.ask, text, secret.span(), (first, last), _ASK_REACH)
        if asked:
            start, end = min(asked[0], secret.start()), max(asked[1], secret.end())
            return Finding(
                name="disclosure",
                says="It asks for a secret or for the model's own instructions.",
                weight=0.6,
                excerpt=excerpt(text, start, end),
            )
    return None


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """The bounds of the sentence around a span, not further than what the reaches need."""
    low = max(0, start - _ASK_REACH)
    first = low
    for stop in _SENTENCE_END.finditer(text, low, start):
        first = stop.end()
    stop = _SENTENCE_END.search(text, end, min(len(text), end + _ASK_REACH))
    return first, stop.start() if stop else min(len(text), end + _ASK_REACH)


def _nearest(
    words: regex.Pattern[str], text: str, span: tuple[int, int], bounds: tuple[int, int], reach: int
) -> tuple[int, int] | None:
    """Where a word of ``words`` stands beside ``span``, within its sentence and reach."""
    before = words.search(text, max(bounds[0], span[0] - reach), span[0])
    after = before or words.search(text, span[1], min(bounds[1], span[1] + reach))
    return after.span() if after else None
