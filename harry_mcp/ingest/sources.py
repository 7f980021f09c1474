"""What there is to read under a path, a folder, a glob or an address, one item at a time."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit
from urllib.request import url2pathname

from harry_mcp.domain.documents import SourceDocument
from harry_mcp.errors import SourceError
from harry_mcp.ingest.addresses import canonical_address
from harry_mcp.ingest.fetching import LARGEST, FetchPage, fetch_page
from harry_mcp.ingest.readers import READERS, Reader, read_html, read_markdown, read_rst, read_text

_SKIPPED = frozenset({"node_modules", "__pycache__", "bower_components", "site-packages"})
_BY_MEDIA_TYPE: dict[str, Reader] = {
    "text/html": read_html,
    "application/xhtml+xml": read_html,
    "text/markdown": read_markdown,
    "text/x-markdown": read_markdown,
    "text/x-rst": read_rst,
    "text/prs.fallenstein.rst": read_rst,
}


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


def expand(target: str, *, fetch: FetchPage = fetch_page, largest: int = LARGEST) -> Iterator[SourceItem]:
    """The items under ``target``: an http(s) address, a file, a folder (with all below it), or a glob (``**`` too).

    Lazy: nothing is read before an item's ``read``. Raises SourceError at once when there is nothing to read. A file of
    more than ``largest`` bytes is refused by its ``read`` (a page: by ``fetch``).
    Hidden files and folders, installed packages and links out of the folder are passed over.
    """
    if target.strip().lower().startswith(("http://", "https://")):
        address = canonical_address(target)
        return iter([SourceItem(source=address, read=partial(_read_page, address, fetch))])
    path = _path(target)
    try:
        if path.is_dir():
            return _some(_in_folder(path, largest), f"{target} holds no Markdown, reST, HTML or text files.")
        if path.exists():
            return iter([_file(path.resolve(), largest)])
    except (OSError, ValueError) as error:
        raise SourceError(f"{target} cannot be read: {_why(error)}.") from error
    if glob.has_magic(target):
        return _some(_in_glob(str(path), largest), f"No file matches {target}.")
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
    return Path(url2pathname(parts.path))


def _path(target: str) -> Path:
    return file_of(target) or Path(target).expanduser()


def _some(items: Iterator[SourceItem], otherwise: str) -> Iterator[SourceItem]:
    """The items, known to be at least one."""
    first = next(items, None)
    if first is None:
        raise SourceError(otherwise)
    return chain([first], items)


def _in_folder(folder: Path, largest: int) -> Iterator[SourceItem]:
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
                yield _file(path, largest)
            elif (
                path.is_file() and path.resolve().is_relative_to(root) and path.resolve().suffix.lower() not in READERS
            ):
                yield _file(
                    path.resolve(), largest
                )  # what a link inside leads to is an item already when it has a suffix
        while unreadable:
            yield _failing(unreadable.pop())
    while unreadable:
        yield _failing(unreadable.pop())


def _passed_over(folder: Path) -> bool:
    return folder.name.startswith(".") or folder.name in _SKIPPED or (folder / "pyvenv.cfg").exists()


def _in_glob(pattern: str, largest: int) -> Iterator[SourceItem]:
    """A pattern that names a suffix (``*.py``) means it; else only files that are known to be documents."""
    named = glob.has_magic(Path(pattern).suffix) is False and Path(pattern).suffix != ""
    seen: set[Path] = set()
    for name in sorted(glob.iglob(pattern, recursive=True)):  # noqa: PTH207 an absolute pattern is no Path.glob
        path = Path(name)
        wanted = path.is_file() and (named or path.suffix.lower() in READERS)
        skipped = any(part in _SKIPPED for part in path.parts)
        if wanted and not skipped and path.resolve() not in seen:
            seen.add(path.resolve())
            yield _file(path.resolve(), largest)


def _file(path: Path, largest: int) -> SourceItem:
    return SourceItem(source=path.as_uri(), read=partial(_read_file, path, largest))


def _failing(error: OSError) -> SourceItem:
    path = Path(str(error.filename))

    def fail() -> SourceDocument:
        raise SourceError(f"{path} cannot be read: {_why(error)}.") from error

    return SourceItem(source=path.as_uri(), read=fail)


def _read_file(path: Path, largest: int) -> SourceDocument:
    try:
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode):  # a pipe would be waited for without end
            raise SourceError(f"{path} cannot be read: it is no regular file.")
        if facts.st_size > largest:
            raise SourceError(f"{path} cannot be read: it is larger than {largest // 1024} KB.")
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {_why(error)}.") from error
    return READERS.get(path.suffix.lower(), read_text)(data, source=path.as_uri())


def _read_page(address: str, fetch: FetchPage) -> SourceDocument:
    page = fetch(address)
    suffix = PurePosixPath(urlsplit(page.url).path).suffix.lower()
    reader = _BY_MEDIA_TYPE.get(page.media_type)
    if reader is None and page.media_type in ("", "text/plain", "application/octet-stream"):
        reader = READERS.get(suffix, read_text)
    if reader is None:
        raise SourceError(f"{page.url} cannot be read: it is {page.media_type}, and only web pages and text are read.")
    return reader(page.body, source=page.url, charset=page.charset)


def _why(error: OSError | ValueError) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()
