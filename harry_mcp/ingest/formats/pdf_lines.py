"""The lines of a PDF's pages, and what the whole document says about them before any is written.

A PDF knows letters and places, not paragraphs. What is body text, a heading or a running header only shows when all
pages have been seen once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

BREAK = "\ufffe"  # PDFium's sign for a hyphen at the end of a line, where it joined the two
_EDGE = 0.12  # of the page's height, at the top and at the bottom: running headers and footers stand there
_MOST_PAGES = 0.4  # of the pages must repeat a line there; left and right pages may have their own
_LEAST_PAGES = 3
_PAGE_NUMBER = re.compile(
    r"(?:[-–—|\s]*(?:page|p\.|seite|página|pagina)?\s*(?:\d{1,5}|[ivxlc]{1,7})(?:\s*(?:/|of|von|de|sur)\s*\d{1,5})?"
    r"[-–—|\s]*)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"^\d{1,5}\s+\D|\D\s+\d{1,5}$")  # a chapter's name with the number of the page
_LEADER = re.compile(r"(?:\.\s?){5,}\s*(?:\d{1,5}|[ivxlc]{1,7})?\s*$", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_MOST_WORDS = 300_000
_HEADING_RATIO = 1.12  # of the body's size: smaller differences are drawn, not meant
_HEADING_SHARE = 0.15  # of all letters: a size that holds more is text
_CODE_SHARE = 0.6  # of all letters in a typewriter's face: then it is the document's own face and no sign of code


@dataclass(frozen=True, slots=True)
class Line:
    """One line. Lengths are in points; ``baseline`` grows upward; ``cells`` are (left, right, words) between gaps."""

    text: str
    left: float
    baseline: float
    right: float
    size: float
    bold: bool = False
    mono: bool = False
    cells: tuple[tuple[float, float, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    number: int
    height: float
    lines: tuple[Line, ...]
    images: bool = False

    @classmethod
    def from_message(cls, number: int, message: dict[str, Any]) -> Page:
        """A page as the worker printed it; one that it could not read has no lines."""
        lines = (
            Line(*line[:7], cells=tuple((left, right, words) for left, right, words in line[7]))
            for line in message.get("lines", ())
        )
        return cls(number, message.get("height", 0.0), tuple(lines), message.get("images", False))


@dataclass(slots=True)
class Survey:
    """What all pages say together. ``outline`` maps a page to the titles that bookmarks name there, with levels."""

    outline: dict[int, list[tuple[str, int]]] = field(default_factory=dict[int, list[tuple[str, int]]])
    pages: int = 0
    image_pages: int = 0
    letters: Counter[float] = field(default_factory=Counter[float])
    mono_letters: int = 0
    words: set[str] = field(default_factory=set[str])
    _edges: Counter[str] = field(default_factory=Counter[str])
    _spacings: Counter[float] = field(default_factory=Counter[float])
    _named: Counter[tuple[float, int]] = field(default_factory=Counter[tuple[float, int]])

    def see(self, page: Page) -> None:
        self.pages += 1
        self.image_pages += page.images
        self._edges.update({folded(line.text) for line in page.lines if is_edge(line, page)})
        before: Line | None = None
        for line in page.lines:
            self.letters[rounded(line.size)] += len(line.text)
            self.mono_letters += len(line.text) if line.mono else 0
            if level := self.bookmark_level(line, page):
                self._named[rounded(line.size), level] += 1
            if before and before.size == line.size and 0 < before.baseline - line.baseline < 3 * line.size:
                self._spacings[round((before.baseline - line.baseline) / line.size, 1)] += 1
            if len(self.words) < _MOST_WORDS:
                self.words.update(word.lower() for word in _WORD.findall(line.text.replace(BREAK, " ")))
            before = line

    @property
    def body(self) -> float:
        """The size that most letters have."""
        return max(self.letters, key=lambda size: self.letters[size], default=0.0)

    @property
    def spacing(self) -> float:
        """The usual distance of two lines of a paragraph, in sizes of their letters."""
        return max(self._spacings, key=lambda ratio: self._spacings[ratio], default=1.2)

    @property
    def has_code(self) -> bool:
        return 0 < self.mono_letters < _CODE_SHARE * self.letters.total()

    def levels(self) -> dict[float, int]:
        """The heading level of each size that headings have: what the bookmarks say, else by rank."""
        sizes = sorted((size for size in self.letters if self._is_heading_size(size)), reverse=True)
        named: dict[float, int] = {}
        for (size, level), _ in sorted(self._named.items(), key=lambda entry: entry[1]):
            named[size] = level
        return {size: named.get(size, min(rank, 5)) for rank, size in enumerate(sizes, 1)}

    def _is_heading_size(self, size: float) -> bool:
        return size >= _HEADING_RATIO * self.body and self.letters[size] <= _HEADING_SHARE * self.letters.total()

    def bookmark_level(self, line: Line, page: Page) -> int:
        """1 and up for a line that a bookmark of its page names, else 0."""
        here = _letters(line.text)
        for title, level in self.outline.get(page.number, ()):
            part = len(here) >= 8 and (title.startswith(here) or title.endswith(here) or here.endswith(title))
            if here and (here == title or (part and len(title) >= 4)):
                return level
        return 0

    def body_lines(self, page: Page) -> Iterator[Line]:
        """The page without running headers, footers, page numbers and tables of contents."""
        least = max(_LEAST_PAGES, _MOST_PAGES * self.pages)
        for line in page.lines:
            if is_edge(line, page) and self._is_running(line.text, least):
                continue
            if not _LEADER.search(line.text):
                yield line

    def _is_running(self, text: str, least: float) -> bool:
        """Whether a line at the edge is a page number, or repeats: on most pages, or with a number on a few."""
        seen = self._edges[folded(text)]
        return bool(_PAGE_NUMBER.fullmatch(text) or seen >= least or (seen >= _LEAST_PAGES and _NUMBERED.search(text)))

    def joined(self, text: str) -> str:
        """Words that a line end cut are one again; a hyphen stays where the document has it in the midst of a line."""
        return re.sub(rf"([^\W\d_]+){BREAK}([^\W\d_]+)", self._whole, text).replace(BREAK, "-")

    def _whole(self, match: re.Match[str]) -> str:
        one, two = match.groups()
        known = f"{one}-{two}".lower() in self.words and f"{one}{two}".lower() not in self.words
        return f"{one}-{two}" if known or two[0].isupper() else one + two


def outline_of(entries: Iterable[tuple[int, str, int]]) -> dict[int, list[tuple[str, int]]]:
    """Bookmarks (level, title, page) by page, the titles as their letters."""
    found: dict[int, list[tuple[str, int]]] = {}
    for level, title, page in entries:
        if letters := _letters(title):
            found.setdefault(page, []).append((letters, min(level + 1, 6)))
    return found


def is_edge(line: Line, page: Page) -> bool:
    return page.height > 0 and not _EDGE * page.height < line.baseline < (1 - _EDGE) * page.height


def folded(text: str) -> str:
    """A running line on any page: its numbers are counted, the rest is the same."""
    return re.sub(r"\d+", "#", " ".join(text.split())).casefold()


def rounded(size: float) -> float:
    return round(2 * size) / 2


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()
