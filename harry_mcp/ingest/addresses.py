"""Web addresses: their canonical form, and which hosts may be asked at all."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable
from urllib.parse import SplitResult, quote, urlsplit, urlunsplit

from harry_mcp.errors import SourceError

_PORTS = {"http": 80, "https": 443}
_TRACKING = re.compile(r"(?:utm_\w+|gclid|fbclid|mc_cid|mc_eid|msclkid|_hsenc|_hsmi)=", re.IGNORECASE)

# Names of a visit, not of a page; servers write them into links when they see no cookie.
_SESSION = re.compile(r";(?:jsessionid|phpsessid)=[^/?;]*", re.IGNORECASE)
_SESSION_PARAMETER = re.compile(
    r"(?:(?:phpsessid|jsessionid|aspsessionid\w*|cfid|cftoken|zenid|oscsid)=.*"
    r"|(?:sid|s|sessid|session|sessionid|session_id)=(?=[^=]*\d)[0-9a-z]{16,})",  # short ones name a story, or a search
    re.IGNORECASE,
)
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def canonical_address(url: str) -> str:
    """One spelling for one page: host in small letters, no default port, no fragment, no tracking parameters, no dot
    segments, and escapes only where they are needed (RFC 3986, 6.2.2).

    Raises SourceError for what is not an http(s) address, or carries a user name or password (it would be stored).
    """
    parts = _split(url)
    host = (parts.hostname or "").rstrip(".")
    try:
        host = host if ":" in host else host.encode("idna").decode("ascii")
    except UnicodeError as error:
        raise SourceError(f"{url} is not a web address: its host name is not valid.") from error
    port = "" if parts.port in (None, _PORTS[parts.scheme]) else f":{parts.port}"
    netloc = (f"[{host}]" if ":" in host else host) + port
    query = "&".join(part for part in parts.query.split("&") if part and not _of_a_visit(part))
    path = _without_dots(_escaped(_SESSION.sub("", parts.path), "/%:@!$&'()*+,;=~-._"))
    return urlunsplit((parts.scheme, netloc, path, _escaped(query, "/%:@!$&'()*+,;=~-._?[]"), ""))


def spellings(url: str) -> list[str]:
    """The ways in which one page may stand in the database: both schemes, with and without a slash at the end.

    Raises SourceError like :func:`canonical_address`.
    """
    address = canonical_address(url)
    _, _, rest = address.partition("://")
    bare = rest.rstrip("/")
    return [url, *(f"{scheme}://{bare}{slash}" for scheme in ("https", "http") for slash in ("", "/"))]


def _of_a_visit(parameter: str) -> bool:
    return bool(_TRACKING.match(parameter) or _SESSION_PARAMETER.fullmatch(parameter))


def _escaped(text: str, safe: str) -> str:
    """Escaped where it must be, with capitals; a plain character that came escaped is written plainly."""

    def spelled(match: re.Match[str]) -> str:
        plain = chr(int(match[1], 16))
        return plain if plain in _UNRESERVED else match[0].upper()

    return _ESCAPE.sub(spelled, quote(text, safe=safe))


def _without_dots(path: str) -> str:
    """Without ``.`` and ``..`` segments (RFC 3986, 5.2.4)."""
    kept: list[str] = []
    segments = path.split("/")[1:] or [""]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in _PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        parts, usable = None, False
    if parts is None or not usable:
        raise SourceError(f"{url} is not an http or https address.")
    if parts.username is not None or parts.password is not None:
        raise SourceError(f"The address of {parts.hostname} holds a user name or password; give it without.")
    return parts


def resolve_public(host: str, port: int, *, allow_private: bool = False) -> str:
    """The IP address to connect to.

    The caller must connect to this very address: a name may resolve to another one a moment later. Every address
    of the name must be public, else SourceError.
    """
    addresses = lookup(host, port)
    if not allow_private and not all_public(addresses):
        raise SourceError(
            f"{host} is a private address, and those are not fetched unless you allow it: pass --allow-private to "
            "`harry ingest`, or set HARRY_INGEST__PRIVATE_ADDRESSES to true."
        )
    return addresses[0]


def lookup(host: str, port: int) -> list[str]:
    """Every IP address of a name, the one to use first. Raises SourceError when there is none."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise SourceError(f"{host} cannot be found: check the address and the network.") from error
    return [str(entry[4][0]) for entry in found]


def all_public(addresses: Iterable[str]) -> bool:
    """Whether a name with these addresses may be fetched: one private address among them is enough to refuse it."""
    return all(is_public(address) for address in addresses)


def private_name(host: str) -> bool:
    """Whether a host names a place in a local network, by its number or its name. Nothing is looked up."""
    try:
        return not is_public(host.strip("[]"))
    except ValueError:
        return "." not in host.strip(".") or host.rstrip(".").endswith(_LOCAL)


_LOCAL = (".local", ".localhost", ".localdomain", ".lan", ".internal", ".intranet", ".home", ".home.arpa", ".corp")


def is_public(address: str) -> bool:
    """Whether an IP address is one of the open internet, also behind an IPv6 form of an IPv4 address."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if inner is None and ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    return ip.is_global and not ip.is_multicast


_NAT64 = ipaddress.ip_network("64:ff9b::/96")
