"""Files that a command reads or writes line by line: gzip by their suffix, ``-`` for the standard streams."""

from __future__ import annotations

import gzip
import io
import os
import sys
import tempfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from harry_mcp.errors import InputError, SourceError

STANDARD = "-"
# Characters. A longer line is no record: no document that was read in comes near it.
_LONGEST_LINE = 400_000_000


@contextmanager
def writing(name: str) -> Generator[Callable[[str], None], None, None]:
    """Takes lines. The file is there once all of it is written, and for nobody else to read.

    Raises:
        SourceError: it cannot be written.
    """
    if name == STANDARD:
        try:
            yield lambda line: _write(sys.stdout, line)
            sys.stdout.flush()
        except BrokenPipeError:  # who read it has enough
            raise
        except OSError as error:
            raise SourceError(f"Standard output cannot be written: {error.strerror or error}.") from error
        return
    path = Path(name)
    try:
        descriptor, made = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # readable by its owner alone
    except OSError as error:
        raise SourceError(f"{path} cannot be written: {error.strerror}.") from error
    try:
        with _packed(descriptor, path) as file:
            yield lambda line: _write(file, line)
        Path(made).replace(path)
    except OSError as error:
        raise SourceError(f"{path} cannot be written: {error.strerror or error}.") from error
    finally:
        Path(made).unlink(missing_ok=True)


@contextmanager
def reading(name: str) -> Generator[Iterator[tuple[int, str]], None, None]:
    """The lines with their numbers, from 1, without their ends.

    Raises:
        SourceError: there is no such file, or it cannot be read.
        InputError: it is not UTF-8, is cut off, or holds a line that is too long. Iterating raises it.
    """
    if name == STANDARD:
        yield _lines(io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", newline=""), "The input")
        return
    path = Path(name)
    try:
        raw = path.open("rb")
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}.") from error
    with raw:
        plain = cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if path.suffix == ".gz" else raw
        file = io.TextIOWrapper(plain, encoding="utf-8-sig", newline="")
        yield _lines(file, str(path))


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


def _lines(file: IO[str], name: str) -> Iterator[tuple[int, str]]:
    number = 0
    while True:
        number += 1
        try:
            line = file.readline(_LONGEST_LINE)
        except UnicodeDecodeError as error:
            raise InputError(f"{name} is not UTF-8 (line {number} or later). Nothing was imported.") from error
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InputError(f"{name} is cut off or no whole gzip file ({error}). Nothing was imported.") from error
        except OSError as error:
            raise SourceError(f"{name} cannot be read: {error.strerror or error}.") from error
        if not line:
            return
        if len(line) >= _LONGEST_LINE:
            raise InputError(f"Line {number} of {name} is longer than any record. Nothing was imported.")
        yield number, line.rstrip("\r\n")
