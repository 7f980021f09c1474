"""robots.txt as sites really write it, read by Protego under the rules of RFC 9309."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harry_mcp.errors import SourceError
from harry_mcp.ingest.decoding import decode

if TYPE_CHECKING:
    from protego import Protego

LARGEST = 512 * 1024  # bytes that are read: RFC 9309, 2.5, asks for at least 500 KiB
_HTML = re.compile(r"\s*<")


@dataclass(frozen=True, slots=True)
class Robots:
    """What a site lets us do. Without rules everything is allowed."""

    agent: str
    rules: Protego | None = None

    def allows(self, url: str) -> bool:
        return self.rules is None or self.rules.can_fetch(url, self.agent)

    @property
    def delay(self) -> float:
        """Seconds between two requests that the site asks for, by ``Crawl-delay`` or ``Request-rate``; 0 if none."""
        if self.rules is None:
            return 0.0
        rate = self.rules.request_rate(self.agent)
        return max(self.rules.crawl_delay(self.agent) or 0.0, rate.seconds / rate.requests if rate else 0.0)

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The sitemaps it names, as written: some are relative."""
        return () if self.rules is None else tuple(dict.fromkeys(self.rules.sitemaps))


def parse_robots(body: bytes, user_agent: str) -> Robots:
    """The rules for us in a robots.txt of any encoding. A web page or a binary file in its place holds no rules."""
    agent = product_token(user_agent)
    if len(body) > LARGEST:  # cut between two lines, so that no half rule forbids too much
        body = body[: max(body.rfind(b"\n", 0, LARGEST), body.rfind(b"\r", 0, LARGEST)) + 1]
    try:
        # Not guessed: what is no UTF-8 is ASCII with a stray byte of the West, such as a no-break space after the "*".
        text = decode(body, source="robots.txt", charset="" if _is_utf8(body) else "latin-1")
    except SourceError:
        return Robots(agent)
    if _HTML.match(text) or not text.strip():
        return Robots(agent)
    from protego import Protego

    return Robots(agent, Protego.parse(text))


def product_token(user_agent: str) -> str:
    """The name that a robots.txt calls us by: letters, ``-`` and ``_`` (RFC 9309, 2.2.1)."""
    match = re.match(r"[A-Za-z_-]+", user_agent)
    return match.group().lower() if match else user_agent


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
