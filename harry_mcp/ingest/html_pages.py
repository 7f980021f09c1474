"""An HTML page as Markdown: the article without the site around it, and what the page says of itself.

trafilatura finds the article. It flattens code (blank lines, language) and odd tables, so these are written by
:mod:`harry_mcp.ingest.html_writer` and only travel through it between markers; and it was made for news, so a page of
documentation that it cuts too hard is written whole from its main element.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urljoin, urlsplit

from harry_mcp.ingest.html_selection import agreed_blocks, prose_words
from harry_mcp.ingest.html_tables import rows_of
from harry_mcp.ingest.html_tree import Element, copy_of, drop, found, found_words, new_element, parse_html
from harry_mcp.ingest.html_writer import blocks_of, markdown_of
from harry_mcp.ingest.inline import plain_inline
from harry_mcp.ingest.language import iso_639_1

# Markers around what travels through trafilatura: plain letters, because it takes out unusual characters.
_MARKED = re.compile(r"zqOpen(\d+)qz.*?zqShut\1qz", re.DOTALL)
_MARKS = re.compile(r"zq(?:Open|Shut)\d+qz")
_UNDERLINED = re.compile(r"</?u>")  # trafilatura leaves it as a tag
_ESCAPED = re.compile(r"(?<=\w)\\_(?=\w)")  # inside a word it marks nothing, and ``max\_size`` is not found
_WEIGHT = 600  # characters of a code block or table that go along: trafilatura weighs nodes by their text
_KEPT_SHARE = 0.6  # of the words of a declared main element that trafilatura must have found to be believed
_SAME_SHARE = 0.9  # from here on the two found the same article, and the structure of our own is better
_LEAST_WORDS = 40  # a "whole article" shorter than this is more likely a wrong guess

_NOISE = "//*[@hidden or @aria-hidden='true'][not(self::body or self::html)]"
# Class names that say "not the text": of anchors and line numbers inside it, and of what stands around it.
_NOISE_CLASS_WORDS = (
    "headerlink anchor-link hash-link header-anchor heading-anchor permalink linenos linenodiv lineno "
    "gutter hljs-ln-numbers line-numbers-rows"
)
_NOISE_CLASS = frozenset(_NOISE_CLASS_WORDS.split())
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
_STAYS = frozenset({"body", "main", "article", "pre", "code", "table", "tr", "td", "th"})
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
    root = parse_html(_MARKS.sub("", html))
    if root is None:
        return HtmlPage(text="", title="", language="", canonical="")
    head = _title(root)
    language = iso_639_1(root.get("lang", "") or root.get("{http://www.w3.org/XML/1998/namespace}lang", ""))
    canonical = _canonical(root, url)
    drop([*found(root, _NOISE), *(element for element in found(root, "//*[@class]") if _is_noise(element))])
    _unwrap_code(root)
    text = markdown_of(root) if whole else _article(root)
    first = re.search(r"^# (.+)$", _without_code(text), re.MULTILINE)
    title = plain_inline(first.group(1)) if first else head
    return HtmlPage(text=text, title=title, language=language, canonical=canonical)


def _article(root: Element) -> str:
    main = _main_of(root)
    blocks = blocks_of(main)
    own = "\n\n".join(blocks)
    article = _extracted(root)
    expected, words = len(own.split()), len(article.split())
    lost_code = article.count("```") < 0.8 * own.count("```")
    if str(main.tag) == "body":  # it holds much that is not the article, so only clear signs count
        cut_hard = words < _KEPT_SHARE * expected
        return own if (lost_code and cut_hard) or words < min(_LEAST_WORDS, expected) else article
    if lost_code or words < _KEPT_SHARE * min(expected, prose_words(main)):
        return own
    return "\n\n".join(agreed_blocks(blocks, article)) if words > _SAME_SHARE * expected else article


def _main_of(root: Element) -> Element:
    """A copy of the element that the page declares its main one (else of the body), without what stands around."""
    body = next(iter(found(root, "//body")), root)
    main = body
    for path in _MAIN:
        declared = found(root, path)
        if len(declared) == 1 and len(declared[0].text_content().split()) >= 3:
            main = declared[0]
            break
    copy = copy_of(main)
    named = (element for element in found(copy, ".//*[@class or @id]") if _is_around(element))
    drop([*found(copy, _AROUND), *named])
    return copy


def _unwrap_code(root: Element) -> None:
    """Take code out of the tables that put line numbers beside it."""
    for table in found(root, "//table[.//pre]"):
        parent, blocks = table.getparent(), list(table.iterdescendants("pre"))
        if parent is not None and len(blocks) == 1 and [len(row) for row in rows_of(table)] == [1]:
            blocks[0].tail = table.tail
            parent.replace(table, blocks[0])


def _is_noise(element: Element) -> bool:
    return element.tag not in ("body", "main") and not _NOISE_CLASS.isdisjoint(element.get("class", "").split())


def _is_around(element: Element) -> bool:
    if str(element.tag) in _STAYS or next(element.iterdescendants("h1"), None) is not None:
        return False  # what holds the page's heading is the page
    return any(_AROUND_NAME.fullmatch(name) for name in (*element.get("class", "").split(), element.get("id", "")))


def _extracted(root: Element) -> str:
    """What trafilatura takes for the article, with code and tables as this package writes them."""
    import trafilatura

    blocks: list[str] = []
    for element in found(root, "//pre | //table"):
        if element.getparent() is None or not _whole(element):
            continue
        block = markdown_of(element)
        if block:
            _mark(element, len(blocks))
            blocks.append(block)
    article = trafilatura.extract(
        cast(Any, root), output_format="markdown", include_comments=False, include_tables=True, include_formatting=True
    )
    plain = _ESCAPED.sub("_", _UNDERLINED.sub("", article or ""))
    pieces = _MARKED.split(re.sub(r"\n{3,}", "\n\n", plain))
    pieces[1::2] = [blocks[int(number)] for number in pieces[1::2]]
    text = "\n\n".join(piece.strip("\n") for piece in pieces if piece.strip())
    return "" if _MARKS.search(text) else text  # it cut a block in half: not to be believed


def _whole(element: Element) -> bool:
    """A code block, or a table of data and not of layout, that is in no other."""
    if any(str(parent.tag) in ("pre", "table") for parent in element.iterancestors()):
        return False
    return str(element.tag) == "pre" or (
        max((len(row) for row in rows_of(element)), default=0) > 1
        and not any(True for _ in element.iterdescendants("table", "h1", "h2", "h3", "form"))
    )


def _mark(element: Element, number: int) -> None:
    """Put a paragraph of the same words in its place, between markers."""
    words = " ".join(element.text_content().split())[:_WEIGHT]
    paragraph = new_element("p")
    paragraph.text = f"zqOpen{number}qz {words} zqShut{number}qz"
    paragraph.tail = element.tail
    parent = element.getparent()
    if parent is not None:
        parent.replace(element, paragraph)


def _title(root: Element) -> str:
    """og:title, else the title element without the site's name, which stands after the last separator."""
    for path in ("//meta[@property='og:title']/@content", "//head/title/text()", "//title/text()"):
        for words in found_words(root, path):
            parts = _SEPARATOR.split(words)
            return parts[0] if len(parts) > 1 and len(parts[0]) >= 3 else words
    return ""


def _canonical(root: Element, url: str) -> str:
    for address in found_words(root, "//link[@rel='canonical']/@href"):
        absolute = urljoin(url, address)
        if urlsplit(absolute).scheme in ("http", "https") and urlsplit(absolute).netloc:
            return absolute
    return ""


def _without_code(text: str) -> str:
    return re.sub(r"^(`{3,}).*?^\1", "", text, flags=re.MULTILINE | re.DOTALL)
