"""What an answer is worth: a page to store, a way to another one, or one of the many that only look like a page."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from harry_mcp.domain.crawls import Outcome, Reason
from harry_mcp.domain.documents import SourceDocument
from harry_mcp.errors import SourceError
from harry_mcp.ingest.crawl.links import (
    Directives,
    Link,
    canonical_of,
    header_directives,
    links_of,
    markdown_links,
    page_directives,
    refresh_of,
)
from harry_mcp.ingest.crawl.scope import Scope
from harry_mcp.ingest.decoding import decode
from harry_mcp.ingest.fetched import FetchedPage
from harry_mcp.ingest.html_tree import Element, found, found_words, parse_html
from harry_mcp.ingest.readers import read_html, read_markdown
from harry_mcp.ingest.sources import reader_of

_SHORT = 120  # words: an error text or a login page is short; a page *about* error 404 or about logging in is not
_BARE = 40  # words: a page that asks for a password, or for scripts, and says no more than this has nothing else
_LIKE_THE_PROBE = 0.9  # share of common words from which a page is the one that the site shows for what is not there

# What a part of a short page's title or first heading says when there is no page. "Printer not found" is a page.
_NOT_FOUND = re.compile(
    r"(?:oops\W*|sorry\W*)?(?:"
    r"(?:http )?(?:error )?(?:code )?404(?: error)?\W*(?:(?:the )?(?:page )?(?:was )?not found)?"
    r"|(?:error\W*)?not found"
    r"|(?:the |this |that |your |requested )*(?:page|article|document|url|resource|content)\b[\w ,'’]{0,40}?"
    r"(?:not (?:be )?found|n.t (?:exist|be found)|not exist|no longer exists?|no longer available|missing|unavailable)"
    r"|(?:we )?(?:can.?t|cannot|could ?n.t|could not) find (?:that|the|this|your) page.*"
    r"|(?:diese )?seite (?:wurde )?nicht gefunden|(?:cette )?page (?:est )?(?:introuvable|non trouv[ée]e)"
    r"|p[áa]gina no encontrada|p[áa]gina n[ãa]o encontrada|pagina non trovata|pagina niet gevonden"
    r"|страница не найдена|页面不存在|找不到页面|ページが見つかりません"
    r")",
    re.IGNORECASE,
)
# And when the site is in trouble, or takes us for a robot that it does not like.
_TROUBLE = re.compile(
    r"error|oops\b.*|something went wrong.*|access (?:is )?denied.*|403(?: forbidden)?|(?:403 )?forbidden"
    r"|(?:error )?50[0-4]\b.*|internal server error.*|bad gateway.*|service (?:temporarily )?unavailable.*"
    r"|too many requests.*|just a moment.*|attention required.*|are you (?:a )?(?:human|robot).*|under maintenance.*"
    r"|please enable (?:javascript|cookies).*",
    re.IGNORECASE,
)
# What a page says to who runs no scripts, when there is nothing else in it.
_NEEDS_SCRIPTS = re.compile(
    r"\b(?:enable|activate|(?:turn|switch) on|requires?|needs?|without|disabled)\b.{0,40}\bjavascript\b"
    r"|\bjavascript\b.{0,40}\b(?:enabled|disabled|required|not supported)\b",
    re.IGNORECASE | re.DOTALL,
)
_LOGIN = re.compile(
    r"\b(?:log ?in|log ?on|sign ?in|anmelden|anmeldung|connexion|iniciar sesi[óo]n|accedi)\b", re.IGNORECASE
)
_PARTS = re.compile(r"\s+[|·•—–»:-]\s+")
_WORD = re.compile(r"\w+")
_OPENS_LIKE_HTML = re.compile(rb"\s*<(?:!doctype|html|head|title|meta|body)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What became of one visit. ``links`` is None where those of the last time stand."""

    outcome: Outcome
    reason: str = ""
    detail: str = ""
    target: str = ""
    links: tuple[Link, ...] | None = ()
    document: SourceDocument | None = None
    fingerprint: str = ""
    status: int = 0
    size: int = 0
    etag: str = ""
    last_modified: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectations:
    """What is known of the site when a page is looked at.

    ``agent``: our name to robots. ``probe``: the words of the page that the site shows for an address that does not
    exist, if it shows one. ``stands_alone``: the page's canonical address could not be had.
    """

    agent: str
    scope: Scope
    probe: frozenset[str] = field(default_factory=frozenset[str])
    stands_alone: bool = False


def look(page: FetchedPage, headers: Mapping[str, list[str]], expected: Expectations) -> Finding:
    """Judge an answer of status 200: what it links to, and whether and as what it is stored."""
    asked = header_directives(headers.get("x-robots-tag", []), expected.agent)
    reader = reader_of(page)
    if reader is None:
        return _refused(Reason.NOT_TEXT, detail=page.media_type or "an unknown type")
    if reader is read_html:
        return _look_at_html(page, ", ".join(headers.get("link", [])), asked, expected)
    try:
        document = reader(page.content, source=page.url, charset=page.charset)
    except SourceError as error:
        return _unreadable(page, error)
    links = markdown_links(_text(page), page.url) if reader is read_markdown else ()
    return _stored(document, page, tuple(Link(link, asked.nofollow) for link in links), asked)


