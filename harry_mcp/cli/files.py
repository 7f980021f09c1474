"""Files that a command reads or writes line by line: gzip by their suffix, ``-`` for the standard streams."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import sys
import tempfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, cast

from harry_mcp.errors import InputError, SourceError

STANDARD = "-"
# Characters. A longer line is no record: no document that was read in comes near it.
_LONGEST_LINE = 400_000_000
# Bytes. A table is held in memory, with its answers.
_LARGEST_TABLE = 400_000_000


def refuse_taken(name: str, *, force: bool) -> None:
    """See that a file may be written under this name; ``force`` lets it take the place of another.

    Raises:
        InputError: there is one, or something that is no file.
    """
    path = Path(name)
    if name == STANDARD or not os.path.lexists(path):
        return
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is no file. Name one, or - for standard output.")
    if not force:
        raise InputError(f"{path} is there already. Name another file, or pass --force to replace it.")


@contextmanager
def writing(name: str, *, force: bool = False) -> Generator[Callable[[str], None], None, None]:
    """Takes lines. The file is there once all of it is written, and for nobody else to read.

    Raises:
        InputError: there is one already, and it is not to be replaced.
        SourceError: it cannot be written; one that was there is whole.
    """
    if name == STANDARD:
        yield lambda line: _write(sys.stdout, line)
        sys.stdout.flush()
        return
    path = Path(name).resolve()  # what a link leads to is replaced, and not the link
    try:
        descriptor, made = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # readable by its owner alone
    except OSError as error:
        raise SourceError(f"{name} cannot be written: {error.strerror}.") from error
    try:
        with _packed(descriptor, path) as file:
            yield lambda line: _write(file, line)
        refuse_taken(name, force=force)  # it may have come meanwhile
        Path(made).replace(path)
    except OSError as error:
        raise SourceError(f"{name} cannot be written: {error.strerror or error}.") from error
    finally:
        Path(made).unlink(missing_ok=True)


@contextmanager
def reading(name: str) -> Generator[Iterator[tuple[int, str]], None, None]:
    """The lines with their numbers, from 1, without their ends.

    Raises:
        SourceError: there is no such file, or it cannot be read.
        InputError: it is cut off, holds a line that is too long, or is JSON in another encoding than UTF-8. Iterating
            raises it.
    """
    if name == STANDARD:
        yield _lines(cast(io.BufferedReader, sys.stdin.buffer), "The input")
        return
    path = Path(name)
    try:
        raw = path.open("rb")
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}.") from error
    with raw:
        yield _lines(gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw, str(path))


@contextmanager
def _packed(descriptor: int, path: Path) -> Generator[IO[str], None, None]:
    with os.fdopen(descriptor, "wb") as raw:
        if path.suffix == ".gz":
            # Without name and time, so that the same lines give the same bytes.
            with (
                gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as packed,
                io.TextIOWrapper(packed, encoding="utf-8", newline="") as file,
            ):
                yield file
        else:
            file = io.TextIOWrapper(raw, encoding="utf-8", newline="")
            yield file
            file.flush()
        raw.flush()
        os.fsync(raw.fileno())  # a backup is to be on the disk before it takes the place of the last one


def _write(file: IO[str], line: str) -> None:
    file.write(line + "\n")


def _decoded(raw: io.BufferedReader | gzip.GzipFile, name: str) -> io.TextIOWrapper:
    """As text: JSON as UTF-8 while it is read, for an export may be large; a table as every document is decoded, for
    Excel writes Windows-1252, or UTF-16 where it says "Unicode text"."""
    first = raw.peek(4)[:4]
    if first.startswith(b"PK\x03\x04"):
        raise InputError(
            f"{name} is a workbook or another packed file. Save it as CSV UTF-8, and import that. Nothing was imported."
        )
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return io.TextIOWrapper(cast(IO[bytes], raw), encoding="utf-16", newline="")
    if not first or first.startswith((codecs.BOM_UTF8, b"{", b"[")):
        return io.TextIOWrapper(cast(IO[bytes], raw), encoding="utf-8-sig", newline="")
    data = raw.read(_LARGEST_TABLE + 1)
    if len(data) > _LARGEST_TABLE:
        raise InputError(f"{name} is too large for a table. Cut it into smaller ones. Nothing was imported.")
    from harry_mcp.ingest.decoding import decoded

    return io.TextIOWrapper(io.BytesIO(decoded(data, name).encode("utf-8", "replace")), encoding="utf-8", newline="")


def _lines(raw: io.BufferedReader | gzip.GzipFile, name: str) -> Iterator[tuple[int, str]]:
    number = 0
    file: io.TextIOWrapper | None = None
    try:
        while True:
            number += 1
            file, line = _next(file, raw, name, number)
            if not line:
                return
            if len(line) >= _LONGEST_LINE:
                raise InputError(f"Line {number} of {name} is longer than any record. Nothing was imported.")
            yield number, line.rstrip("\r\n")
    finally:
        if file is not None:
            with suppress(ValueError):  # it was closed meanwhile; else that is for whoever opened it
                file.detach()


def _next(
    file: io.TextIOWrapper | None, raw: io.BufferedReader | gzip.GzipFile, name: str, number: int
) -> tuple[io.TextIOWrapper, str]:
    try:
        file = file or _decoded(raw, name)
        return file, file.readline(_LONGEST_LINE)
    except UnicodeError as error:
        raise InputError(
            f"{name} is not UTF-8 (line {number} or later). Save it as UTF-8, in Excel as CSV UTF-8. Nothing was "
            "imported."
        ) from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{name} is cut off or no whole gzip file ({error}). Nothing was imported.") from error
    except OSError as error:
        raise SourceError(f"{name} cannot be read: {error.strerror or error}.") from error
