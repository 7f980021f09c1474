"""PowerPoint presentations as Markdown: a heading for each slide, its text in the order in which it is read."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any, cast

from harry_mcp.ingest.formats.archives import opened, refuse_entities
from harry_mcp.ingest.formats.converted import Converted, damaged, table
from harry_mcp.ingest.formats.core_properties import core_properties
from harry_mcp.ingest.inline import escape_block_start, image_words

_KIND = "a PowerPoint presentation"
_DEEPEST = 20  # groups in groups: people nest three
_PICTURE = 13  # MSO_SHAPE_TYPE
_AUTOMATIC = re.compile(r"(?:picture|grafik|image|bild|content placeholder|graphic|shape)\s*\d+", re.IGNORECASE)
_SILENT = frozenset({"DATE (16)", "FOOTER (15)", "SLIDE_NUMBER (13)", "HEADER (14)"})


def convert_pptx(data: bytes, source: str) -> Converted:
    """A .pptx: titles, text, tables, figures of charts, what pictures are said to show, and the speaker's notes."""
    pptx = cast(Any, import_module("pptx"))
    with opened(data, source=source, kind=_KIND) as archive:
        refuse_entities(archive, source=source, kind=_KIND)
        title, language = core_properties(archive)
        try:
            slides = [_slide(slide) for slide in pptx.Presentation(io.BytesIO(data)).slides]
        # lxml's, KeyError, AttributeError, its own: what it raises depends on what is wrong with the file.
        except Exception as error:
            raise damaged(source, _KIND) from error
    first = next((name for name, _ in slides if name), "")
    text = "\n\n".join(
        "\n\n".join([f"## {name or f'Slide {number}'}", *blocks])
        for number, (name, blocks) in enumerate(slides, 1)
        if name or blocks
    )
    return Converted(text=text, title=title or first, language=language)


def _slide(slide: Any) -> tuple[str, list[str]]:
    title = slide.shapes.title
    name = " ".join(title.text_frame.text.split()) if title is not None else ""
    blocks: list[str] = []
    for shape in _in_order(slide.shapes, 0):
        if title is None or shape.shape_id != title.shape_id:
            blocks += _blocks(shape)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = _paragraphs(slide.notes_slide.notes_text_frame)
        blocks += ["**Notes**", *notes] if notes else []
    return name, blocks


def _in_order(shapes: Any, depth: int) -> Iterator[Any]:
    """From top to bottom and left to right: the file has them in the order in which they were drawn."""
    placed = sorted(shapes, key=lambda shape: ((shape.top or 0) // 200_000, shape.left or 0))
    for shape in placed:
        if hasattr(shape, "shapes") and depth < _DEEPEST:
            yield from _in_order(shape.shapes, depth + 1)
        else:
            yield shape


def _blocks(shape: Any) -> list[str]:
    if shape.is_placeholder and str(shape.placeholder_format.type) in _SILENT:
        return []
    if getattr(shape, "has_table", False):
        return [table([[_cell(cell) for cell in row.cells] for row in shape.table.rows])]
    if getattr(shape, "has_chart", False):
        return _chart(shape.chart)
    if shape.has_text_frame:
        return _paragraphs(shape.text_frame)
    words = image_words(shape._element._nvXxPr.cNvPr.get("descr", ""), "") if shape.shape_type == _PICTURE else ""
    return [words] if words and not _AUTOMATIC.fullmatch(words) else []


def _cell(cell: Any) -> str:
    return "" if cell.is_spanned else str(cell.text_frame.text)


def _paragraphs(frame: Any) -> list[str]:
    """The paragraphs of a frame: a list when there are more than one of them, as on slides they are."""
    lines = [(int(each.level), " ".join(str(each.text).split())) for each in frame.paragraphs]
    lines = [(level, words) for level, words in lines if words]
    if len(lines) < 2:
        return [escape_block_start(words) for _, words in lines]
    least = min(level for level, _ in lines)
    return ["\n".join(f"{'  ' * (level - least)}- {words}" for level, words in lines)]


def _chart(chart: Any) -> list[str]:
    """The numbers that a chart draws, a row for each category."""
    title = chart.chart_title.text_frame.text.strip() if chart.has_title and chart.chart_title.has_text_frame else ""
    rows: list[list[str]] = []
    for plot in chart.plots:
        series = list(plot.series)
        categories = [str(category) for category in plot.categories]
        if categories and series:
            rows.append(["", *(str(each.name) for each in series)])
            for place, category in enumerate(categories):
                values = [each.values[place] if place < len(each.values) else None for each in series]
                rows.append([category, *("" if value is None else f"{value:g}" for value in values)])
    written = table(rows)
    return [part for part in (title, written) if part]
