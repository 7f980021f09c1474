"""An HTML tree as Markdown: headings, lists, tables and code kept, links as their words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from harry_mcp.ingest.html_tables import rows_of, table_markdown
from harry_mcp.ingest.inline import image_words

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "center",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hgroup",
        "hr",
        "html",
        "legend",
        "li",
        "main",
        "menu",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
    ]
)
UNSEEN = frozenset(
    [
        "script",
        "style",
        "head",
        "noscript",
        "template",
        "svg",
        "canvas",
        "iframe",
        "object",
        "embed",
        "audio",
        "video",
        "button",
        "input",
        "select",
        "textarea",
        "link",
        "meta",
        "title",
        "map",
    ]
)
_HEADING = re.compile(r"h([1-6])\Z")
_MARKS = {"strong": "**", "b": "**", "em": "*", "i": "*"}
_CODE = frozenset({"code", "kbd", "samp", "tt"})
_DEEPEST = 120  # beyond it a subtree is taken as one paragraph: pages nest 30 deep, attacks nest 100,000
_LANGUAGE_CLASS = re.compile(r"(?:language|lang|highlight-source|highlight|brush)[-:]\s*([\w+#.-]+)")
_NO_LANGUAGE = frozenset({"default", "none", "notranslate", "text", "plaintext", "plain", "txt", "literal-block"})
_STARTS_BLOCK = re.compile(r"(#{1,6}(?=\s|$)|`{3}|~{3}|>|[-+](?=\s|$)|={3,}$|\|)")


def markdown_of(root: HtmlElement) -> str:
    """The Markdown of everything under ``root``."""
    return "\n\n".join(_Writer(root).blocks(root, 0))


def fragment_markdown(html: str) -> str:
    """The Markdown of a piece of HTML, such as a block inside a Markdown document; "" when it shows nothing."""
    from lxml import etree
    from lxml.html import HTMLParser, document_fromstring

    parser = HTMLParser(encoding="utf-8", remove_comments=True)
    try:
        return markdown_of(document_fromstring(f"<div>{html}</div>".encode(errors="replace"), parser=parser))
    except (etree.ParserError, etree.XMLSyntaxError):
        return ""


class _Writer:
    def __init__(self, root: HtmlElement) -> None:
        # An inline element with a block somewhere inside (a card that is one link) is itself a container.
        self._containers: set[HtmlElement] = set()
        for element in root.iter(*_BLOCKS):
            parent = element.getparent()
            while parent is not None and parent not in self._containers:
                self._containers.add(parent)
                parent = parent.getparent()

    def blocks(self, element: HtmlElement, depth: int) -> list[str]:
        """The blocks of one container, in order."""
        if depth > _DEEPEST:
            return _paragraph(element.text_content())
        found: list[str] = []
        inline: list[str] = [element.text or ""]
        for child in _children(element):
            tag = str(child.tag)
            if tag in _BLOCKS or child in self._containers:
                found += _paragraph("".join(inline))
                inline.clear()
                found += self._block(child, tag, depth + 1)
            elif tag not in UNSEEN:
                inline.append(self.inline(child, depth + 1))
            inline.append(child.tail or "")
        return found + _paragraph("".join(inline))

    def _block(self, element: HtmlElement, tag: str, depth: int) -> list[str]:
        if heading := _HEADING.match(tag):
            words = " ".join(self.inline_children(element, depth).split())
            return [f"{'#' * int(heading.group(1))} {words}"] if words else []
        if tag == "pre":
            return code_block(element)
        if tag in ("ul", "ol", "menu"):
            return self._list(element, depth, ordered=tag == "ol")
        if tag == "dl":
            return self._definitions(element, depth)
        if tag == "blockquote":
            inner = "\n\n".join(self.blocks(element, depth))
            return ["\n".join(f"> {line}".rstrip() for line in inner.split("\n"))] if inner else []
        if tag == "table":
            return self._table(element, depth)
        if tag == "summary":
            words = " ".join(self.inline_children(element, depth).split())
            return [f"**{words}**"] if words else []
        return self.blocks(element, depth)

    def inline(self, element: HtmlElement, depth: int) -> str:
        """One inline element as Markdown; a line break is kept as one."""
        tag = str(element.tag)
        if tag == "br":
            return "\x00"
        if tag == "img":
            return image_words(element.get("alt", ""), element.get("src", ""))
        if tag in _CODE or "literal" in element.get("class", "").split():  # docutils writes its code as a span
            return _code_span(element.text_content())
        words = self.inline_children(element, depth) if depth <= _DEEPEST else element.text_content()
        mark = _MARKS.get(tag, "")
        if not mark or not words.strip() or mark in words:
            return words
        left, right = words[: len(words) - len(words.lstrip())], words[len(words.rstrip()) :]
        return f"{left}{mark}{words.strip()}{mark}{right}"

    def inline_children(self, element: HtmlElement, depth: int) -> str:
        parts = [element.text or ""]
        for child in _children(element):
            if str(child.tag) not in UNSEEN:
                # Blocks in an inline place (a paragraph in a cell) must not run into one another.
                space = " " if str(child.tag) in _BLOCKS else ""
                parts += [space, self.inline(child, depth + 1), space]
            parts.append(child.tail or "")
        return "".join(parts)

    def _list(self, element: HtmlElement, depth: int, *, ordered: bool) -> list[str]:
        start = element.get("start", "1")
        number = int(start) if re.fullmatch(r"\d{1,6}", start) else 1
        items: list[str] = []
        for child in _children(element):
            marker = f"{number}. " if ordered else "- "
            if lines := _item(marker, self.blocks(child, depth + 1)):
                items.append(lines)
                number += 1
        return ["\n".join(items)] if items else []

    def _definitions(self, element: HtmlElement, depth: int) -> list[str]:
        """A term opens a list item and its definitions continue it, so that the two stay together."""
        items: list[list[str]] = []
        term_before = False
        for child in element.iterdescendants("dt", "dd"):
            if next(child.iterancestors("dl")) is not element:
                continue
            term = str(child.tag) == "dt"
            if not items or (term and not term_before):
                items.append([])
            items[-1] += self.blocks(child, depth + 1)
            term_before = term
        short = [_term_and_meaning(blocks) for blocks in items]
        lines = "\n".join(line for blocks in short if (line := _item("- ", blocks)))
        return [lines] if lines else []

    def _table(self, element: HtmlElement, depth: int) -> list[str]:
        rows = rows_of(element)
        layout = any(True for _ in element.iterdescendants("table", "h1", "h2", "h3", "h4")) or (
            element.get("role") == "presentation" or max((len(row) for row in rows), default=0) < 2
        )
        if layout:
            return self.blocks(element, depth)
        captions = [block for caption in element.iterchildren("caption") for block in self.blocks(caption, depth)]
        table = table_markdown(rows, lambda cell: self._cell(cell, depth))
        return captions + ([table] if table else [])

    def _cell(self, cell: HtmlElement, depth: int) -> str:
        words = self.inline_children(cell, depth).replace("\x00", " ")
        return " ".join(words.split()).replace("|", "\\|")


def code_block(element: HtmlElement) -> list[str]:
    """A ``pre`` as a fence with its language; lines, indentation and blank lines as they are on the page."""
    code = "".join(_code_text(element)).replace("\r\n", "\n").strip("\n").rstrip()
    if not code.strip():
        return []
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    fence = "`" * (longest + 1)
    return [f"{fence}{_language(element)}\n{code}\n{fence}"]


def _code_text(element: HtmlElement) -> Iterator[str]:
    """The text of a ``pre``, with a line end for each ``br`` and after each element that is a line of its own."""
    ended = True
    for event, node in _walk(element):
        if event == "start":
            text = node.text or ""
        elif node is element:
            break
        else:
            text = node.tail or ""
            line = str(node.tag) in ("div", "p", "li", "tr") and not ended
            if (str(node.tag) == "br" or line) and not text.startswith("\n"):
                text = "\n" + text
        if text:
            ended = text.endswith("\n")
            yield text


def _walk(element: HtmlElement) -> Iterator[tuple[str, HtmlElement]]:
    from lxml.etree import iterwalk

    yield from iterwalk(element, events=("start", "end"))  # pyright: ignore


def _language(element: HtmlElement) -> str:
    places = [*element.iterdescendants("code"), element, *list(element.iterancestors())[:3]]
    for place in places:
        named = place.get("data-lang") or place.get("data-language") or ""
        classes = place.get("class", "")
        found = [named, *_LANGUAGE_CLASS.findall(classes)]
        first, *rest = classes.split() or [""]
        if first in ("code", "sourceCode", "prettyprint") and str(place.tag) in ("pre", "code"):
            found += rest[:1]  # docutils and pandoc: "code python", "sourceCode python"
        for language in found:
            if re.fullmatch(r"[\w+#.-]{1,30}", language) and language.lower() not in _NO_LANGUAGE:
                return language.lower()
    return ""


def _children(element: HtmlElement) -> Iterable[HtmlElement]:
    return (child for child in element if isinstance(child.tag, str))


def _paragraph(inline: str) -> list[str]:
    lines = [" ".join(line.split()) for line in inline.split("\x00")]
    lines = [_STARTS_BLOCK.sub(r"\\\1", line) if _STARTS_BLOCK.match(line) else line for line in lines if line]
    return ["\n".join(lines)] if lines else []


def _code_span(code: str) -> str:
    words = " ".join(code.split())
    if not words:
        return ""
    longest = max((len(run) for run in re.findall(r"`+", words)), default=0)
    fence = "`" * (longest + 1)
    space = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{fence}{space}{words}{space}{fence}"


def _term_and_meaning(blocks: list[str]) -> list[str]:
    """A term and its one line of meaning as one line."""
    if len(blocks) == 2 and not any("\n" in block or block.startswith(("```", "- ")) for block in blocks):
        return [f"{blocks[0].rstrip(' :')}: {blocks[1]}"]
    return blocks


def _item(marker: str, blocks: list[str]) -> str:
    if not blocks:
        return ""
    body = blocks[0]
    for before, block in zip(blocks, blocks[1:], strict=False):
        # A nested list sits close under its item; other blocks need the empty line.
        tight = re.match(r"(?:[-*+]|\d+\.)\s", block) and "\n" not in before
        body += ("\n" if tight else "\n\n") + block
    indent = " " * len(marker)
    return marker + "\n".join(f"{indent}{line}" if line else "" for line in body.split("\n"))[len(indent) :]
