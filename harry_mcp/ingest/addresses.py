"""Web addresses: their canonical form, and which hosts may be asked at all."""

from __future__ import annotations

import ipaddress
import re
import socket
from urllib.parse import SplitResult, quote, urlsplit, urlunsplit

from harry_mcp.errors import SourceError

_PORTS = {"http": 80, "https": 443}
_TRACKING = re.compile(r"(?:utm_\w+|gclid|fbclid|mc_cid|mc_eid|msclkid|_hsenc|_hsmi)=", re.IGNORECASE)


def canonical_address(url: str) -> str:
    """One spelling for one page: host in small letters, no default port, no fragment, no tracking parameters.

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
    query = "&".join(part for part in parts.query.split("&") if part and not _TRACKING.match(part))
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    return urlunsplit((parts.scheme, netloc, path, quote(query, safe="/%:@!$&'()*+,;=~-._?[]"), ""))


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
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise SourceError(f"{host} cannot be found: check the address and the network.") from error
    addresses = [str(entry[4][0]) for entry in found]
    if not allow_private and not all(is_public(address) for address in addresses):
        raise SourceError(f"{host} is a private address, and those are not fetched unless you allow it.")
    return addresses[0]


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
