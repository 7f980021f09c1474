"""Lines of a PDF as Markdown: headings, paragraphs, lists, tables and code, page after page."""

from __future__ import annotations

import re
from itertools import pairwise

from harry_mcp.ingest.formats.pdf_lines import Line, Page, Survey, rounded
from harry_mcp.ingest.formats.pdf_tables import continues_table, opens_table, table_of
from harry_mcp.ingest.inline import escape_block_start, plain_inline

_BULLET = re.compile(r"[•▪◦‣∙●○■□◆➢➤✓–—*·\uf0b7\uf0a7-](?:\s+|(?<=[•▪◦‣●○■\uf0b7\uf0a7]))(?=\S)")
_NUMBER = re.compile(r"\(?(\d{1,3})[.)]\s+(?=\S)")
_LONGEST_HEADING = 200
_HEADING_LINES = 3
_OPEN_END = re.compile(r"[^.!?:;。！？\"”»)]\Z")
_WIDER = 0.3  # of a letter's size: so much more than the usual distance of lines begins a paragraph


class Layout:
    """Takes the pages in order; ``text`` is the Markdown of all of them."""

    def __init__(self, survey: Survey) -> None:
        self._survey = survey
        self._levels = survey.levels()
        self._spacing, self._code = survey.spacing, survey.has_code
        self._blocks: list[str] = []
        self._kind = ""  # of the block that is being filled: text, item, heading, code, table
        self._lines: list[Line] = []
        self._level = 0
        self._turned = False  # whether a page or a column ended since the last line
        self._indents: list[float] = []  # of the list that is open, outermost first
        self.first_heading = ""

    def add(self, page: Page) -> None:
        for line in self._survey.body_lines(page):
            if self._lines and line.baseline > self._lines[-1].baseline + line.size:
                self._turned = True  # a column ended
            self._take(line, page)
        self._turned = True

    def text(self) -> str:
        self._close()
        joined: list[str] = []
        for block in self._blocks:
            item = block.lstrip(" ").startswith(("- ",)) or re.match(r" *\d+\. ", block)
            before = bool(joined) and bool(re.match(r" *(?:-|\d+\.) ", joined[-1].lstrip("\n")))
            joined.append(("\n" if item and before else "\n\n") + block)
        return "".join(joined).strip("\n")

    def _take(self, line: Line, page: Page) -> None:
        if self._kind == "table":
            if not self._turned and continues_table(self._lines, line):
                self._lines.append(line)
                return
            self._close_table(page)
        level = self._heading_level(line, page)
        if level:
            self._heading(line, level)
        elif self._code and line.mono:
            self._open("code", line, goes_on=self._kind == "code" and not self._far(line, 6.0))
        elif opens_table(line):
            self._open("table", line)
        elif _BULLET.match(line.text) or _NUMBER.match(line.text):
            self._open("item", line)
        else:
            self._open(self._kind or "text", line, goes_on=self._goes_on(line), otherwise="text")

    def _open(self, kind: str, line: Line, *, goes_on: bool = False, otherwise: str = "") -> None:
        if not goes_on:
            self._close()
            self._kind = otherwise or kind
        self._lines.append(line)
        self._turned = False

    def _heading(self, line: Line, level: int) -> None:
        same = self._kind == "heading" and self._level == level and self._lines[-1].size == line.size
        goes_on = same and not self._far(line, 1.45) and len(self._lines) < _HEADING_LINES
        self._open("heading", line, goes_on=goes_on)
        self._level = level

    def _heading_level(self, line: Line, page: Page) -> int:
        if len(line.text) > _LONGEST_HEADING or sum(character.isalpha() for character in line.text) < 2:
            return 0
        return self._survey.bookmark_level(line, page) or self._levels.get(rounded(line.size), 0)

    def _goes_on(self, line: Line) -> bool:
        """Whether the line belongs to the paragraph or list item before it."""
        if self._kind not in ("text", "item"):
            return False
        last = self._lines[-1]
        if self._turned:
            return bool(_OPEN_END.search(last.text)) and line.text[:1].islower() and last.size == line.size
        if abs(last.size - line.size) > 0.25 * last.size or self._far(line, self._spacing + _WIDER):
            return False
        if self._kind == "item":
            return line.left > self._lines[0].left + 0.3 * line.size
        indented = line.left > last.left + line.size and len(self._lines) > 1
        return not indented or line.left > last.right - line.size  # or it stands beside, on the same line

    def _far(self, line: Line, most: float) -> bool:
        return self._turned or self._lines[-1].baseline - line.baseline > most * max(line.size, 1.0)

    def _close_table(self, page: Page) -> None:
        """The rows as a table, else as the lines that they are."""
        rows = self._lines
        written = table_of(rows)
        self._kind, self._lines = "", []
        if written:
            self._blocks.append(self._survey.joined(written))
            return
        for row in rows:
            plain = Line(row.text, row.left, row.baseline, row.right, row.size, row.bold, row.mono)
            self._take(plain, page)

    def _close(self) -> None:
        lines, kind = self._lines, self._kind
        self._lines, self._kind = [], ""
        if not lines:
            return
        if kind == "table":
            written = table_of(lines) or "\n".join(escape_block_start(line.text) for line in lines)
            self._blocks.append(self._survey.joined(written))
            return
        if kind == "code":
            self._blocks.append(_code(lines))
            return
        words = " ".join(self._survey.joined(" ".join(line.text for line in lines)).split())
        if kind == "heading":
            self.first_heading = self.first_heading or plain_inline(words)
            self._blocks.append(f"{'#' * self._level} {words}")
        elif kind == "item":
            self._blocks.append(self._item(words, lines[0].left))
            return
        else:
            self._blocks.append(escape_block_start(words))
        self._indents.clear()

    def _item(self, words: str, left: float) -> str:
        while self._indents and left < self._indents[-1] - 3:
            self._indents.pop()
        if not self._indents or left > self._indents[-1] + 3:
            self._indents.append(left)
        indent = "   " * (len(self._indents) - 1)
        number = _NUMBER.match(words)
        rest = words[number.end() :] if number else _BULLET.sub("", words, count=1)
        return f"{indent}{number.group(1)}. {rest}" if number else f"{indent}- {rest}"


def _code(lines: list[Line]) -> str:
    """Lines of code with the indentation and the blank lines that their places say."""
    margin = min(line.left for line in lines)
    steps = [one.baseline - other.baseline for one, other in pairwise(lines)]
    step = min((step for step in steps if step > 0), default=0.0)
    written: list[str] = []
    for place, line in enumerate(lines):
        if place and step and steps[place - 1] > 1.7 * step:
            written.append("")
        width = 0.6 * line.size  # of a letter in most typewriter faces
        indent = round((line.left - margin) / width) if width else 0
        written.append(" " * indent + line.text)
    longest = max((len(run) for run in re.findall(r"`{3,}", "\n".join(written))), default=2)
    fence = "`" * (longest + 1)
    return "\n".join([fence, *written, fence])
