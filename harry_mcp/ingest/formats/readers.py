"""The readers of the formats that are not text. The library of a format is imported when a file of it is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harry_mcp.domain.documents import SourceDocument
from harry_mcp.ingest.decoding import clean_text
from harry_mcp.ingest.formats.converted import Converted
from harry_mcp.ingest.readers import finished, first_h1


@dataclass(frozen=True, slots=True)
class FormatReader:
    """The reader of one format. ``convert`` takes the bytes, the source (for its sentences) and the charset."""

    convert: Callable[[bytes, str, str], Converted]

    def __call__(
        self,
        data: bytes | str,
        *,
        source: str,
        title: str = "",
        url: str = "",
        topic: str = "",
        language: str = "",
        charset: str = "",
    ) -> SourceDocument:
        """The title is the caller's, else what the file names as its own, else its first heading, else its name."""
        found = self.convert(data.encode() if isinstance(data, str) else data, source, charset)
        text = clean_text(found.text)
        return finished(
            source,
            text,
            title or found.title or first_h1(text),
            url=url,
            topic=topic,
            language=language or found.language,
        )


def _pdf(data: bytes, source: str, _: str) -> Converted:
    from harry_mcp.ingest.formats.pdf import convert_pdf

    return convert_pdf(data, source)


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


read_pdf = FormatReader(_pdf)
read_docx = FormatReader(_docx)
read_pptx = FormatReader(_pptx)
read_xlsx = FormatReader(_xlsx)
read_csv = FormatReader(_csv)
read_epub = FormatReader(_epub)
