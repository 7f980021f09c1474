"""Secrets: tokens of known shapes, private keys, passwords in addresses, and values behind words for a secret."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import regex

from harry_mcp.stages.correct.spans import Kind, Span

_EDGE = r"(?<![A-Za-z0-9_-])"
_END = r"(?![A-Za-z0-9_-])"
# The vendors' published prefixes. Publishable keys (pk_...) are made to be seen and stay.
_TOKENS = regex.compile(
    _EDGE
    + r"(?:"
    + "|".join(
        (
            r"sk-(?:ant-|proj-|svcacct-|or-v1-)?[A-Za-z0-9_-]{20,}",
            r"(?:A3T[A-Z0-9]|AKIA|ASIA|AGPA|AIDA|AROA|ANPA)[A-Z0-9]{16}",
            r"gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255}",
            r"gl(?:pat|ptt|dt|rt|soat|cbt)-[A-Za-z0-9_-]{20,}",
            r"xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,}",
            r"(?:sk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{16,}",
            r"AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}",
            r"pat-(?:na|eu|ap)\d-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
            r"tvly-[A-Za-z0-9-]{16,}|pa-[A-Za-z0-9_-]{40,}|hf_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{30,}",
            r"npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}|dckr_pat_[A-Za-z0-9_-]{20,}",
            r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|key-[0-9a-f]{32}|SK[0-9a-f]{32}",
            r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|dop_v1_[0-9a-f]{64}|sq0(?:atp|csp)-[A-Za-z0-9_-]{22,}|dapi[0-9a-f]{32}",
            r"lin_api_[A-Za-z0-9]{30,}|secret_[A-Za-z0-9]{40,}|ntn_[A-Za-z0-9]{40,}|figd_[A-Za-z0-9_-]{30,}",
            r"EAA[A-Za-z0-9]{60,}",
            r"\d{8,10}:AA[A-Za-z0-9_-]{33}",
            r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
        )
    )
    + r")"
    + _END
)
_PRIVATE_KEY = regex.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----.{0,20000}?"
    r"(?:-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    regex.DOTALL,
)
_IN_ADDRESS = regex.compile(
    r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@\[\]<>\"']{0,100}:(?P<value>[^\s/@<>\"'\[\]{}$]{1,200})@", regex.IGNORECASE
)
_WEBHOOK = regex.compile(
    r"https://hooks\.slack\.com/(?:services|workflows)/(?P<value>[A-Za-z0-9/_-]{20,})"
    r"|discord(?:app)?\.com/api/webhooks/(?P<value>\d+/[\w-]{30,})"
)
_SIGNED = regex.compile(
    r"[?&](?:sig|signature|x-amz-signature|x-amz-security-token|access_token|refresh_token|api_?key|token|sessionid)="
    r"(?P<value>[A-Za-z0-9%_~+/=.-]{16,})",
    regex.IGNORECASE,
)
_HEADER = regex.compile(r"\b(?:Bearer|Basic|Token)\s+(?P<value>[A-Za-z0-9_~+/=.-]{16,})", regex.IGNORECASE)
_NAMES_FOR_IT = (
    r"(?:pass(?:word|wd|phrase|code)?|pwd|pw|pin|kennwort|passwort|mot de passe|contrase[ñn]a|senha|wachtwoord|hasło"
    r"|пароль|パスワード|密码|비밀번호)"
)
_NAMES_OF_KEYS = (
    r"(?:(?:api|access|secret|private|auth|account|client|encryption|signing|shared|master|licen[cs]e|session|refresh"
    r"|bearer|service|app)[ _.-]?(?:key|token|secret|credentials?)|secret|token|apikey|authorization|credentials?)"
)
_ASSIGNED = (
    r"[\"'`\])]{0,2}\s{0,3}(?:=>|:=|[=:：は是]|\b(?:is(?: now)?|was|to|ist|est|es|é)\b)\s{0,3}(?P<quote>[\"'`“]?)"
)
_PASSWORD = regex.compile(
    rf"(?<![\p{{L}}]){_NAMES_FOR_IT}{_ASSIGNED}(?P<value>(?:(?![\"'`<>\[\]{{}}(),;])[!-~¡-ÿ]){{4,128}})",
    regex.IGNORECASE,
)
_KEYED = regex.compile(
    rf"(?<![\p{{L}}\p{{N}}]){_NAMES_OF_KEYS}{_ASSIGNED}(?P<value>[A-Za-z0-9_~+/=.$!@%^&*-]{{8,512}})",
    regex.IGNORECASE,
)
_NEAR_KEY = regex.compile(
    rf"(?<![\p{{L}}])(?:{_NAMES_OF_KEYS}|key|passw\w+)[^\n]{{1,40}}?(?<![\w/.-])(?P<value>[A-Za-z0-9_+/=-]{{20,512}})(?![\w/.])",
    regex.IGNORECASE,
)
# What documentation writes where a secret would stand.
_PLACEHOLDER_VALUE = regex.compile(
    r"^x{3,}|x{5,}|\*{2,}|\.{3}|^[<$%]|^your|your[_-]?(?:api|key|token|secret|password)|change[_-]?(?:me|it|this)|1234567|abcdef"
    r"|(?:^|[_-])(?:example|placeholder|dummy|sample|redacted|todo|insert|replace)(?:[_-]|$)"
    r"|^(?:none|null|true|false|undefined|string|required|optional)$|(?:^|_)(?:password|token|secret|api_?key)_?$"
    r"|\b(?:process|self|this|os|env|config|settings)\.",
    regex.IGNORECASE,
)
# A dotted name, a constant, a word with hyphens, a camel-cased name, an address, a path.
_CODE = regex.compile(
    r"^[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+$|^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$|^[a-z]+(?:[_-][a-z]+)+$"
    r"|^[a-z]+(?:[A-Z][a-z]+)+$|://|^\.?/"
)
_UUID = regex.compile(r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$", regex.IGNORECASE)
_DIGEST = regex.compile(
    r"^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$", regex.IGNORECASE
)
# Bits per character: English words have about 3, twenty random letters and digits about 4.
_RANDOM_BITS = 3.4


def secrets(text: str) -> Iterator[Span]:
    for match in _TOKENS.finditer(text):
        yield Span(match.start(), match.end(), Kind.SECRET)
    for match in _PRIVATE_KEY.finditer(text):
        yield Span(match.start(), match.end(), Kind.SECRET)
    for pattern in (_IN_ADDRESS, _WEBHOOK):
        for match in pattern.finditer(text):
            if not _placeholder(match["value"]):
                yield _value(match)
    for match in _PASSWORD.finditer(text):
        if _like_password(match["value"].rstrip(".!?:"), quoted=bool(match["quote"])):
            yield _value(match)
    for pattern in (_SIGNED, _HEADER, _KEYED):
        for match in pattern.finditer(text):
            if _random(match["value"].rstrip(".")):
                yield _value(match)
    for match in _NEAR_KEY.finditer(text):
        # A digest that stands somewhere behind such a word is a checksum, not a key.
        if _random(match["value"]) and not _DIGEST.match(match["value"]):
            yield _value(match)


def _value(match: regex.Match[str]) -> Span:
    start, end = match.span("value")
    while end > start and match.string[end - 1] in ".!?:,":
        end -= 1
    return Span(start, end, Kind.SECRET)


def _placeholder(value: str) -> bool:
    return _PLACEHOLDER_VALUE.search(value) is not None


def _like_password(value: str, *, quoted: bool) -> bool:
    """Letters with digits or signs among them: a word of the sentence ("case-sensitive", "required") has none."""
    if len(value) < 6 or _placeholder(value) or _CODE.search(value):
        return False
    letters, digits = any(c.isalpha() for c in value), any(c.isdigit() for c in value)
    signs = any(not c.isalnum() and c not in "-_./'’" for c in value)
    return letters and (digits or signs) and not (len(value) < 8 and not signs and not quoted and value[0].isdigit())


def _random(value: str) -> bool:
    if len(value) < 12 or _placeholder(value) or _CODE.search(value) or _UUID.match(value):
        return False
    digits = sum(c.isdigit() for c in value)
    mixed = any(c.isupper() for c in value) and any(c.islower() for c in value)
    if digits < (1 if mixed else 2) or not any(c.isalpha() for c in value):
        return False
    return entropy(value) >= min(_RANDOM_BITS, 0.8 * math.log2(len(value)))


def entropy(text: str) -> float:
    """Shannon's entropy of the characters, in bits per character."""
    counts = Counter(text)
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts.values())
