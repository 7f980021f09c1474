"""One reader for each text format: bytes in, a document of normalised Markdown out.

Every reader takes ``source`` (the canonical address: the document's identity) and what the caller knows better than
the file. Every reader raises SourceError, with a sentence
for a person, when the bytes are not text or hold none.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, BinaryIO, Protocol, TypedDict, Unpack
from urllib.parse import unquote, urljoin, urlsplit

from harry_mcp.domain.documents import SourceDocument
from harry_mcp.errors import SourceError
from harry_mcp.ingest.decoding import clean_text, decode
from harry_mcp.ingest.inline import plain_inline
from harry_mcp.ingest.language import detect_language, iso_639_1

if TYPE_CHECKING:
    from harry_mcp.ingest.checkouts import Place

_ATX_H1 = re.compile(r"^ {0,3}#[ \t]+(\S.*?)(?:[ \t]+#+)?[ \t]*$", re.MULTILINE)
_SETEXT_H1 = re.compile(r"^(?! {4})(\S.*)\n {0,3}=+[ \t]*$", re.MULTILINE)
_CODE = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
_LONGEST_TITLE = 300
_HAS_WORDS = re.compile(r"\w")


class Known(TypedDict, total=False):
    """What the caller of a reader knows better than the file."""

    title: str
    url: str
    topic: str
    language: str
    charset: str


Data = bytes | str | BinaryIO
"""What is read. A file that is open for reading is for formats that may be too large for memory."""


class Reader(Protocol):
    """What every reader here is."""

    def __call__(self, data: Data, *, source: str, **known: Unpack[Known]) -> SourceDocument: ...


def read_markdown(data: Data, *, source: str, **known: Unpack[Known]) -> SourceDocument:
    """Markdown or MDX. The title is the front matter's, else the first h1, else the file's name."""
    return read_markdown_of(None, data, source=source, **known)


def read_markdown_of(place: Place | None, data: Data, *, source: str, **known: Unpack[Known]) -> SourceDocument:
    """The same for a file at a place in a checkout, which says what its address is and where its links lead."""
    from harry_mcp.ingest.front_matter import split_front_matter
    from harry_mcp.ingest.tidying import tidy_markdown

    front, body = split_front_matter(_decoded(data, source, known))
    link = place.link if place else partial(urljoin, source) if _is_web(source) else None
    text = tidy_markdown(body, mdx=source.lower().endswith(".mdx"), link=link)
    if not _HAS_WORDS.search(text):
        text = front.description  # the page of a section that lists its pages: it says what they are about
    return finished(
        source,
        text,
        known,
        title=plain_inline(front.title) or first_h1(text),
        url=place.url(front) if place else front.url,
        language=front.language,
    )


def read_html(data: Data, *, source: str, **known: Unpack[Known]) -> SourceDocument:
    """A page: its article. A canonical link on the same host becomes the identity of a page read from the web."""
    from harry_mcp.ingest.html_pages import read_page

    html = _decoded(data, source, known, html=True)
    page = read_page(html, url=known.get("url") or (source if _is_web(source) else ""))
    return finished(
        _identity(source, page.canonical),
        page.text,
        known,
        title=page.title,
        url=page.canonical,
        language=page.language,
    )


def read_text(data: Data, *, source: str, **known: Unpack[Known]) -> SourceDocument:
    """Plain text, its words as they are; a file of code or settings becomes one block of code."""
    from harry_mcp.ingest.plain_text import plain_text_markdown

    text = plain_text_markdown(_decoded(data, source, known), name=_path(source).name)
    return finished(source, text, known, title=first_h1(text))


def read_rst(data: Data, *, source: str, **known: Unpack[Known]) -> SourceDocument:
    """reStructuredText, Sphinx's too. Nothing that it includes is opened. What docutils cannot read stays as it is."""
    from harry_mcp.ingest.html_pages import read_page
    from harry_mcp.ingest.rst import rst_to_html

    rst = _decoded(data, source, known)
    html = rst_to_html(rst)
    page = read_page(html, whole=True) if html else None
    text = page.text if page and page.text else rst
    return finished(source, text, known, title=(page.title if page else "") or first_h1(text))


def finished(
    source: str, text: str, known: Known, *, title: str = "", url: str = "", language: str = ""
) -> SourceDocument:
    """The document of a text, cleaned, with the title and the language that it lacks. Raises when it has no words.

    What is ``known`` wins over the ``title``, ``url`` and ``language`` that the text itself gave.
    """
    text = clean_text(text)
    if not _HAS_WORDS.search(text):
        raise SourceError(f"{source} holds no text.")
    words = " ".join(clean_text(known.get("title") or title).split())[:_LONGEST_TITLE].rstrip()
    return SourceDocument(
        source=source,
        title=words or _name(source),
        text=text,
        url=clean_text(known.get("url") or url) or (source if _is_web(source) else ""),
        topic=known.get("topic", ""),
        language=iso_639_1(known.get("language") or language) or detect_language(text),
    )


def whole(data: Data) -> bytes | str:
    """All of it, in memory."""
    return data if isinstance(data, bytes | str) else data.read()


def _decoded(data: Data, source: str, known: Known, *, html: bool = False) -> str:
    return decode(whole(data), source=source, charset=known.get("charset", ""), html=html)


def first_h1(text: str) -> str:
    """The words of the first heading of the first level outside code, "" when there is none."""
    prose = _CODE.sub("", text)
    found = [match for pattern in (_ATX_H1, _SETEXT_H1) if (match := pattern.search(prose))]
    return plain_inline(min(found, key=lambda match: match.start()).group(1)) if found else ""


def _name(source: str) -> str:
    """The last part of an address in words: ``getting-started.md`` is "getting started"."""
    parts = urlsplit(source) if "://" in source else None
    path = _path(source)
    stem = path.parent.name if path.stem.lower() in ("index", "readme") and path.parent.name else path.stem
    return " ".join(clean_text(re.sub(r"[-_]+", " ", stem)).split()) or (parts.netloc if parts else "") or source


def _path(source: str) -> PurePosixPath:
    parts = urlsplit(source) if "://" in source else None
    return PurePosixPath(unquote(parts.path if parts else source.rpartition(":")[2]).replace("\\", "/"))


def _is_web(source: str) -> bool:
    return source.startswith(("https://", "http://"))


def _identity(source: str, canonical: str) -> str:
    """The canonical address in the place of ``source``, where it can be trusted.

    Another host's address would let a page replace a stranger's document, and a site that names its front page on
    every page would become one document.
    """
    if not (_is_web(source) and canonical):
        return source
    from harry_mcp.ingest.addresses import canonical_address

    here, there = urlsplit(source), urlsplit(canonical)
    same_site = (here.hostname or "").removeprefix("www.") == (there.hostname or "").removeprefix("www.")
    front_page = there.path.strip("/") == "" and here.path.strip("/") != ""
    return canonical_address(canonical) if same_site and not front_page else source
