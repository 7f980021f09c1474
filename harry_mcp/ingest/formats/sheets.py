"""Workbooks and files of separated values as Markdown tables."""

from __future__ import annotations

import csv
import io
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time, timedelta
from importlib import import_module
from typing import Any, cast

from harry_mcp.errors import SourceError
from harry_mcp.ingest.decoding import decode
from harry_mcp.ingest.formats.archives import opened, refuse_entities
from harry_mcp.ingest.formats.converted import LARGEST_TEXT, Converted, damaged, table
from harry_mcp.ingest.formats.core_properties import core_properties
from harry_mcp.ingest.inline import escape_block_start

_KIND = "an Excel workbook"
_TREES = r"(?!xl/worksheets/sheet).*"  # the sheets themselves are streamed
_MOST_EMPTY = 5_000  # rows in a row after which a sheet is over: one stray cell in its last row must not cost minutes
_SAMPLE = 20_000
_DELIMITERS = ",;\t|"


def convert_xlsx(data: bytes, source: str) -> Converted:
    """A .xlsx: a heading and its tables for each sheet that is shown; formulas as the values saved with them."""
    openpyxl = cast(Any, import_module("openpyxl"))
    with opened(data, source=source, kind=_KIND) as archive:
        refuse_entities(archive, source=source, kind=_KIND, tree=_TREES)
        title, language = core_properties(archive)
        try:
            book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
            try:
                shown = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
                text = "\n\n".join(_sheets(shown, source))
            finally:
                book.close()
        except (SourceError, zipfile.BadZipFile):
            raise
        # ValueError, KeyError, TypeError, lxml's: what it raises depends on what is wrong with the file.
        except Exception as error:
            raise damaged(source, _KIND) from error
    return Converted(text=text, title=title, language=language)


def convert_csv(data: bytes | str, source: str, charset: str = "") -> Converted:
    """Comma, semicolon, tab or bar separated values as one table."""
    text = decode(data, source=source, charset=charset)
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=_delimiter(text[:_SAMPLE])))
    except csv.Error as error:
        raise damaged(source, "a file of separated values") from error
    return Converted(text=_block([[" ".join(value.split()) for value in row] for row in rows]))


def _delimiter(sample: str) -> str:
    """The sign that divides most rows into the same number of values. The Sniffer of csv falls for spaces and dots."""

    def evenness(delimiter: str) -> tuple[float, int]:
        widths = Counter(len(row) for row in csv.reader(io.StringIO(sample), delimiter=delimiter) if row)
        width, rows = max(widths.items(), key=lambda entry: (entry[0] > 1, entry[1]), default=(1, 0))
        return (rows / max(1, widths.total()) if width > 1 else 0.0), width

    return max(_DELIMITERS, key=evenness)


def _sheets(sheets: Iterable[Any], source: str) -> Iterator[str]:
    characters = 0
    for sheet in sheets:
        sheet.reset_dimensions()  # what the file says of its size may be wrong
        blocks: list[str] = []
        for rows in _regions(sheet):
            characters += sum(len(value) for row in rows for value in row)
            if characters > LARGEST_TEXT:
                raise SourceError(f"{source} cannot be read: it holds too much text for one document; split it.")
            blocks.append(_block(rows))
        if blocks:
            yield f"## {' '.join(str(sheet.title).split())}"
            yield from blocks


def _regions(sheet: Any) -> Iterator[list[list[str]]]:
    """Runs of rows that an empty row ends."""
    rows: list[list[str]] = []
    empty = 0
    for cells in sheet.iter_rows():
        row = [_value(cell) for cell in cells]
        if any(row):
            rows.append(row)
            empty = 0
            continue
        empty += 1
        if rows:
            yield rows
            rows = []
        if empty > _MOST_EMPTY:
            return
    if rows:
        yield rows


def _block(rows: list[list[str]]) -> str:
    """A table, or lines of text where only one column is filled."""
    filled = [[value for value in row if value] for row in rows]
    if all(len(row) < 2 for row in filled):
        return "\n\n".join(escape_block_start(row[0]) for row in filled if row)
    return table(rows)


def _value(cell: Any) -> str:
    value: object = cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(sep=" ", timespec="minutes")
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return str(value)
    if isinstance(value, float):
        percent = "%" in str(cell.number_format)
        return f"{100 * value:.10g}%" if percent else f"{value:.15g}"
    return " ".join(str(value).split())