def _look_at_html(page: FetchedPage, link_header: str, asked: Directives, expected: Expectations) -> Finding:
    try:
        html = _text(page, html=True)
    except SourceError as error:
        return _unreadable(page, error)
    root = parse_html(html) if html.strip() else None
    if root is None:
        return _refused(Reason.EMPTY)
    asked |= page_directives(root, expected.agent)
    links = tuple(Link(link.url, link.nofollow or asked.nofollow) for link in links_of(root, page.url))
    moved = refresh_of(root, page.url)
    if moved and moved != page.url:
        return Finding(outcome=Outcome.REDIRECTED, target=moved)
    canonical = _believed(canonical_of(root, page.url, link_header), page.url, expected)
    try:
        document = read_html(html, source=page.url)
    except SourceError:
        return _refused(Reason.LOGIN if _asks_for_password(root) else Reason.EMPTY, links)
    sham = _sham(root, document, expected.probe)
    if sham is not None:
        return _refused(sham, links)
    return _stored(document, page, links, asked, canonical)


def _believed(canonical: str, url: str, expected: Expectations) -> str:
    """The canonical address where it can be true: not one that this crawl cannot reach, and not the front page, which
    some sites name on every page."""
    if expected.stands_alone or not canonical or expected.scope.refusal(canonical, 0) is not None:
        return ""
    return "" if urlsplit(canonical).path == "/" != urlsplit(url).path else canonical


def _stored(
    document: SourceDocument, page: FetchedPage, links: tuple[Link, ...], asked: Directives, canonical: str = ""
) -> Finding:
    if asked.noindex:
        return _refused(Reason.NOINDEX, links)
    if canonical and canonical != page.url:
        return Finding(outcome=Outcome.DUPLICATE, reason=Reason.CANONICAL, target=canonical, links=links)
    # The crawl decides what a page's identity is; a reader's own view of it would bypass the frontier.
    document = replace(document, source=page.url, url=page.url)
    return Finding(outcome=Outcome.STORED, document=document, links=links, fingerprint=fingerprint(document))


def fingerprint(document: SourceDocument) -> str:
    """The same for pages that say the same."""
    return hashlib.sha256(f"{document.title}\x00{document.text}".encode()).hexdigest()[:32]


def words_of(page: FetchedPage) -> frozenset[str]:
    """The words of a page's text, empty when it has none."""
    reader = reader_of(page)
    try:
        document = reader(page.content, source=page.url, charset=page.charset) if reader else None
    except SourceError:
        document = None
    return _words(document.text) if document else frozenset()


def _sham(root: Element, document: SourceDocument, probe: frozenset[str]) -> Reason | None:
    """What a page that answers 200 really is: no page, an error or a login; None for a real one."""
    words = _words(document.text)
    if probe and len(words & probe) >= _LIKE_THE_PROBE * len(words | probe):
        return Reason.SOFT_404
    length = len(document.text.split())
    if length > _SHORT:
        return None
    heads = [document.title, *found_words(root, "//head/title/text()")]
    heads += [" ".join(element.text_content().split()) for element in found(root, "//h1")[:1]]
    if _asks_for_password(root) and (length <= _BARE or any(_LOGIN.search(head) for head in heads)):
        return Reason.LOGIN
    parts = [part.strip(" .!…") for head in heads for part in _PARTS.split(head)]
    if any(_NOT_FOUND.fullmatch(part) for part in parts):
        return Reason.SOFT_404
    shell = length <= _BARE and _NEEDS_SCRIPTS.search(document.text)
    return Reason.ERROR_PAGE if shell or any(_TROUBLE.fullmatch(part) for part in parts) else None


def _asks_for_password(root: Element) -> bool:
    return bool(found(root, "//input[translate(@type, 'PASWORD', 'pasword') = 'password']"))


def _unreadable(page: FetchedPage, error: SourceError) -> Finding:
    if page.blank or "holds no text" in str(error):
        return _refused(Reason.EMPTY)
    return Finding(outcome=Outcome.FAILED, reason=Reason.UNREADABLE, detail=str(error))


def _refused(reason: Reason, links: tuple[Link, ...] = (), detail: str = "") -> Finding:
    return Finding(outcome=Outcome.REFUSED, reason=reason, detail=detail, links=links)


def _text(page: FetchedPage, *, html: bool = False) -> str:
    # Browsers pass over stray zeros in a page, which are the mark of a binary file elsewhere.
    body = page.body.replace(b"\x00", b"") if html and _OPENS_LIKE_HTML.match(page.body) else page.body
    return decode(body, source=page.url, charset=page.charset, html=html)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))
