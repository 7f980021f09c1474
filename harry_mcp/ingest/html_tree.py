"""The few things this package does with an lxml tree, typed: lxml has no types of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from importlib import import_module
from typing import Any, Protocol, cast


class Element(Protocol):
    """An element of a parsed page. ``tag`` is not a str for comments and processing instructions."""

    tag: object
    text: str | None
    tail: str | None

    def get(self, key: str, default: str, /) -> str: ...
    def getparent(self) -> Element | None: ...
    def iter(self, *tags: str) -> Iterator[Element]: ...
    def iterchildren(self, *tags: str) -> Iterator[Element]: ...
    def iterdescendants(self, *tags: str) -> Iterator[Element]: ...
    def iterancestors(self, *tags: str) -> Iterator[Element]: ...
    def text_content(self) -> str: ...
    def drop_tree(self) -> None: ...
    def replace(self, old: Element, new: Element, /) -> None: ...


# The parser stops at 256 elements inside one another and loses what comes after. Pages nest 30 deep.
_MOST_NESTED = 100
# Elements that need no end tag, so that nothing says how deep they nest
_LOOSE_WORDS = (
    "html head body p li dt dd tr td th tbody thead tfoot caption colgroup option optgroup rp rt "
    "area base br col embed hr img input link meta param source track wbr"
)
_RAW = frozenset({"script", "style", "textarea", "title", "template", "svg", "noscript"})  # no words of the page
_LOOSE = _RAW | frozenset(_LOOSE_WORDS.split())
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]*)[^<>]*>")


def parse_html(html: str) -> Element | None:
    """The root of a page or of a piece of one, without comments; None when there is nothing in it.

    What is nested too deep for the parser is lifted out of its containers.
    """
    root, too_deep = _parsed(html, huge=False)
    # Those few containers more that have no end tag of their own fit the parser's larger limit.
    return _parsed(_flattened(html), huge=True)[0] if too_deep else root


def _parsed(html: str, *, huge: bool) -> tuple[Element | None, bool]:
    """The root, and whether the parser gave up on the depth of the page."""
    library, errors = cast(Any, import_module("lxml.html")), cast(Any, import_module("lxml.etree"))
    parser = library.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=huge)
    # lxml refuses a str that declares its encoding, so it gets bytes whose encoding is known.
    try:
        root = cast(Element, library.document_fromstring(html.encode("utf-8", errors="replace"), parser=parser))
    except (errors.ParserError, errors.XMLSyntaxError):
        root = None
    return root, any("depth" in str(entry.message) for entry in parser.error_log)


def _flattened(html: str) -> str:
    """The page with the words, and no tags, of what lies in more containers than the limit."""
    depth = 0

    def kept(match: re.Match[str]) -> str:
        nonlocal depth
        name, ends = match[2].lower(), bool(match[1])
        container = name not in _LOOSE and not match[0].endswith("/>")
        within = depth <= _MOST_NESTED if ends else depth < _MOST_NESTED
        if container:
            depth = max(0, depth - 1) if ends else depth + 1
        return match[0] if within or name in _RAW else " "

    return _TAG.sub(kept, html)


def new_element(tag: str) -> Element:
    return cast(Element, cast(Any, import_module("lxml.html")).Element(tag))


def found(root: Element, path: str) -> list[Element]:
    """The elements that an XPath selects."""
    return cast("list[Element]", cast(Any, root).xpath(path))


def found_words(root: Element, path: str) -> list[str]:
    """The attributes or texts that an XPath selects, white space collapsed, without empty ones."""
    values = cast("list[object]", cast(Any, root).xpath(path))
    return [words for value in values if (words := " ".join(str(value).split()))]


def children(element: Element) -> list[Element]:
    return [child for child in element.iterchildren() if isinstance(child.tag, str)]


def walk(element: Element) -> Iterator[tuple[str, Element]]:
    """``("start", element)`` and ``("end", element)`` of it and all below, in document order."""
    etree = cast(Any, import_module("lxml.etree"))
    return cast("Iterator[tuple[str, Element]]", etree.iterwalk(element, events=("start", "end")))


def copy_of(element: Element) -> Element:
    """The element and all below it, apart from its page and without the text after it."""
    copy = deepcopy(element)
    copy.tail = None
    return copy


def drop(elements: list[Element]) -> None:
    """Take the elements out, with all below them; the text after each stays."""
    for element in elements:
        if element.getparent() is not None:
            element.drop_tree()
