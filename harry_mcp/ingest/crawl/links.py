"""What a page points to, and what it asks of crawlers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urljoin

from harry_mcp.errors import SourceError
from harry_mcp.ingest.addresses import canonical_address
from harry_mcp.ingest.html_tree import Element, found, found_words

_MARKDOWN_LINK = re.compile(
    r"(?<!!)\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(\s*<?([^\s<>()]+(?:\([^\s()]*\)[^\s<>()]*)*)>?(?:\s[^)]*)?\)"
)
_AUTOLINK = re.compile(r"<(https?://[^\s<>]+)>")
_REFRESH = re.compile(r"""\s*(\d*)[.\d]*\s*[;,]?\s*(?:url\s*=\s*)?["']?\s*([^"'\s]+)""", re.IGNORECASE)
_QUICK = 10  # seconds: a page that moves the reader on later than that is meant to be read
_PRODUCT = re.compile(r"\s*([A-Za-z0-9_-]+)\s*:(?!//)")
# What looks like a robot's name in a header and is a rule that has a value.
_VALUED = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_WEB = re.compile(r"https?:", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_BEFORE_QUERY = re.compile(r"[^?#]*")


@dataclass(frozen=True, slots=True)
class Link:
    """A canonical address that a page points to; ``nofollow`` when the page asks not to take this way."""

    url: str
    nofollow: bool = False


@dataclass(frozen=True, slots=True)
class Directives:
    """What a page or its headers ask of an index."""

    noindex: bool = False
    nofollow: bool = False

    def __or__(self, other: Directives) -> Directives:
        return Directives(self.noindex or other.noindex, self.nofollow or other.nofollow)


def links_of(root: Element, url: str) -> tuple[Link, ...]:
    """The web addresses that an HTML page links to, each once, in their order. A way that is open once is open."""
    base = base_of(root, url)
    ways: dict[str, bool] = {}
    for element in found(
        root, "//a[@href] | //area[@href] | //frame[@src] | //link[@rel='next' or @rel='prev'][@href]"
    ):
        target = absolute(element.get("href", "") or element.get("src", ""), base)
        if target:
            closed = "nofollow" in element.get("rel", "").lower().split()
            ways[target] = ways.get(target, True) and closed
    return tuple(Link(target, closed) for target, closed in ways.items())


def markdown_links(text: str, url: str) -> tuple[str, ...]:
    """The web addresses that a Markdown text links to, each once; llms.txt is such a text."""
    places = sorted(
        (match.start(), match.group(1)) for pattern in (_MARKDOWN_LINK, _AUTOLINK) for match in pattern.finditer(text)
    )
    return tuple(dict.fromkeys(target for _, href in places if (target := absolute(href, url))))


def absolute(href: str, base: str) -> str:
    """The canonical address of a reference; "" when it leads to nothing on the web."""
    href = href.strip()
    if not href or href.startswith("#") or (_SCHEME.match(href) and not _WEB.match(href)):
        return ""
    # Browsers read a backslash as a slash, so that people who write one see no difference.
    href = _BEFORE_QUERY.sub(lambda match: match[0].replace("\\", "/"), href, count=1)
    try:
        return canonical_address(urljoin(base, href))
    except (SourceError, ValueError):
        return ""


def base_of(root: Element, url: str) -> str:
    for href in found_words(root, "//base/@href"):
        return absolute(href, url) or url
    return url


def canonical_of(root: Element, url: str, header: str = "") -> str:
    """The address that a page, or the ``Link`` header of its answer, calls its canonical one; "" if none."""
    for href in found_words(root, "//link[contains(concat(' ', normalize-space(@rel), ' '), ' canonical ')]/@href"):
        return absolute(href, base_of(root, url))
    match = re.search(r"<([^>]+)>\s*;[^,]*\brel\s*=\s*\"?canonical\b", header, re.IGNORECASE)
    return absolute(match.group(1), url) if match else ""


def refresh_of(root: Element, url: str) -> str:
    """Where a page sends its reader at once; "" if it lets him read. Who runs no scripts may be sent elsewhere than
    the reader, away from the page itself, so that does not count."""
    metas = "//meta[translate(@http-equiv, 'REFSH', 'refsh') = 'refresh'][not(ancestor::noscript)]/@content"
    for content in found_words(root, metas):
        match = _REFRESH.match(content)
        if match and int(match.group(1) or 0) <= _QUICK and "=" in content:
            return absolute(match.group(2), base_of(root, url))
    return ""


def page_directives(root: Element, agent: str) -> Directives:
    """The ``robots`` metas of a page, those for us by name included."""
    asked = Directives()
    for element in found(root, "//meta[@name and @content]"):
        if element.get("name", "").strip().lower() in ("robots", agent):
            asked |= _directives(element.get("content", ""))
    return asked


def header_directives(values: list[str], agent: str) -> Directives:
    """The ``X-Robots-Tag`` headers of an answer: those for all robots, and those that name us."""
    asked = Directives()
    for value in values:
        name = ""
        for part in value.split(","):
            match = _PRODUCT.match(part)
            if match and match.group(1).lower() not in _VALUED:
                name, part = match.group(1).lower(), part[match.end() :]
            if name in ("", agent):
                asked |= _directives(part)
    return asked


def _directives(text: str) -> Directives:
    words = set(re.split(r"[\s,;]+", text.lower()))
    return Directives(
        noindex=not words.isdisjoint(("noindex", "none")), nofollow=not words.isdisjoint(("nofollow", "none"))
    )
