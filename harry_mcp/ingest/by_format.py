"""Which reader reads what, by the suffix of a name and by the media type that a server declares."""

from __future__ import annotations

from harry_mcp.ingest.formats.readers import read_csv, read_docx, read_epub, read_pdf, read_pptx, read_xlsx
from harry_mcp.ingest.readers import Reader, read_html, read_markdown, read_rst, read_text

# As sentences name them
FORMATS = "Markdown, reST, HTML, text, PDF, Word, PowerPoint, Excel, CSV and EPUB"

READERS: dict[str, Reader] = {
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".mdx": read_markdown,
    ".rst": read_rst,
    ".txt": read_text,
    ".html": read_html,
    ".htm": read_html,
    ".xhtml": read_html,
    ".pdf": read_pdf,
    ".docx": read_docx,
    ".docm": read_docx,
    ".pptx": read_pptx,
    ".pptm": read_pptx,
    ".xlsx": read_xlsx,
    ".xlsm": read_xlsx,
    ".csv": read_csv,
    ".tsv": read_csv,
    ".epub": read_epub,
}
_OFFICE = "application/vnd.openxmlformats-officedocument."
MEDIA_TYPES: dict[str, Reader] = {
    "text/html": read_html,
    "application/xhtml+xml": read_html,
    "text/markdown": read_markdown,
    "text/x-markdown": read_markdown,
    "text/x-rst": read_rst,
    "text/prs.fallenstein.rst": read_rst,
    "application/pdf": read_pdf,
    "application/x-pdf": read_pdf,
    f"{_OFFICE}wordprocessingml.document": read_docx,
    f"{_OFFICE}presentationml.presentation": read_pptx,
    f"{_OFFICE}spreadsheetml.sheet": read_xlsx,
    "text/csv": read_csv,
    "text/tab-separated-values": read_csv,
    "application/epub+zip": read_epub,
}


def reader_for(suffix: str, media_type: str = "") -> Reader | None:
    """The reader of a media type, or of a suffix where the type says nothing; None when nothing here reads it."""
    if reader := MEDIA_TYPES.get(media_type):
        return reader
    if media_type in ("", "text/plain", "application/octet-stream", "binary/octet-stream", "application/zip"):
        return READERS.get(suffix, None if media_type == "application/zip" else read_text)
    return None


def is_pdf(suffix: str, media_type: str = "") -> bool:
    """Whether a PDF is what the two announce. It may be larger than anything else, for it is read from the disk."""
    return reader_for(suffix, media_type) is read_pdf
