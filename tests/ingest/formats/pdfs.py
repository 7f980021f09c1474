"""Makes PDFs for the tests, with a writer that is no part of the package."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, cast

Draw = Callable[[Any], None]
WIDTH, HEIGHT = 595.0, 842.0


def pdf(pages: Iterable[Draw], *, title: str = "", password: str = "") -> bytes:
    """A PDF with one page for each function, which draws on a canvas of A4 in points from the lower left corner."""
    out = io.BytesIO()
    library = cast(Any, import_module("reportlab.pdfgen.canvas"))
    canvas = library.Canvas(out, pagesize=(WIDTH, HEIGHT), encrypt=password or None)
    canvas.setTitle(title)
    for draw in pages:
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def lines(*texts: str, size: float = 11, font: str = "Helvetica", top: float = 720, left: float = 72) -> Draw:
    """Lines under one another."""

    def draw(canvas: Any) -> None:
        canvas.setFont(font, size)
        for number, text in enumerate(texts):
            canvas.drawString(left, top - 1.3 * size * number, text)

    return draw


def both(*draws: Draw) -> Draw:
    def draw(canvas: Any) -> None:
        for each in draws:
            each(canvas)

    return draw
