"""Books in EPUB as Markdown: its pages in the order of its spine, by the reader of web pages."""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from harry_mcp.errors import SourceError
from harry_mcp.ingest.decoding import decode
from harry_mcp.ingest.formats.archives import opened
from harry_mcp.ingest.formats.converted import LARGEST_TEXT, Converted, damaged, declared_title
from harry_mcp.ingest.html_pages import read_page

_KIND = "an EPUB book"
_PAGES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml"})
_LARGEST_PAGE = 30_000_000
_OPF = "{http://www.idpf.org/2007/opf}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_ENCRYPTION = "{http://www.w3.org/2001/04/xmlenc#}"
# XML may close any element so; HTML knows it of few, and would take all that follows for the title.
_SELF_CLOSED = re.compile(
    r"<(title|script|style|iframe|textarea|a|b|i|em|strong|span|div|p|td|th|li|h[1-6])(\s[^<>]*)?/>"
)


def convert_epub(data: bytes, source: str) -> Converted:
    """An .epub without DRM. Names are looked up in the archive only: no path leads out of it."""
    with opened(data, source=source, kind=_KIND) as archive:
        folder, package = _package(archive, source)
        pages = list(_spine(package, folder))
        locked = _encrypted(archive, source)
        if any(page in locked for page in pages):
            raise SourceError(f"{source} cannot be read: its publisher locked it (DRM); bring in an open copy.")
        text = "\n\n".join(_texts(archive, pages, source))
    title = package.findtext(f".//{_DC}title")
    return Converted(text=text, title=declared_title(title), language=(package.findtext(f".//{_DC}language") or ""))


def _package(archive: zipfile.ZipFile, source: str) -> tuple[str, Any]:
    """The folder of the package document, and its root."""
    container = _xml(archive, "META-INF/container.xml", source)
    rootfile = next(container.iter("{urn:oasis:names:tc:opendocument:xmlns:container}rootfile"), None)
    path = "" if rootfile is None else rootfile.get("full-path", "")
    return posixpath.dirname(path), _xml(archive, path, source)


def _spine(package: Any, folder: str) -> Iterator[str]:
    """The names in the archive of the pages, in reading order, without the table of contents."""
    items = {item.get("id", ""): item for item in package.iter(f"{_OPF}item")}
    seen: set[str] = set()
    for reference in package.iter(f"{_OPF}itemref"):
        item = items.get(reference.get("idref", ""))
        if item is None or item.get("media-type", "") not in _PAGES or "nav" in item.get("properties", "").split():
            continue
        name = posixpath.normpath(posixpath.join(folder, unquote(item.get("href", "").partition("#")[0])))
        if name not in seen:
            seen.add(name)
            yield name


def _texts(archive: zipfile.ZipFile, names: list[str], source: str) -> Iterator[str]:
    characters = 0
    for name in names:
        try:
            part = archive.getinfo(name)
        except KeyError:
            continue  # a page that the book lists and lacks; the others are worth having
        if part.file_size > _LARGEST_PAGE:
            raise SourceError(
                f"{source} cannot be read: one of its pages is larger than {_LARGEST_PAGE // 1_000_000} MB."
            )
        html = decode(archive.read(part), source=source, html=True)
        text = read_page(_SELF_CLOSED.sub(r"<\1\2></\1>", html), whole=True).text
        characters += len(text)
        if characters > LARGEST_TEXT:
            raise SourceError(f"{source} cannot be read: it holds too much text for one document; split it.")
        if text:
            yield text


def _encrypted(archive: zipfile.ZipFile, source: str) -> set[str]:
    """The names of the parts that are encrypted; fonts often are, and do not matter."""
    if "META-INF/encryption.xml" not in archive.namelist():
        return set()
    root = _xml(archive, "META-INF/encryption.xml", source)
    return {unquote(each.get("URI", "")) for each in root.iter(f"{_ENCRYPTION}CipherReference")}


def _xml(archive: zipfile.ZipFile, name: str, source: str) -> Any:
    from defusedxml import ElementTree
    from defusedxml.common import DefusedXmlException

    try:
        part = archive.getinfo(name)
        if part.file_size > _LARGEST_PAGE:
            raise damaged(source, _KIND)
        return ElementTree.fromstring(archive.read(part))
    except (KeyError, ElementTree.ParseError, DefusedXmlException) as error:
        raise damaged(source, _KIND) from error
