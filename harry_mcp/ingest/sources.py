"""What there is to read under a path, a folder, a glob or an address, one item at a time."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit
from urllib.request import url2pathname

from harry_mcp.domain.documents import SourceDocument
from harry_mcp.errors import SourceError
from harry_mcp.ingest.addresses import canonical_address
from harry_mcp.ingest.by_format import FORMATS, READERS, is_pdf, reader_for
from harry_mcp.ingest.checkouts import Checkouts
from harry_mcp.ingest.fetched import LARGEST, FetchedPage, Largest, suffix_of
from harry_mcp.ingest.fetching import FetchPage, fetch_page
from harry_mcp.ingest.front_matter import FrontMatter
from harry_mcp.ingest.readers import Reader, read_markdown, read_markdown_of, read_text

_SKIPPED = frozenset({"node_modules", "__pycache__", "bower_components", "site-packages"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceItem:
    """Something to read. ``source`` is its canonical address; ``read`` raises SourceError when it cannot be read."""

    source: str
    read: Callable[[], SourceDocument]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """An item that was skipped, and why, as a sentence for a person."""

    source: str
    reason: str


def expand(target: str, *, fetch: FetchPage = fetch_page, largest: Largest = LARGEST) -> Iterator[SourceItem]:
    """The items under ``target``: an http(s) address, a file, a folder (with all below it), or a glob (``**`` too).

    A file of a git checkout from a known public host gets the address of its page there.
    Lazy: nothing is read before an item's ``read``. Raises SourceError at once when there is nothing to read. A file
    over ``largest`` is refused by its ``read`` (a page: by ``fetch``).
    Hidden files and folders, installed packages and links out of the folder are passed over.
    """
    if target.strip().lower().startswith(("http://", "https://")):
        address = canonical_address(target)
        return iter([SourceItem(source=address, read=partial(_read_page, address, fetch))])
    path, checkouts = _path(target), Checkouts()
    try:
        if path.is_dir():
            return _some(
                _in_folder(path, largest, checkouts), f"{target} holds no documents; what is read is {FORMATS}."
            )
        if path.exists():
            return iter([_file(path.resolve(), largest, checkouts)])
    except (OSError, ValueError) as error:
        raise SourceError(f"{target} cannot be read: {_why(error)}.") from error
    if glob.has_magic(target):
        return _some(_in_glob(str(path), largest, checkouts), f"No file matches {target}.")
    raise SourceError(f"There is no file or folder {target}.")


def read_each(items: Iterable[SourceItem]) -> Iterator[SourceDocument | Unreadable]:
    """Each item read; one that cannot be read is reported in its place, and the next is read."""
    for item in items:
        try:
            yield item.read()
        except SourceError as error:
            yield Unreadable(source=item.source, reason=str(error))


def missing_sources(folder: str, known: Iterable[str]) -> list[str]:
    """Which of the ``known`` sources were files under ``folder`` and are gone now. A report: nothing is removed."""
    root = _path(folder).resolve()
    gone: list[str] = []
    for source in known:
        path = file_of(source)
        if path is not None and path.is_relative_to(root) and not path.is_file():
            gone.append(source)
    return gone


def file_of(source: str) -> Path | None:
    """The path of a file URI, None for any other source."""
    parts = urlsplit(source)
    if parts.scheme != "file":
        return None
    if os.name == "nt":
        return Path(url2pathname(parts.path))
    return Path(os.fsdecode(unquote_to_bytes(parts.path)))  # a name may be any bytes


def _path(target: str) -> Path:
    return file_of(target) or Path(target).expanduser()


def _some(items: Iterator[SourceItem], otherwise: str) -> Iterator[SourceItem]:
    """The items, known to be at least one."""
    first = next(items, None)
    if first is None:
        raise SourceError(otherwise)
    return chain([first], items)


def _in_folder(folder: Path, largest: Largest, checkouts: Checkouts) -> Iterator[SourceItem]:
    root = folder.resolve()
    unreadable: list[OSError] = []
    # Links to folders are not followed, so there are no loops; links to files may not lead out, so that a checkout of
    # strangers' documents cannot make this read /etc.
    for place, folders, names in os.walk(root, onerror=unreadable.append):
        folders[:] = sorted(name for name in folders if not _passed_over(Path(place) / name))
        for name in sorted(names):
            path = Path(place) / name
            if name.startswith(".") or path.suffix.lower() not in READERS:
                continue
            if not path.is_symlink():
                yield _file(path, largest, checkouts)
            elif (
                path.is_file() and path.resolve().is_relative_to(root) and path.resolve().suffix.lower() not in READERS
            ):
                # What a link inside leads to is an item already when it has a suffix.
                yield _file(path.resolve(), largest, checkouts)
        while unreadable:
            yield _failing(unreadable.pop())
    while unreadable:
        yield _failing(unreadable.pop())


def _passed_over(folder: Path) -> bool:
    return folder.name.startswith(".") or folder.name in _SKIPPED or (folder / "pyvenv.cfg").exists()


def _in_glob(pattern: str, largest: Largest, checkouts: Checkouts) -> Iterator[SourceItem]:
    """A pattern that names a suffix (``*.py``) means it; else only files that are known to be documents."""
    named = glob.has_magic(Path(pattern).suffix) is False and Path(pattern).suffix != ""
    seen: set[Path] = set()
    for name in sorted(glob.iglob(pattern, recursive=True)):  # noqa: PTH207 an absolute pattern is no Path.glob
        path = Path(name)
        wanted = path.is_file() and (named or path.suffix.lower() in READERS)
        skipped = any(part in _SKIPPED for part in path.parts)
        if wanted and not skipped and path.resolve() not in seen:
            seen.add(path.resolve())
            yield _file(path.resolve(), largest, checkouts)


def _file(path: Path, largest: Largest, checkouts: Checkouts) -> SourceItem:
    return SourceItem(source=path.as_uri(), read=partial(_read_file, path, largest, checkouts))


def _failing(error: OSError) -> SourceItem:
    path = Path(str(error.filename))

    def fail() -> SourceDocument:
        raise SourceError(f"{shown_path(path)} cannot be read: {_why(error)}.") from error

    return SourceItem(source=path.as_uri(), read=fail)


def _read_file(path: Path, largest: Largest, checkouts: Checkouts) -> SourceDocument:
    reader = READERS.get(path.suffix.lower(), read_text)
    most = largest.pdf if is_pdf(path.suffix.lower()) else largest.other
    try:
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode):  # a pipe would be waited for without end
            raise SourceError(f"{shown_path(path)} cannot be read: it is no regular file.")
        if facts.st_size > most:
            raise SourceError(f"{shown_path(path)} cannot be read: it is larger than {most // 1024} KB.")
        with path.open("rb") as file:
            place = checkouts.place_of(path)
            if reader is read_markdown:
                return read_markdown_of(place, file, source=path.as_uri())
            document = reader(file, source=path.as_uri())
    except OSError as error:
        raise SourceError(f"{shown_path(path)} cannot be read: {_why(error)}.") from error
    return replace(document, url=place.url(FrontMatter())) if place and not document.url else document


def reader_of(page: FetchedPage) -> Reader | None:
    """What reads a page of that kind; None when nothing here does."""
    return reader_for(suffix_of(page.url), page.media_type)


def _read_page(address: str, fetch: FetchPage) -> SourceDocument:
    with closing(fetch(address)) as page:
        reader = reader_of(page)
        if reader is None:
            raise SourceError(f"{page.url} cannot be read: it is {page.media_type}; what is read is {FORMATS}.")
        return reader(page.content, source=page.url, charset=page.charset)


def shown_path(path: Path) -> str:
    """A path that can be printed and stored, whatever bytes its name is made of."""
    return os.fsencode(path).decode("utf-8", errors="backslashreplace")


def _why(error: OSError | ValueError) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()
