"""Telephone numbers: by their shape where it is a telephone's alone, else by the words around."""

from __future__ import annotations

from collections.abc import Iterator

import regex

from harry_mcp.stages.correct.spans import Kind, Span

_GAP = r"[\u00a0 .\-/]"
_EXTENSION = r"(?:\s?(?:x|ext\.?|extension|#)\s?\d{1,6})?"
_NOT_BEFORE = r"(?<![\p{L}\p{N}_$€£.:/=#-]|\p{N},)"
_NOT_AFTER = r"(?![\p{L}\p{N}_]|[-.:/,]\d|%)"
_SHAPES = (
    # International: a plus or 00, then a country code.
    r"(?<![\p{L}\p{N}_+.])(?:\+\s?\d{1,3}" + _GAP + r"?|00[1-9]\d{0,2}" + _GAP + r")(?:\(0\)\s?)?"
    r"(?:\(?\d{1,5}\)?" + _GAP + r"?){1,6}\d" + _EXTENSION + _NOT_AFTER,
    # North American: 3-3-4, where area and exchange never start with 0 or 1.
    _NOT_BEFORE
    + r"(?:1[ .-])?(?:\([2-9]\d{2}\)[\u00a0 ]?|[2-9]\d{2}[ .-])[2-9]\d{2}[ .-]\d{4}"
    + _EXTENSION
    + _NOT_AFTER,
    # National with a leading zero, in groups: 0490 75 40 81, 083 564 9312, 0393 1144137.
    _NOT_BEFORE
    + r"(?<!\d )\(?0[1-9]\d{0,3}\)?(?:(?P<gap>[\u00a0 \-/])\d{2,4}(?:(?P=gap)\d{2,4}){1,4}|[\u00a0 ]\d{5,8})"
    r"(?! \d)" + _NOT_AFTER,
    # The same with dots, in pairs only: other groups are version numbers.
    _NOT_BEFORE + r"0[1-9](?:\.\d{2}){4}" + _NOT_AFTER,
)
_SHAPED = tuple(regex.compile(shape) for shape in _SHAPES)

_WORDS = (
    r"(?<![\p{L}\p{N}])(?:tele(?:phone|fon\w*|fono)|phones?(?: number)?|tel\.?|t[ée]l(?:[ée]phone)?\.?|mobile?"
    r"(?: number)?|m[óo]vil|cell(?:phone|ular)?(?: number)?|celular|handy|fax|facsimile|hotline|whats ?app|sms|desk"
    r"|direct line|landline|телефон\w*|тел\.?|फ़ोन|फोन)"
)
# Scripts that put no space between words.
_JOINED_WORDS = (
    r"(?:電話(?:番号)?[はが]?|携帯|电话是?|手机(?:号)?是?|전화(?:번호)?[는은가]?|휴대폰|هاتف\w*|جوال\w*|โทร(?:ศัพท์)?)"
)
_CALLS = (
    r"(?<![\p{L}\p{N}])(?:(?:call|calling|reach|text|phone|ring|contact) (?:me|us|him|her|them|back|someone|my \w+)"
    r"(?: back)? (?:on|at|under|via)|(?:call|dial|answering) (?:me |us )?(?:on|at)|dial|messages? (?:to|on)|my number"
    r"(?: is)?|registered(?: number)?)"
)
_NUMBER = r"(?P<number>\(?\+?\d[\d\u00a0 .()/-]{5,20}\d" + _EXTENSION + ")"
_NAMED = (
    regex.compile(
        rf"(?:{_WORDS}|{_JOINED_WORDS}|{_CALLS})[\s:：.#)=\"'*-]{{0,6}}(?:(?:is|no\.?|number|nr\.?)[\s:]{{1,3}})?"
        rf"{_NUMBER}(?![\p{{L}}\p{{N}}_])",
        regex.IGNORECASE,
    ),
    regex.compile(
        rf"{_NOT_BEFORE}{_NUMBER}[\s-]{{1,2}}\(?(?:office|fax|mobile|cell|home|work|desk)\b", regex.IGNORECASE
    ),
)
# What numbers of the same shape count.
_NUMBERED_THING = regex.compile(
    r"\b(?:parts?|orders?|tickets?|models?|sku|serial|cases?|invoices?|pmr|apar|article|item|product|batch|lot|isbn|note|id"
    r"|ref(?:erence)?|version|range|ports?|accounts?)\b[\s:.#]{0,3}(?:(?:number|no\.?|nr\.?|id|code)[\s:.#]{0,3})?$",
    regex.IGNORECASE,
)
_REACH = 24
_DATE = regex.compile(r"(?:19|20)\d{2}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./](?:19|20)\d{2}")
# E.164 allows 15 digits. Local numbers have seven, but only the words around can tell them from other numbers.
_MOST_DIGITS, _FEWEST_NAMED, _FEWEST_UNNAMED = 15, 7, 9
# Lines that a company pays for (North America): a product's, never a person's.
_TOLL_FREE = regex.compile(r"(?:\+?1[ .-]?)?\(?8(?:00|33|44|55|66|77|88)\)?[ .-]")


def phones(text: str) -> Iterator[Span]:
    """Numbers in the shape of a telephone number, and any grouping of 7 to 15 digits that the words call one."""
    for pattern in _SHAPED:
        for match in pattern.finditer(text):
            if _plausible(match.group(), fewest=_FEWEST_UNNAMED) and _a_persons(text, match):
                yield Span(match.start(), match.end(), Kind.PHONE)
    for pattern in _NAMED:
        for match in pattern.finditer(text):
            if _plausible(match["number"], fewest=_FEWEST_NAMED):
                yield Span(match.start("number"), match.end("number"), Kind.PHONE)


def _a_persons(text: str, match: regex.Match[str]) -> bool:
    counted = _NUMBERED_THING.search(text, max(0, match.start() - _REACH), match.start())
    return counted is None and not _TOLL_FREE.match(match.group())


def _plausible(written: str, *, fewest: int) -> bool:
    number = regex.split(r"\s?(?:x|ext|#)", written, maxsplit=1, flags=regex.IGNORECASE)[0]
    digits = regex.sub(r"\D", "", number)
    return fewest <= len(digits) <= _MOST_DIGITS and len(set(digits)) > 2 and not _DATE.search(number)
