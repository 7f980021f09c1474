"""IP addresses that can point at a person or a machine. Version numbers, examples and private ranges stay."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

import regex

from harry_mcp.stages.correct.spans import Kind, Span

_V4 = regex.compile(r"(?<![\p{L}\p{N}_.\-+])(?:\d{1,3}\.){3}\d{1,3}(?![\p{L}\p{N}_+-]|\.\d)(?P<net>/\d{1,2}(?!\d))?")
_V6 = regex.compile(
    r"(?<![\p{L}\p{N}_:.])(?=[0-9A-Fa-f:.]*\d)(?:[0-9A-Fa-f]{0,4}:){2,7}(?:(?:\d{1,3}\.){3}\d{1,3}|[0-9A-Fa-f]{0,4})"
    r"(?![\p{L}\p{N}_:]|\.\d)(?P<net>/\d{1,3}(?!\d))?"
)
_ADDRESS_WORD = regex.compile(
    r"(?:(?:\bips?\b|\bip[_ -]?(?:v[46]|addr\w*)\b|\baddress\w*|\bping|\binet6?\b|\bhost(?:name|s)?\b|\bremote"
    r"|\bgateway|x-forwarded-for|\blogged\s+in|adresse|direcci[óo]n|endere[çc]o|адрес\w*|地址|アドレス)[\s:=(\[\"'`*?]{0,4}(?:(?:is|was|of|from|to|the|at|es|ist|est)\s){0,2}"
    r"|://(?:[^\s/@]*@)?)$",
    regex.IGNORECASE,
)
_VERSION_WORD = regex.compile(
    r"(?:\bv|versions?|\bver\.?|\breleases?|\bfix\s?packs?|\bfp|\bbuild|\blevel|\bpatch|\brev(?:ision)?|\bupgrad\w*|\bupdat\w*|\bmigrat\w*"
    r"|\bfirmware|\bdriver|\bsince|\bsection|\boid|\bjdk|\bjre|\bsdk|[<>=~]=|[\w)]/)[\s:=(\[\"'-]{0,4}(?:(?:from|to|is|of)\s)?$",
    regex.IGNORECASE,
)
_REACH = 40
# Public resolvers: in every manual, and nobody's.
_RESOLVERS = frozenset(
    ("8.8.8.8", "8.8.4.4", "1.1.1.1", "1.0.0.1", "9.9.9.9", "2001:4860:4860::8888", "2606:4700:4700::1111")
)
# Parts of a version number hardly ever have three digits; of a random address one has in 98 cases of 100.
_LARGE_PART = 100


def ip_addresses(text: str) -> Iterator[Span]:
    """Global addresses (by the IANA registries), in version 4 only where they do not read as a version number."""
    for match in _V4.finditer(text):
        if match["net"] and match["net"] != "/32":
            continue  # a network is no machine
        if _public(match.group().split("/")[0]) and _reads_as_address(text, match):
            yield Span(match.start(), match.end(), Kind.IP)
    for match in _V6.finditer(text):
        if match["net"] and match["net"] != "/128":
            continue
        if _public(match.group().split("/")[0]):
            yield Span(match.start(), match.end(), Kind.IP)


def _public(written: str) -> bool:
    try:
        address = ipaddress.ip_address(written)
    except ValueError:
        return False
    return address.is_global and not address.is_multicast and written not in _RESOLVERS


def _reads_as_address(text: str, match: regex.Match[str]) -> bool:
    start = max(0, match.start() - _REACH)
    if _VERSION_WORD.search(text, start, match.start()):
        return False
    large = any(int(part) >= _LARGE_PART for part in match.group().split("/")[0].split("."))
    return large or _ADDRESS_WORD.search(text, start, match.start()) is not None
