"""Zip archives of XML (Office files, EPUB), opened only when they are what they should be.

Nothing is ever unpacked to disk, so a name such as ``../../etc/passwd`` leads nowhere: it is a key and no path.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager

from harry_mcp.errors import SourceError
from harry_mcp.ingest.formats.converted import damaged, protected

_MOST_PARTS = 20_000
_MOST_BYTES = 500_000_000  # of all parts unpacked: a text book with its pictures has a tenth of it
_MOST_XML = 30_000_000  # of one part that is parsed as a tree, which takes ten times as much memory
_DECLARED = re.compile(rb"""\A(?:\xef\xbb\xbf)?\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.-]+)""")
_PLAIN = re.compile(r"utf-?8|us-ascii|ascii|iso-?8859-\d+|latin-?1|windows-125\d|cp125\d", re.IGNORECASE)
_WIDE = re.compile(r"utf-?16(?:le|be)?", re.IGNORECASE)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_OLE = "EncryptedPackage".encode("utf-16-le")


@contextmanager
def opened(data: bytes, *, source: str, kind: str) -> Generator[zipfile.ZipFile, None, None]:
    """The archive in ``data``; ``kind`` names it in a sentence ("a Word document").

    Raises SourceError when it is none, is encrypted, or unpacks to more than a document can be. Errors of reading it
    inside the block become SourceError too.
    """
    if data.startswith(_OLE):
        if _ENCRYPTED_OLE in data:
            raise protected(source)
        raise SourceError(f"{source} cannot be read: it is in the old binary format; save it in today's format.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = archive.infolist()
            if any(part.flag_bits & 0x1 for part in parts):
                raise protected(source)
            if len(parts) > _MOST_PARTS or sum(part.file_size for part in parts) > _MOST_BYTES:
                raise SourceError(f"{source} cannot be read: it unpacks to more than {_MOST_BYTES // 1_000_000} MB.")
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, LookupError, OverflowError) as error:
        raise damaged(source, kind) from error


def refuse_entities(archive: zipfile.ZipFile, *, source: str, kind: str, tree: str = r".*") -> None:
    """Refuse a document type or an entity in any XML part: Office writes none, and they are how XML is made a bomb.

    Parts whose names match ``tree`` are refused when they are too large to be parsed as a tree.
    """
    for part in archive.infolist():
        if not part.filename.lower().endswith((".xml", ".rels", ".vml")):
            continue
        if part.file_size > _MOST_XML and re.fullmatch(tree, part.filename):
            raise SourceError(f"{source} cannot be read: its text alone is larger than {_MOST_XML // 1_000_000} MB.")
        if _has_entities(archive, part):
            raise damaged(source, kind)


def _has_entities(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bool:
    with archive.open(part) as stream:
        piece = stream.read(1 << 20)
        declared = _DECLARED.match(piece)
        encoding = declared.group(1).decode("ascii") if declared else "utf-8"
        wide = piece.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in piece[:4]
        if not wide and not _PLAIN.fullmatch(encoding) and not _WIDE.fullmatch(encoding):
            return True  # in an encoding in which the marks below would look different
        before = b""
        while piece:
            # In UTF-16 every second byte is zero; without them the marks read as they do in ASCII.
            text = before + (piece.replace(b"\x00", b"") if wide else piece)
            if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
                return True
            before = text[-16:]
            piece = stream.read(1 << 20)
    return False
