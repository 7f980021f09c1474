"""An HTML tree as Markdown: headings, lists, tables and code kept, links as their words."""

from __future__ import annotations

import re
from itertools import pairwise

from harry_mcp.ingest.html_code import code_block, code_span
from harry_mcp.ingest.html_tables import rows_of, table_markdown
from harry_mcp.ingest.html_tree import Element, children, parse_html
from harry_mcp.ingest.inline import escape_block_start, image_words

_BLOCK_WORDS = (
    "address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre section summary "
    "table tbody td tfoot th thead tr ul"
)
_BLOCKS = frozenset(_BLOCK_WORDS.split())
_UNSEEN_WORDS = (
    "script style head noscript template svg canvas iframe object embed audio video button input select "
    "textarea link meta title map"
)
_UNSEEN = frozenset(_UNSEEN_WORDS.split())
_HEADING = re.compile(r"h([1-6])\Z")
_MARKS = {"strong": "**", "b": "**", "em": "*", "i": "*"}
_CODE = frozenset({"code", "kbd", "samp", "tt"})
_DEEPEST = 120  # beyond it a subtree is taken as one paragraph: pages nest 30 deep, attacks nest 100,000


def markdown_of(root: Element) -> str:
    """The Markdown of ``root``: of a table or a ``pre`` the block, of a container all that it holds."""
    return "\n\n".join(blocks_of(root))


def blocks_of(root: Element) -> list[str]:
    """The Markdown of ``root``, one string for each paragraph, heading, list, table or block of code."""
    return _Writer(root).block(root, 0)


def fragment_markdown(html: str) -> str:
    """The Markdown of a piece of HTML, such as a block inside a Markdown document; "" when it shows nothing."""
    root = parse_html(f"<div>{html}</div>")
    return "" if root is None else markdown_of(root)


class _Writer:
    def __init__(self, root: Element) -> None:
        # An inline element with a block somewhere inside (a card that is one link) is itself a container.
        self._containers: set[Element] = set()
        for element in root.iter(*_BLOCKS):
            parent = element.getparent()
            while parent is not None and parent not in self._containers:
                self._containers.add(parent)
                parent = parent.getparent()

    def blocks(self, element: Element, depth: int) -> list[str]:
        """The blocks of one container, in order."""
        if depth > _DEEPEST:
            return _paragraph(element.text_content())
        found: list[str] = []
        inline: list[str] = [element.text or ""]
        for child in children(element):
            tag = str(child.tag)
            if tag in _BLOCKS or child in self._containers:
                found += _paragraph("".join(inline))
                inline.clear()
                found += self.block(child, depth + 1)
            elif tag not in _UNSEEN:
                inline.append(self.inline(child, depth + 1))
            inline.append(child.tail or "")
        return found + _paragraph("".join(inline))

    def block(self, element: Element, depth: int) -> list[str]:
        """One block element as Markdown blocks."""
        tag = str(element.tag)
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

    def inline(self, element: Element, depth: int) -> str:
        """One inline element as Markdown; a line break is kept as one."""
        tag = str(element.tag)
        if tag == "br":
            return "\x00"
        if tag == "img":
            return image_words(element.get("alt", ""), element.get("src", ""))
        if tag in _CODE or "literal" in element.get("class", "").split():  # docutils writes its code as a span
            return code_span(element.text_content())
        words = self.inline_children(element, depth) if depth <= _DEEPEST else element.text_content()
        mark = _MARKS.get(tag, "")
        if not mark or not words.strip() or mark in words:
            return words
        left, right = words[: len(words) - len(words.lstrip())], words[len(words.rstrip()) :]
        return f"{left}{mark}{words.strip()}{mark}{right}"

    def inline_children(self, element: Element, depth: int) -> str:
        parts = [element.text or ""]
        for child in children(element):
            if str(child.tag) not in _UNSEEN:
                # Blocks in an inline place (a paragraph in a cell) must not run into one another.
                space = " " if str(child.tag) in _BLOCKS else ""
                parts += [space, self.inline(child, depth + 1), space]
            parts.append(child.tail or "")
        return "".join(parts)

    def _list(self, element: Element, depth: int, *, ordered: bool) -> list[str]:
        start = element.get("start", "1")
        number = int(start) if re.fullmatch(r"\d{1,6}", start) else 1
        # Text beside the items is no list by the book, and pages have it; it must not be lost.
        contents = [_paragraph(element.text or "")]
        for child in children(element):
            contents += [self.blocks(child, depth + 1), _paragraph(child.tail or "")]
        items: list[str] = []
        for blocks in contents:
            marker = f"{number}. " if ordered else "- "
            if lines := _item(marker, blocks):
                items.append(lines)
                number += 1
        return ["\n".join(items)] if items else []

    def _definitions(self, element: Element, depth: int) -> list[str]:
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

    def _table(self, element: Element, depth: int) -> list[str]:
        rows = rows_of(element)
        layout = any(True for _ in element.iterdescendants("table", "h1", "h2", "h3", "h4")) or (
            element.get("role", "") == "presentation" or max((len(row) for row in rows), default=0) < 2
        )
        if layout:
            return self.blocks(element, depth)
        captions = [block for caption in element.iterchildren("caption") for block in self.blocks(caption, depth)]
        table = table_markdown(rows, lambda cell: self._cell(cell, depth))
        return captions + ([table] if table else [])

    def _cell(self, cell: Element, depth: int) -> str:
        words = self.inline_children(cell, depth).replace("\x00", " ")
        return " ".join(words.split()).replace("|", "\\|")


def _paragraph(inline: str) -> list[str]:
    lines = [" ".join(line.split()) for line in inline.split("\x00")]
    lines = [escape_block_start(line) for line in lines if line]
    return ["\n".join(lines)] if lines else []


def _term_and_meaning(blocks: list[str]) -> list[str]:
    """A term and its one line of meaning as one line."""
    if len(blocks) == 2 and not any("\n" in block or block.startswith(("```", "- ")) for block in blocks):
        return [f"{blocks[0].rstrip(' :')}: {blocks[1]}"]
    return blocks


def _item(marker: str, blocks: list[str]) -> str:
    if not blocks:
        return ""
    body = blocks[0]
    for before, block in pairwise(blocks):
        # A nested list sits close under its item; other blocks need the empty line.
        tight = re.match(r"(?:[-*+]|\d+\.)\s", block) and "\n" not in before
        body += ("\n" if tight else "\n\n") + block
    indent = " " * len(marker)
    return marker + "\n".join(f"{indent}{line}" if line else "" for line in body.split("\n"))[len(indent) :]
