"""Card numbers, IBANs and US social security numbers: a shape, a prefix or length, and the check digits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import regex

from harry_mcp.stages.correct.spans import Kind, Span

_CARD = regex.compile(
    r"(?<![\p{L}\p{N}_.\-/=#])(?:\d{12,19}|\d{4}(?P<a>[\u00a0 -])\d{4}(?P=a)\d{4}(?P=a)\d{1,4}(?:(?P=a)\d{3})?"
    r"|\d{4}(?P<b>[\u00a0 -])\d{6}(?P=b)\d{4,5})(?![\p{L}\p{N}_-]|\.\d)"
)
# Issuers' ranges (ISO/IEC 7812): Visa, Mastercard, American Express, Diners, Discover, JCB, UnionPay, Mir.
_ISSUER = regex.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720))\d{12,14}|3[47]\d{13}"
    r"|3(?:0[0-59]|[689]\d)\d{11,16}|6(?:011|4[4-9]\d|5\d\d)\d{12,15}|35(?:2[89]|[3-8]\d)\d{12,15}|(?:2131|1800)\d{11}"
    r"|62\d{14,17}|220[0-4]\d{12,15}"
)
_CARD_WORD = regex.compile(
    r"(?:\b(?:cards?|cc|credit|debit|visa|mastercard|amex|maestro|karte|kreditkarte|carte|tarjeta|cart[ãa]o|carta)\b|карт|卡|カード|카드)[^\n]{0,30}$",
    regex.IGNORECASE,
)
_WORD_REACH = 40
# With fewer digits than this a number needs the word "card": timestamps and ids are as long.
_SURE_DIGITS = 14
# Published for testing by the payment providers; product text names them.
_PUBLISHED = (
    "30569309025904 3056930009020004 3530111333300000 3566002020360505 371449635398431 378282246310005 38520000023237 "
    "4000000000000002 4000056655665556 4012888888881881 4111111111111111 4242424242424242 5105105105105100 "
    "5200828282828210 5555555555554444 2223003122003222 6011000990139424 6011111111111117 6200000000000005"
)
_TEST_CARDS = frozenset(_PUBLISHED.split())

# Length by country (the SWIFT IBAN registry).
_IBANS = (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 "
    "ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 "
    "LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 "
    "PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
)
_IBAN_LENGTHS: Mapping[str, int] = {entry[:2]: int(entry[2:]) for entry in _IBANS.split()}
_IBAN = regex.compile(r"(?<![\p{L}\p{N}])[A-Z]{2}\d{2}(?:[\u00a0 -]?[A-Z0-9]){11,30}", regex.IGNORECASE)
_SSN = regex.compile(
    r"(?<![\p{L}\p{N}_.\-/])(?!000|666|9)\d{3}(?P<gap>[- ])(?!00)\d{2}(?P=gap)(?!0000)\d{4}(?![\p{L}\p{N}_-]|\.\d)"
)
_SSN_WORD = regex.compile(r"\b(?:ssn|social\s+security)\b[^\n]{0,25}$", regex.IGNORECASE)
_BARE_SSN = regex.compile(r"(?<![\p{L}\p{N}_.-])\d{9}(?![\p{L}\p{N}_-]|\.\d)")


def cards(text: str) -> Iterator[Span]:
    """Numbers that pass the Luhn check (ISO/IEC 7812) and fit an issuer, or stand behind a word for a card."""
    for match in _CARD.finditer(text):
        digits = regex.sub(r"\D", "", match.group())
        if not luhn(digits) or digits in _TEST_CARDS or len(set(digits)) < 3:
            continue
        named = _CARD_WORD.search(text, max(0, match.start() - _WORD_REACH), match.start()) is not None
        if named or (len(digits) >= _SURE_DIGITS and _ISSUER.fullmatch(digits)):
            yield Span(match.start(), match.end(), Kind.CARD)


def ibans(text: str) -> Iterator[Span]:
    """International bank account numbers (ISO 13616) of the right length for their country and mod 97 = 1."""
    for match in _IBAN.finditer(text):
        length = _IBAN_LENGTHS.get(match.group()[:2].upper())
        end = _end_of(match.group(), length) if length else 0
        if not end:
            continue
        after = match.start() + end
        whole = after == len(text) or not text[after].isalnum()
        if whole and mod97(regex.sub(r"[^A-Za-z0-9]", "", match.group()[:end])):
            yield Span(match.start(), after, Kind.IBAN)


def social_security_numbers(text: str) -> Iterator[Span]:
    for match in _SSN.finditer(text):
        yield Span(match.start(), match.end(), Kind.SSN)
    for match in _BARE_SSN.finditer(text):
        if _SSN_WORD.search(text, max(0, match.start() - _WORD_REACH), match.start()):
            yield Span(match.start(), match.end(), Kind.SSN)


def luhn(digits: str) -> bool:
    doubled = (int(digit) * (2 if place % 2 else 1) for place, digit in enumerate(reversed(digits)))
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def mod97(iban: str) -> bool:
    moved = iban[4:] + iban[:4]
    return int("".join(str(int(character, 36)) for character in moved)) % 97 == 1


def _end_of(text: str, length: int) -> int:
    """Where the first ``length`` letters and digits end, 0 when there are fewer."""
    seen = 0
    for place, character in enumerate(text):
        seen += character.isalnum()
        if seen == length:
            return place + 1
    return 0
