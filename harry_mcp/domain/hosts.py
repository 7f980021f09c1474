"""Which web addresses are on a list of hosts. Whatever two programs could read in two ways is refused, not guessed at.

Browsers, HTTP libraries and search engines disagree on back slashes, user names, escapes, full-width letters and what
a number is as a host. An address is let through only when it is written so plainly that all of them see the same host
in it, and that host is on the list or under one that is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import quote, unquote

import idna

_LONGEST_ADDRESS = 1000
_LONGEST_HOST = 253
_PORTS = {"http": "80", "https": "443"}
_ADDRESS = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<rest>.*)", re.DOTALL)
_OTHER_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!//)")
_LABELS = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9-]{1,63}(?<!-))+")
# Parsers take a host for an IP address when its last label is a number, also an octal or hexadecimal one.
_NUMBER = re.compile(r"(?:[0-9]+|0x[0-9a-f]*)")
_UNPLAIN = re.compile(r"[\x00-\x20\x7f\\<>\"`]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_DOTS = re.compile("[\u3002\uff0e\uff61\u2024\ufe52]")
_VISIBLE = frozenset("LMNPS")
# Characters of a path and a query that stay as they are.
_KEPT = "%/:?#[]@!$&'()*+,;=~|^{}"
# Where a value in a path, a query or a fragment may begin with an address of its own, as those that redirect take it:
# a scheme anywhere, two slashes (of either kind) alone only where no path goes on.
_CARRIED = re.compile(
    r"(?:(?:^|[/?&=#;,(\s])(?:(?:https?|ftps?|wss?):[/\\]|[a-z][a-z0-9+.-]*:[/\\]{2})|(?:^|=)\s*[/\\]{2})[/\\]*"
    r"(?P<authority>[^/\\?#&;\s]*)",
    re.IGNORECASE,
)
_ROUNDS = 4  # of decoding: redirects that lead to redirects escape their target once more each time


class Refusal(StrEnum):
    """Why an address is refused, in words that go behind "refused:"."""

    UNREADABLE = "it is not written plainly"
    SCHEME = "it is no http or https address"
    USER_INFO = "it holds a user name before its host"
    PORT = "it names another port than the usual one"
    ENCODED_HOST = "its host is escaped"
    IP_ADDRESS = "its host is an IP address and no name"
    LOOK_ALIKE = "its host is spelled in look-alike or mixed letters"
    NOT_LISTED = "its host is not on the allow-list"
    CARRIES_ADDRESS = "it carries another address, which it may redirect to"


@dataclass(frozen=True, slots=True)
class AllowList:
    """Hosts that may be read, each with all its subdomains, in ASCII and small letters.

    ``unusable``: entries that are no host names, as they were given. They let nothing through.
    """

    hosts: tuple[str, ...] = ()
    unusable: tuple[str, ...] = ()

    @classmethod
    def of(cls, entries: Iterable[str]) -> AllowList:
        """The list of a profile. ``*.example.com`` and ``.example.com`` say the same as ``example.com``."""
        hosts: set[str] = set()
        unusable: list[str] = []
        for entry in entries:
            host = _host_of_entry(entry)
            if host:
                hosts.add(host)
            else:
                unusable.append(entry)
        return cls(tuple(sorted(host for host in hosts if not _under(host, hosts - {host}))), tuple(unusable))

    def __bool__(self) -> bool:
        return bool(self.hosts)

    def admits(self, host: str) -> bool:
        """Whether a host in ASCII and small letters is on the list, or under one that is."""
        return host in self.hosts or _under(host, self.hosts)

    def refusal(self, address: str) -> Refusal | None:
        """Why an address is refused, None for one that may be read."""
        found = _parts(address)
        if isinstance(found, Refusal):
            return found
        if not self.admits(found.host):
            return Refusal.LOOK_ALIKE if found.foreign else Refusal.NOT_LISTED
        return Refusal.CARRIES_ADDRESS if self._carries(found.rest) else None

    def _carries(self, rest: str) -> bool:
        """Whether a path, query or fragment holds an address that is not on the list, however often it is escaped."""
        for _ in range(_ROUNDS):
            for carried in _CARRIED.finditer(rest):
                authority = carried["authority"].lower()
                if authority and not self.admits(authority):
                    return True
            decoded = unquote(rest)
            if decoded == rest:
                return False
            rest = decoded
        return True  # what is escaped more often than that hides something


def plain_address(address: str) -> str:
    """One spelling of an address that was let through: ASCII, scheme and host in small letters, no port.

    Raises ValueError for one that is refused by whatever list.
    """
    found = _parts(address)
    if isinstance(found, Refusal):
        raise ValueError(found.value)
    rest = found.rest if found.rest.startswith("/") else "/" + found.rest
    return f"{found.scheme}://{found.host}{quote(rest, safe=_KEPT)}"


@dataclass(frozen=True, slots=True)
class _Parts:
    """``host`` is in ASCII and small letters; ``foreign``: it was written in other letters, or in Punycode."""

    scheme: str
    host: str
    rest: str
    foreign: bool


def _parts(address: str) -> _Parts | Refusal:
    if len(address) > _LONGEST_ADDRESS or _UNPLAIN.search(address) or not _visible(address):
        return Refusal.UNREADABLE
    match = _ADDRESS.fullmatch(address)
    if match is None:
        return Refusal.SCHEME if _OTHER_SCHEME.match(address) else Refusal.UNREADABLE
    scheme = match["scheme"].lower()
    if scheme not in _PORTS:
        return Refusal.SCHEME
    host, fault = _authority(match["authority"], _PORTS[scheme])
    if fault is not None:
        return fault
    if not host:
        return Refusal.UNREADABLE
    foreign = not host.isascii() or "xn--" in host
    plain = host if host.isascii() else _in_ascii(host)
    if not plain:
        return Refusal.LOOK_ALIKE
    if _NUMBER.fullmatch(plain.rpartition(".")[2]):
        return Refusal.IP_ADDRESS
    if len(plain) > _LONGEST_HOST or not _LABELS.fullmatch(plain):
        return Refusal.UNREADABLE
    return Refusal.UNREADABLE if _hides_controls(match["rest"]) else _Parts(scheme, plain, match["rest"], foreign)


def _authority(authority: str, usual_port: str) -> tuple[str, Refusal | None]:
    """The host in small letters, or what is wrong with the part between the slashes."""
    for mark, fault in (("@", Refusal.USER_INFO), ("%", Refusal.ENCODED_HOST), ("[", Refusal.IP_ADDRESS)):
        if mark in authority:
            return "", fault
    host, colon, port = authority.partition(":")
    if colon and port != usual_port:
        return "", Refusal.PORT
    return host.lower(), None


def _in_ascii(host: str) -> str:
    """The name as the registries know it (IDNA 2008), "" for letters that other programs would map to others."""
    if _DOTS.search(host) or unicodedata.normalize("NFKC", host) != host:
        return ""
    try:
        return idna.encode(host, strict=True).decode("ascii")
    except idna.IDNAError:
        return ""


def _visible(address: str) -> bool:
    return all(character.isascii() or unicodedata.category(character)[0] in _VISIBLE for character in address)


def _hides_controls(rest: str) -> bool:
    for _ in range(_ROUNDS):
        decoded = unquote(rest)
        if _CONTROL.search(decoded):
            return True
        if decoded == rest:
            return False
        rest = decoded
    return False


def _host_of_entry(entry: str) -> str:
    """The host that an entry of a list names, "" when it names none."""
    host = entry.strip().lower().removeprefix("*").removeprefix(".").removesuffix(".")
    host = host if host.isascii() else _in_ascii(host)
    usable = len(host) <= _LONGEST_HOST and _LABELS.fullmatch(host) and not _NUMBER.fullmatch(host.rpartition(".")[2])
    return host if usable else ""


def _under(host: str, hosts: Iterable[str]) -> bool:
    return any(host.endswith("." + each) for each in hosts)
