"""An HTML page as Markdown: the article without the site around it, and what the page says of itself.

trafilatura finds the article. It flattens code (blank lines, language) and odd tables, so these are written by
:mod:`harry_mcp.ingest.html_writer` and only travel through it between markers; and it was made for news, so a page of
documentation that it cuts too hard is written whole from its main element.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from harry_mcp.ingest.html_tables import rows_of
from harry_mcp.ingest.html_writer import markdown_of
from harry_mcp.ingest.inline import plain_inline
from harry_mcp.ingest.language import iso_639_1

if TYPE_CHECKING:
    from lxml.html import HtmlElement

# Markers of private-use characters: no page's text holds them once `_parsed` has taken them out.
_OPEN, _CLOSE, _END = "\ue0f0", "\ue0f1", "\ue0f2"
_MARKED = re.compile(f"{_OPEN}(\\d+){_END}.*?{_CLOSE}\\1{_END}", re.DOTALL)
_LEFT_OVER = re.compile(f"[{_OPEN}{_CLOSE}]\\d*{_END}?|{_END}")
_WEIGHT = 600  # characters of a code block or table that go along: trafilatura weighs nodes by their text
_KEPT_SHARE = 0.6  # of the words of a declared main element that trafilatura must have found to be believed
_LEAST_WORDS = 40  # a "whole article" shorter than this is more likely a wrong guess

_NOISE = "//*[@hidden or @aria-hidden='true'][not(self::body or self::html)]"
# Class names that say "not the text": of anchors and line numbers inside it, and of what stands around it.
_NOISE_CLASS = frozenset(
    [
        "headerlink",
        "anchor-link",
        "hash-link",
        "header-anchor",
        "heading-anchor",
        "permalink",
        "linenos",
        "linenodiv",
        "lineno",
        "gutter",
        "hljs-ln-numbers",
        "line-numbers-rows",
    ]
)
_AROUND = (
    ".//nav | .//footer[not(ancestor::blockquote)] | .//header[not(.//h1)] | .//*[@role='navigation' or @role='banner' "
    "or @role='contentinfo' or @role='search' or @role='complementary']"
)
_AROUND_NAME = re.compile(
    r"(?:[\w-]+[-_])?(?:breadcrumbs?|sidebar|side-bar|toc|table-of-contents|pagination|pager|edit-(?:this-)?page"
    r"|cookie[\w-]*|share|sharing|social[\w-]*|newsletter[\w-]*|comments?(?:-?(?:list|area|container|section))?"
    r"|disqus[\w-]*|related(?:-[\w-]+)?)",
    re.IGNORECASE,
)
_STAYS = frozenset(["body", "main", "article", "pre", "code", "table", "tr", "td", "th"])
_MAIN = ("//main", "//*[@role='main']", "//article", "//*[@id='content' or @id='main-content' or @id='main']")
_SEPARATOR = re.compile(r"\s+(?:[|·•—–»:-]|::)\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class HtmlPage:
    """What a page holds. ``text`` is "" when it shows no words; ``canonical`` is absolute or ""."""

    text: str
    title: str
    language: str
    canonical: str


def read_page(html: str, *, url: str = "", whole: bool = False) -> HtmlPage:
    """Read a page. ``whole`` says that there is no site around the text, as in a document converted to HTML."""
    root = _parsed(html)
    if root is None:
        return HtmlPage(text="", title="", language="", canonical="")
    head = _title(root)
    language = iso_639_1(root.get("lang", "") or root.get("{http://www.w3.org/XML/1998/namespace}lang", ""))
    canonical = _canonical(root, url)
    _drop([*_found(root, _NOISE), *(element for element in _found(root, "//*[@class]") if _is_noise(element))])
    text = markdown_of(root) if whole else _article(root)
    first = re.search(r"^# (.+)$", _without_code(text), re.MULTILINE)
    title = plain_inline(first.group(1)) if first else head
    return HtmlPage(text=text, title=title, language=language, canonical=canonical)


def _parsed(html: str) -> HtmlElement | None:
    from lxml import etree
    from lxml.html import HTMLParser, document_fromstring

    # lxml refuses a str that declares its encoding, so it gets bytes whose encoding is known.
    data = _LEFT_OVER.sub("", html).encode("utf-8", errors="replace")
    try:
        root: HtmlElement = document_fromstring(data, parser=HTMLParser(encoding="utf-8", remove_comments=True))
    except (etree.ParserError, etree.XMLSyntaxError):  # nothing in it
        return None
    return root


def _article(root: HtmlElement) -> str:
    main = _main_of(root)
    own = markdown_of(main)
    found = _extracted(root)
    expected, words = len(own.split()), len(found.split())
    if str(main.tag) != "body":
        lost_code = found.count("```") < 0.8 * own.count("```")
        return own if lost_code or words < _KEPT_SHARE * expected else found
    return own if words < min(_LEAST_WORDS, expected) else found


def _main_of(root: HtmlElement) -> HtmlElement:
    """A copy of the element that the page declares its main one (else of the body), without what stands around."""
    from copy import deepcopy

    body = next(iter(_found(root, "//body")), root)
    main = body
    for path in _MAIN:
        found = _found(root, path)
        if len(found) == 1 and len(found[0].text_content().split()) >= 3:
            main = found[0]
            break
    copy = deepcopy(main)
    named = (element for element in _found(copy, ".//*[@class or @id]") if _is_around(element))
    _drop([*_found(copy, _AROUND), *named])
    return copy


def _is_noise(element: HtmlElement) -> bool:
    return not _NOISE_CLASS.isdisjoint(element.get("class", "").split()) and str(element.tag) not in (
        "body",
        "main",
    )


def _is_around(element: HtmlElement) -> bool:
    if str(element.tag) in _STAYS or next(element.iterdescendants("h1"), None) is not None:
        return False  # what holds the page's heading is the page
    return any(_AROUND_NAME.fullmatch(name) for name in (*element.get("class", "").split(), element.get("id", "")))


def _drop(elements: list[HtmlElement]) -> None:
    for element in elements:
        if element.getparent() is not None:
            element.drop_tree()


def _extracted(root: HtmlElement) -> str:
    """What trafilatura takes for the article, with code and tables as this package writes them."""
    import trafilatura

    blocks: list[str] = []
    for element in _found(root, "//pre | //table"):
        if element.getparent() is None or not _whole(element):
            continue
        block = markdown_of(element)
        if block:
            _mark(element, len(blocks))
            blocks.append(block)
    found = trafilatura.extract(
        root, output_format="markdown", include_comments=False, include_tables=True, include_formatting=True
    )
    text = _MARKED.sub(lambda match: f"\n\n{blocks[int(match.group(1))]}\n\n", found or "")
    return re.sub(r"\n{3,}", "\n\n", _LEFT_OVER.sub("", text)).strip()


def _whole(element: HtmlElement) -> bool:
    """A code block, or a table of data and not of layout, that is in no other."""
    if any(str(parent.tag) in ("pre", "table") for parent in element.iterancestors()):
        return False
    return str(element.tag) == "pre" or (
        max((len(row) for row in rows_of(element)), default=0) > 1
        and not any(True for _ in element.iterdescendants("table", "h1", "h2", "h3", "form"))
    )


def _mark(element: HtmlElement, number: int) -> None:
    """Put a paragraph of the same words in its place, between markers."""
    from lxml.html import Element

    words = " ".join(element.text_content().split())[:_WEIGHT]
    paragraph = Element("p")
    paragraph.text = f"{_OPEN}{number}{_END}{words}{_CLOSE}{number}{_END}"
    paragraph.tail = element.tail
    parent = element.getparent()
    if parent is not None:
        parent.replace(element, paragraph)


def _title(root: HtmlElement) -> str:
    """og:title, else the title element without the site's name, which stands after the last separator."""
    for path in ("//meta[@property='og:title']/@content", "//head/title/text()", "//title/text()"):
        for value in root.xpath(path):  # pyright: ignore
            words = " ".join(str(value).split())
            if words:
                parts = _SEPARATOR.split(words)
                return parts[0] if len(parts) > 1 and len(parts[0]) >= 3 else words
    return ""


def _canonical(root: HtmlElement, url: str) -> str:
    for value in root.xpath("//link[@rel='canonical']/@href"):  # pyright: ignore
        address = urljoin(url, str(value).strip())
        if urlsplit(address).scheme in ("http", "https") and urlsplit(address).netloc:
            return address
    return ""


def _found(root: HtmlElement, path: str) -> list[HtmlElement]:
    return list(root.xpath(path))  # pyright: ignore


def _without_code(text: str) -> str:
    return re.sub(r"^(`{3,}).*?^\1", "", text, flags=re.MULTILINE | re.DOTALL)
