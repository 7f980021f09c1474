"""The grid of an HTML table, spans filled in, as a Markdown table."""

from __future__ import annotations

from collections.abc import Callable

from harry_mcp.ingest.html_tree import Element

_WIDEST = 60  # a span beyond this is a mistake or an attack


def rows_of(table: Element) -> list[list[Element]]:
    """The cells of each row, without those of tables inside."""
    rows: list[list[Element]] = []
    for row in table.iterdescendants("tr"):
        if next(row.iterancestors("table")) is table:
            rows.append(list(row.iterchildren("td", "th")))
    return [row for row in rows if row]


def table_markdown(rows: list[list[Element]], words: Callable[[Element], str]) -> str:
    """A table whose first row is the header, as Markdown demands; a spanning cell is repeated where it spans."""
    grid: list[list[str]] = []
    hanging: dict[int, tuple[int, str]] = {}  # column: rows still to fill, and with what
    for cells in rows:
        grid.append(_filled(cells, hanging, words))
    grid = [row for row in grid if any(row)]
    width = max((len(row) for row in grid), default=0)
    if not grid:
        return ""
    lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in grid]
    return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])


def _filled(cells: list[Element], hanging: dict[int, tuple[int, str]], words: Callable[[Element], str]) -> list[str]:
    row: list[str] = []

    def fill() -> None:
        while len(row) in hanging:
            left, text = hanging.pop(len(row))
            if left > 1:
                hanging[len(row)] = (left - 1, text)
            row.append(text)

    for cell in cells[:_WIDEST]:
        fill()
        text, down = words(cell), _span(cell, "rowspan")
        for position in range(_span(cell, "colspan")):
            if down > 1:
                hanging[len(row)] = (down - 1, text)
            row.append(text if position == 0 else "")
    fill()
    return row


def _span(cell: Element, name: str) -> int:
    value = cell.get(name, "1")
    return min(int(value), _WIDEST) if value.isascii() and value.isdigit() and value != "0" else 1
