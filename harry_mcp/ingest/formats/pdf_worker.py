"""Reads a PDF page by page in a process of its own, and prints one line of JSON for each page.

PDFium is C++ and not safe to share among threads. Here a file that makes it crash, hang or take all memory ends this
process and not the server. Run by path, not imported: it must start fast and needs nothing of this package.
"""

from __future__ import annotations

import ctypes
import io
import json
import os
import re
import sys
from contextlib import suppress
from typing import Any

_MEMORY = 3 << 30  # bytes of address space beyond the file's own
_SECONDS = 3600  # of the processor
_MOST_HELD = 32 << 20  # bytes of the file, mostly pictures, that are held before it is opened anew
_MOST_BOOKMARKS = 20_000
_LONGEST_LINE = 20_000
_BOLD = re.compile(r"bold|black|heavy|demi", re.IGNORECASE)
_MONO = re.compile(r"mono|courier|consol|menlo|typewriter|cmtt|sourcecode|fixed|lucidasanstyp", re.IGNORECASE)
_CELL_GAP = 1.0  # of the size of the letters: a wider gap within a line is one between cells
_WIDE_LINE = 0.62  # of the size of the letters, on average for each: such a line has gaps in it


class _File(io.BufferedReader):
    """The PDF on disk, of which PDFium reads what it needs, and how much it has read."""

    held = 0

    def readinto(self, buffer: Any, /) -> int:
        found = super().readinto(buffer)
        self.held += found
        return found


def main() -> int:
    file = _File(io.FileIO(sys.stdin.fileno(), closefd=False))
    _limit(os.fstat(sys.stdin.fileno()).st_size)
    import pypdfium2

    try:
        document: Any = pypdfium2.PdfDocument(file)
    except pypdfium2.PdfiumError as error:
        _say({"error": "password" if "password" in str(error).lower() else "damaged"})
        return 0
    _say({"pages": len(document), "title": _title(document), "outline": _outline(document)})
    file.held = 0
    for number in range(len(document)):
        _say(_page(document, number))
        if file.held > _MOST_HELD:  # PDFium keeps what it has read until the document is closed
            document.close()
            document = pypdfium2.PdfDocument(file)
            file.held = 0
    return 0


def _limit(size: int) -> None:
    """Bounds for a file that is made to exhaust the machine, also when nobody waits for this process any more."""
    try:
        import resource
    except ImportError:  # Windows
        return
    for kind, limit in ((resource.RLIMIT_AS, _MEMORY + size), (resource.RLIMIT_CPU, _SECONDS)):
        _, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY or hard > limit:
            with suppress(ValueError, OSError):  # some systems know the limit and do not let it be set
                resource.setrlimit(kind, (limit, hard))


def _say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def _title(document: Any) -> str:
    try:
        return str(document.get_metadata_value("Title"))[:1000]
    except Exception:  # noqa: BLE001 a title that cannot be had is none
        return ""


def _outline(document: Any) -> list[list[Any]]:
    """The bookmarks as [level, title, page]."""
    found: list[list[Any]] = []
    try:
        for bookmark in document.get_toc(max_depth=6):
            target = bookmark.get_dest()
            page = target.get_index() if target is not None else None
            found.append([bookmark.level, str(bookmark.get_title())[:500], -1 if page is None else page])
            if len(found) >= _MOST_BOOKMARKS:
                break
    except Exception:  # noqa: BLE001 a damaged outline is no outline
        return found
    return found


def _page(document: Any, number: int) -> dict[str, Any]:
    import pypdfium2

    try:
        page = document[number]
    except pypdfium2.PdfiumError:
        return {"broken": True}
    try:
        text = page.get_textpage()
        try:
            lines = _lines(text)
        finally:
            text.close()
        images = not lines and any(True for _ in page.get_objects(filter=[pypdfium2.raw.FPDF_PAGEOBJ_IMAGE]))
        return {"height": page.get_height(), "images": images, "lines": lines}
    except pypdfium2.PdfiumError:
        return {"broken": True}
    finally:
        page.close()


