"""What comes over the wire: a page, in memory, or on disk where it is a PDF, which may be large."""

from __future__ import annotations

import io
import os
import tempfile
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, BinaryIO, cast
from urllib.parse import urlsplit

from harry_mcp.ingest.by_format import is_pdf
from harry_mcp.ingest.unpacking import TooMuch, Unpacker

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True, slots=True, kw_only=True)
class Largest:
    """Bytes, after decompression, beyond which a file or a page is refused: of a PDF, and of all else.

    A page beyond it is a download, and what is no PDF is held in memory.
    """

    other: int = 20_000_000
    pdf: int = 500_000_000

    @classmethod
    def of(cls, size: int) -> Largest:
        """The same for everything, PDFs too, which are then held in memory like all else."""
        return cls(other=size, pdf=size)


LARGEST = Largest()


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedPage:
    """A page as it came. ``url`` is the canonical address after redirects; ``media_type`` is in small letters.

    A body on disk is in ``file``; whoever has the page closes it.
    """

    url: str
    body: bytes = b""
    media_type: str = ""
    charset: str = ""
    file: BinaryIO | None = None

    @property
    def content(self) -> bytes | BinaryIO:
        """What a reader reads."""
        return self.body if self.file is None else self.file

    @property
    def size(self) -> int:
        return len(self.body) if self.file is None else self.file.seek(0, os.SEEK_END)

    @property
    def blank(self) -> bool:
        return self.file is None and not self.body.strip()

    def close(self) -> None:
        if self.file is not None:
            self.file.close()


class Body:
    """The body of an answer while it comes in. ``with`` it; a page that it gave has it for its own."""

    def __init__(self, address: str, response: httpx.Response, largest: Largest) -> None:
        self._address = address
        self._response = response
        pdf = is_pdf(suffix_of(address), _media_type(response))
        self.largest = largest.pdf if pdf else largest.other
        self._on_disk = pdf and largest.pdf > largest.other
        self._file = cast(BinaryIO, tempfile.TemporaryFile() if self._on_disk else io.BytesIO())  # noqa: SIM115
        self._size = 0
        self._unpacker = Unpacker(response.headers.get("content-encoding", ""), self.largest)

    def __enter__(self) -> Body:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def declared_too_large(self) -> bool:
        """Whether the answer says beforehand that its body is too large."""
        declared = self._response.headers.get("content-length", "")
        return declared.isdigit() and int(declared) > self.largest

    def add(self, packed: bytes) -> bool:
        """Take in some of it as it came, packed or not; false when that made it too large.

        Raises:
            SourceError: it is not packed as it says.
        """
        try:
            for piece in self._unpacker.add(packed):
                self._size += len(piece)
                self._file.write(piece)
                if self._size > self.largest:
                    return False
        except TooMuch:
            return False
        return True

    def end(self) -> None:
        """It is all there. Raises SourceError when what was packed is not."""
        self._unpacker.end()

    def page(self) -> FetchedPage:
        """The page of the answer, with all that came in."""
        media_type, charset = _media_type(self._response), self._response.charset_encoding or ""
        if not self._on_disk:
            body = cast(io.BytesIO, self._file).getvalue()
            return FetchedPage(url=self._address, body=body, media_type=media_type, charset=charset)
        file, self._file = self._file, io.BytesIO()
        return FetchedPage(url=self._address, file=file, media_type=media_type, charset=charset)


def suffix_of(address: str) -> str:
    """The suffix of the path of an address, in small letters, with its dot."""
    return PurePosixPath(urlsplit(address).path).suffix.lower()


def _media_type(response: httpx.Response) -> str:
    return response.headers.get("content-type", "").partition(";")[0].strip().lower()
