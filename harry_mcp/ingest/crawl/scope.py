"""Which addresses belong to a crawl: one site, a path prefix, a depth, and no address that is no text or a trap."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections import Counter
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from harry_mcp.domain.crawls import Reason
from harry_mcp.ingest.addresses import is_public

REDIRECTS = 5  # hops from an address to its page; browsers give up at 20, pages that people write need one or two
_LONGEST = 2000  # characters of an address: longer ones are built by scripts, and an index entry holds 2,700 bytes
_REPEATS = 3  # times that one path segment may stand in an address: more is a relative link that runs in circles
# How a number can be written in the place of a host: "127.1", "2130706433", "0x7f.0.0.1".
_NUMERIC = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)(?:\.(?:0x[0-9a-f]*|[0-9]+)){0,3}")
_WEB_PORTS = frozenset({80, 443})
# What no reader here reads, known before it is fetched. Everything else is decided by its media type.
_NOT_TEXT = frozenset(
    suffix
    for suffixes in (
        ".png .jpg .jpeg .gif .webp .avif .svg .ico .bmp .tif .tiff .psd .heic",
        ".mp3 .mp4 .m4a .m4v .mov .avi .mkv .webm .ogg .oga .ogv .wav .flac .aac",
        ".zip .gz .tgz .bz2 .xz .7z .rar .tar .zst .jar .war .whl .deb .rpm .dmg .pkg .msi .exe .apk .iso .bin",
        ".css .js .mjs .map .wasm .woff .woff2 .ttf .otf .eot .swf .class .pyc",
    )
    for suffix in suffixes.split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """How far a crawl reaches. ``prefix`` is a path: "/docs" holds /docs, /docs/ and all below, not /docs-old."""

    start: str
    prefix: str = "/"
    depth: int

    def refusal(self, url: str, depth: int, *, nofollow: bool = False) -> Reason | None:
        """Why a canonical address is no page of this crawl; None when it is one."""
        if not self.same_site(url):
            return Reason.PRIVATE if is_private(url) else Reason.OFF_SITE
        path = urlsplit(url).path
        if not self.holds(path):
            return Reason.PREFIX
        if PurePosixPath(path).suffix.lower() in _NOT_TEXT:
            return Reason.NOT_TEXT
        segments = Counter(segment for segment in path.split("/") if segment)
        if len(url) > _LONGEST or max(segments.values(), default=0) > _REPEATS:
            return Reason.TRAP
        if nofollow:
            return Reason.NOFOLLOW
        return Reason.DEPTH if depth > self.depth else None

    def same_site(self, url: str) -> bool:
        """The host with or without ``www.``; http and https of it are one site, another port is another site."""
        return _site(url) == _site(self.start)

    def holds(self, path: str) -> bool:
        base = self.prefix.rstrip("/")
        return path == base or path.startswith(base + "/")


def is_private(url: str) -> bool:
    """Whether an address says of itself that it leads to no public host; a name is judged when it is resolved."""
    host = urlsplit(url).hostname or ""
    try:
        if _NUMERIC.fullmatch(host):
            host = socket.inet_ntoa(socket.inet_aton(host))
        return not is_public(str(ipaddress.ip_address(host)))
    except (ValueError, OSError):
        return host == "localhost" or host.endswith((".localhost", ".local", ".internal"))


def _site(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return (parts.hostname or "").removeprefix("www."), 0 if port in _WEB_PORTS else port