def _lines(text: Any) -> list[list[Any]]:
    """Each line as [text, left, baseline, right, size, bold, mono, cells]."""
    import pypdfium2

    raw: Any = pypdfium2.raw
    found: list[list[Any]] = []
    place = 0  # in UTF-16 units, which is how PDFium counts
    for line in text.get_text_range(errors="replace").split("\r\n"):
        units = len(line) + sum(character > "\uffff" for character in line)
        if words := line.strip()[:_LONGEST_LINE]:
            start = raw.FPDFText_GetCharIndexFromTextIndex(text, place + len(line) - len(line.lstrip()))
            last = raw.FPDFText_GetCharIndexFromTextIndex(text, place + units - (len(line) - len(line.rstrip())) - 1)
            if start >= 0:
                found.append([words, *_geometry(text, raw, words, start, max(start, last))])
        place += units + 2
    return found


def _geometry(text: Any, raw: Any, words: str, start: int, last: int) -> list[Any]:
    left, baseline = _origin(text, raw, start)
    right = max(left, _right(text, raw, last))
    samples = [_style(text, raw, place) for place in {start, (start + last) // 2, last}]
    size = max(sample[0] for sample in samples)
    broken = "\ufffe" in words  # two lines that PDFium joined at a hyphen
    wide = not broken and size > 0 and (right - left) > _WIDE_LINE * size * max(1, last - start + 1)
    pieces = 0 if broken else raw.FPDFText_CountRects(text, start, last - start + 1)
    cells = _cells(text, raw, start, last, size) if wide or 1 < pieces < 100 else []
    bold, mono = all(sample[1] for sample in samples), all(sample[2] for sample in samples)
    numbers = [round(value, 1) for value in (left, baseline, right, size)]
    return [*numbers, bold, mono, cells if len(cells) > 1 else []]


def _origin(text: Any, raw: Any, place: int) -> tuple[float, float]:
    x, y = ctypes.c_double(), ctypes.c_double()
    raw.FPDFText_GetCharOrigin(text, place, x, y)
    return x.value, y.value


def _right(text: Any, raw: Any, place: int) -> float:
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    raw.FPDFText_GetCharBox(text, place, left, right, bottom, top)
    return right.value


def _style(text: Any, raw: Any, place: int) -> tuple[float, bool, bool]:
    matrix = raw.FS_MATRIX()
    size = raw.FPDFText_GetFontSize(text, place)
    if raw.FPDFText_GetMatrix(text, place, matrix):
        size *= (matrix.c**2 + matrix.d**2) ** 0.5
    name, flags = ctypes.create_string_buffer(128), ctypes.c_int()
    raw.FPDFText_GetFontInfo(text, place, name, 128, flags)
    font = name.value.decode("utf-8", errors="replace")
    bold = bool(_BOLD.search(font)) or raw.FPDFText_GetFontWeight(text, place) >= 600
    return size, bold, bool(flags.value & 1) or bool(_MONO.search(font))


def _cells(text: Any, raw: Any, start: int, last: int, size: float) -> list[list[Any]]:
    """The parts of a line that gaps divide, as [left, right, words]."""
    cells: list[list[Any]] = []
    for place in range(start, min(last, start + 2000) + 1):
        character = chr(raw.FPDFText_GetUnicode(text, place))
        if character.isspace():
            if cells:
                cells[-1][2] += " "
            continue
        left, right = _origin(text, raw, place)[0], _right(text, raw, place)
        if cells and left - cells[-1][1] <= _CELL_GAP * size:
            cells[-1][1] = round(right, 1)
            cells[-1][2] += character
        else:
            cells.append([round(left, 1), round(right, 1), character])
    return [[left, right, " ".join(words.split())] for left, right, words in cells]


if __name__ == "__main__":
    sys.exit(main())
