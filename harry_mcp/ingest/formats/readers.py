"""The readers of the formats that are not text. The library of a format is imported when a file of it is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Unpack

from harry_mcp.domain.documents import SourceDocument
from harry_mcp.ingest.decoding import clean_text
from harry_mcp.ingest.formats.converted import Converted
from harry_mcp.ingest.readers import Data, Known, finished, first_h1, whole


@dataclass(frozen=True, slots=True)
class FormatReader:
    """The reader of one format. ``convert`` takes the bytes, the source (for its sentences) and the charset."""

    convert: Callable[[bytes, str, str], Converted]

    def __call__(self, data: Data, *, source: str, **known: Unpack[Known]) -> SourceDocument:
        """The title is the caller's, else what the file names as its own, else its first heading, else its name."""
        found = self.convert(_bytes(data), source, known.get("charset", ""))
        return _finished(found, source, known)


def read_pdf(data: Data, *, source: str, **known: Unpack[Known]) -> SourceDocument:
    """The same for a PDF, which is never in memory as a whole when it comes as an open file."""
    from harry_mcp.ingest.formats.pdf import convert_pdf

    return _finished(convert_pdf(data.encode() if isinstance(data, str) else data, source), source, known)


def _finished(found: Converted, source: str, known: Known) -> SourceDocument:
    text = clean_text(found.text)
    return finished(source, text, known, title=found.title or first_h1(text), language=found.language)


def _bytes(data: Data) -> bytes:
    read = whole(data)
    return read.encode() if isinstance(read, str) else read


def _docx(data: bytes, source: str, _: str) -> Converted:
    from harry_mcp.ingest.formats.docx import convert_docx

    return convert_docx(data, source)


def _pptx(data: bytes, source: str, _: str) -> Converted:
    from harry_mcp.ingest.formats.slides import convert_pptx

    return convert_pptx(data, source)


def _xlsx(data: bytes, source: str, _: str) -> Converted:
    from harry_mcp.ingest.formats.sheets import convert_xlsx

    return convert_xlsx(data, source)


def _csv(data: bytes, source: str, charset: str) -> Converted:
    from harry_mcp.ingest.formats.sheets import convert_csv

    return convert_csv(data, source, charset)


def _epub(data: bytes, source: str, _: str) -> Converted:
    from harry_mcp.ingest.formats.epub import convert_epub

    return convert_epub(data, source)


read_docx = FormatReader(_docx)
read_pptx = FormatReader(_pptx)
read_xlsx = FormatReader(_xlsx)
read_csv = FormatReader(_csv)
read_epub = FormatReader(_epub)
