"""The blocks of a Markdown text as spans of its characters.

Spans come from the line maps of markdown-it, never from its text: whatever the parser does not understand (a link
definition, nesting past its limit) still lies between two blocks it does, and belongs to the one before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import TYPE_CHECKING

from harry_mcp.ingest.inline import plain_inline

if TYPE_CHECKING:
    from markdown_it.token import Token

_LINE_END = re.compile(r"\r\n|\r|\n")
_LONGEST_HEADING = 200  # of a heading in a path; the text keeps all of it


class Kind(Enum):
    HEADING = auto()
    PROSE = auto()
    CODE = auto()
    TABLE = auto()
    GROUP = auto()  # a list, a list item or a quote: it has blocks inside


_KINDS = {
    "heading_open": Kind.HEADING,
    "paragraph_open": Kind.PROSE,
    "html_block": Kind.PROSE,
    "hr": Kind.PROSE,
    "fence": Kind.CODE,
    "code_block": Kind.CODE,
    "table_open": Kind.TABLE,
    "bullet_list_open": Kind.GROUP,
    "ordered_list_open": Kind.GROUP,
    "list_item_open": Kind.GROUP,
    "blockquote_open": Kind.GROUP,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A run of whole lines, or a part of a block that was cut.

    ``before`` and ``after`` are what a part repeats of the block it was cut from (the fence, the header row), so that
    it can be read alone; ``cut_from`` is where that block starts.
    """

    kind: Kind
    start: int
    end: int
    level: int = 0
    title: str = ""
    fence: str = ""
    info: str = ""
    before: str = ""
    after: str = ""
    cut_from: int = -1
    inside: tuple[Block, ...] = ()

    @property
    def repeated(self) -> int:
        return len(self.before) + len(self.after)

    @property
    def size(self) -> int:
        return self.end - self.start + self.repeated


@dataclass(slots=True)
class _Node:
    kind: Kind
    first_line: int
    last_line: int
    token: Token
    inside: list[_Node] = field(default_factory=list["_Node"])


def parse_blocks(text: str) -> list[Block]:
    """The top-level blocks in order. Together they hold every non-blank character; no two share one."""
    starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    nodes = _nodes(text)
    if not nodes:  # link definitions alone make no block
        return [Block(kind=Kind.PROSE, start=0, end=len(text.rstrip()))] if text.strip() else []
    return _placed(text, starts, nodes, 0, len(starts))


def _nodes(text: str) -> list[_Node]:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])  # inline marks do not matter here and take most of the time
    top: list[_Node] = []
    open_groups: list[tuple[int, _Node]] = []
    for token in parser.parse(text):
        kind = _KINDS.get(token.type)
        if kind is None:
            if token.type == "inline" and top:
                _name(open_groups[-1][1].inside[-1] if open_groups and open_groups[-1][1].inside else top[-1], token)
            continue
        if token.map is None:
            continue
        while open_groups and open_groups[-1][0] >= token.level:
            open_groups.pop()
        node = _Node(kind, token.map[0], token.map[1], token)
        (open_groups[-1][1].inside if open_groups else top).append(node)
        if kind is Kind.GROUP:
            open_groups.append((token.level, node))
    return top


def _name(node: _Node, inline: Token) -> None:
    if node.kind is Kind.HEADING and not node.token.content:
        node.token.content = inline.content


def _placed(text: str, starts: list[int], nodes: list[_Node], first: int, last: int) -> list[Block]:
    """Blocks for sibling nodes that share out the lines from ``first`` to ``last``. As deep as the parser goes: 20."""
    blocks: list[Block] = []
    for position, node in enumerate(nodes):
        begin = first if position == 0 else node.first_line
        end = nodes[position + 1].first_line if position + 1 < len(nodes) else last
        block = _block(text, starts, node, begin, end)
        if block.end > block.start:
            blocks.append(block)
    return blocks


def _block(text: str, starts: list[int], node: _Node, first: int, last: int) -> Block:
    stop = starts[last] if last < len(starts) else len(text)
    begin, end = trimmed(text, starts[first], stop)
    block = Block(kind=node.kind, start=begin, end=end)
    token = node.token
    if node.kind is Kind.HEADING:
        title = plain_inline(token.content)[:_LONGEST_HEADING].rstrip()
        return replace(block, level=int(token.tag[1:]) if token.level == 0 else 0, title=title)
    if token.type == "fence":
        return replace(block, fence=token.markup, info=token.info.strip())
    if node.inside:
        return replace(block, inside=tuple(_placed(text, starts, node.inside, first, last)))
    return block


def trimmed(text: str, start: int, stop: int) -> tuple[int, int]:
    """The span without blank lines before it and white space after it; the first line keeps its indentation."""
    piece = text[start:stop]
    body = piece.rstrip()
    blank = len(body) - len(body.lstrip())
    line = max(body.rfind("\n", 0, blank), body.rfind("\r", 0, blank)) + 1
    return start + line, start + len(body)
