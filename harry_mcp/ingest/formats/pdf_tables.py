"""Tables among the lines of a PDF: lines with gaps that stand under one another."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from harry_mcp.ingest.formats.converted import table
from harry_mcp.ingest.formats.pdf_lines import Line

_MARKER = re.compile(r"(?:[^\w\s]|\uf0b7|\(?\w{1,3}[.)])\Z")
_WIDEST = 30
Cell = tuple[float, float, str]


def opens_table(line: Line) -> bool:
    """Whether a table may start with the line: it has cells, and is no list item with a gap after its mark."""
    return 1 < len(line.cells) <= _WIDEST and not _MARKER.fullmatch(line.cells[0][2])


def continues_table(rows: Sequence[Line], line: Line) -> bool:
    """Whether the line is one more row, or the rest of a cell that goes on in a second line."""
    last = rows[-1]
    if not 0 < last.baseline - line.baseline < 3.5 * max(line.size, last.size):
        return False
    if opens_table(line):
        return True
    beside_first = line.left > rows[0].cells[0][1] and line.right <= max(row.right for row in rows) + line.size
    return beside_first and last.baseline - line.baseline < 1.6 * line.size


def table_of(rows: Sequence[Line]) -> str:
    """The Markdown table of the rows, "" when they do not stand under one another as a table's do."""
    counts = Counter(len(row.cells) for row in rows if row.cells)
    width = max(counts, key=lambda cells: (counts[cells], cells))
    if counts[width] < (2 if width > 2 else 3):
        return ""
    columns = _columns([row for row in rows if len(row.cells) == width], width)
    if not columns:
        return ""
    grid: list[list[str]] = []
    for row in rows:
        cells = row.cells or ((row.left, row.right, row.text),)
        placed = [""] * width
        for cell in cells:
            column = _column(columns, cell)
            placed[column] = f"{placed[column]} {cell[2]}".strip()
        if grid and not placed[0] and not row.cells:
            grid[-1] = [f"{before} {more}".strip() for before, more in zip(grid[-1], placed, strict=True)]
        else:
            grid.append(placed)
    return table(grid)


def _columns(rows: Sequence[Line], width: int) -> list[tuple[float, float]]:
    """The span of each column, none when two of them overlap: then the gaps are chance."""
    spans = [
        (min(row.cells[column][0] for row in rows), max(row.cells[column][1] for row in rows))
        for column in range(width)
    ]
    apart = all(one[1] < other[0] for one, other in pairwise(spans))
    return spans if apart else []


def _column(columns: Sequence[tuple[float, float]], cell: Cell) -> int:
    """The column that the cell overlaps most, else the nearest."""
    left, right, _ = cell

    def overlap(place: int) -> float:
        return min(right, columns[place][1]) - max(left, columns[place][0])

    return max(range(len(columns)), key=overlap)
