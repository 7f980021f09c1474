"""PDF as Markdown, a page at a time: a process of its own reads the pages to disk, then they are gone over twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO

from harry_mcp.errors import SourceError
from harry_mcp.ingest.formats.converted import LARGEST_TEXT, Converted, damaged, declared_title, protected
from harry_mcp.ingest.formats.pdf_layout import Layout
from harry_mcp.ingest.formats.pdf_lines import Page, Survey, outline_of

_WORKER = Path(__file__).with_name("pdf_worker.py")
_PATIENCE = 60.0  # seconds without one more page: real pages take milliseconds
_POLL = 0.02
_KIND = "a PDF"


def convert_pdf(data: bytes | BinaryIO, source: str, *, patience: float = _PATIENCE) -> Converted:
    """A PDF with a text layer, as bytes or as an open file. Memory grows with its text, not with its drawings or size.

    Raises SourceError for one that is protected, damaged, a scan, or that PDFium cannot get through.
    """
    with tempfile.TemporaryFile() as pages:
        _read_pages(data, source, pages, patience)
        head = _head(pages, source)
        survey = Survey(outline=outline_of((level, title, page) for level, title, page in head["outline"]))
        characters = 0
        for page in _pages(pages):
            survey.see(page)
            characters += sum(len(line.text) for line in page.lines)
            if characters > LARGEST_TEXT:
                raise SourceError(f"{source} cannot be read: it holds too much text for one document; split it.")
        if not characters:
            raise _without_text(source, survey)
        layout = Layout(survey)
        for page in _pages(pages):
            layout.add(page)
    text = layout.text()
    return Converted(text=text, title=declared_title(head["title"]) or layout.first_heading)


def _read_pages(data: bytes | BinaryIO, source: str, pages: IO[bytes], patience: float) -> None:
    if isinstance(data, bytes):
        with tempfile.TemporaryFile() as file:
            file.write(data)
            _read_file(file, source, pages, patience)
    else:
        _read_file(data, source, pages, patience)


def _read_file(file: IO[bytes], source: str, pages: IO[bytes], patience: float) -> None:
    file.seek(0)
    worker = subprocess.Popen(  # noqa: S603 our own interpreter and file; the PDF is its input only
        [sys.executable, "-P", str(_WORKER)], stdin=file, stdout=pages, stderr=subprocess.DEVNULL, close_fds=True
    )
    try:
        _wait(worker, source, pages, patience)
    finally:
        worker.kill()
        worker.wait()
    if worker.returncode != 0:
        raise SourceError(
            f"{source} cannot be read: the PDF reader failed on it; print it to a new PDF and bring that in."
        )


def _wait(worker: subprocess.Popen[bytes], source: str, pages: IO[bytes], patience: float) -> None:
    """Until the worker ends. One that prints no page for too long is given up."""
    size, since = 0, time.monotonic()
    while True:
        try:
            worker.wait(timeout=_POLL)
            return
        except subprocess.TimeoutExpired:
            now = os.fstat(pages.fileno()).st_size
            if now != size:
                size, since = now, time.monotonic()
            elif time.monotonic() - since > patience:
                raise SourceError(f"{source} cannot be read: one of its pages takes too long; split the PDF.") from None


def _messages(pages: IO[bytes]) -> Iterator[dict[str, Any]]:
    pages.seek(0)
    for line in pages:
        yield json.loads(line)


def _head(pages: IO[bytes], source: str) -> dict[str, Any]:
    head = next(_messages(pages), {"error": "damaged"})
    if head.get("error") == "password":
        raise protected(source)
    if "error" in head:
        raise damaged(source, _KIND)
    return head


def _pages(pages: IO[bytes]) -> Iterator[Page]:
    messages = _messages(pages)
    next(messages)
    for number, message in enumerate(messages):
        yield Page.from_message(number, message)


def _without_text(source: str, survey: Survey) -> SourceError:
    if survey.image_pages:
        return SourceError(
            f"{source} holds pictures of pages and no text: it is a scan; run OCR on it (ocrmypdf) and bring that in."
        )
    return SourceError(f"{source} holds no text.")
