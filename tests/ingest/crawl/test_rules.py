"""ING-2: the rules of a crawl, one table each, and what holds whatever a site writes."""

from __future__ import annotations

import gzip
import time
from contextlib import suppress
from datetime import UTC, datetime
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harry_mcp.domain.crawls import Entry, Outcome, Reason, Visit
from harry_mcp.errors import SourceError
from harry_mcp.ingest.addresses import canonical_address
from harry_mcp.ingest.crawl.answers import condition, decide, not_modified
from harry_mcp.ingest.crawl.chains import circles, homeless
from harry_mcp.ingest.crawl.links import (
    Directives,
    Link,
    absolute,
    canonical_of,
    header_directives,
    links_of,
    markdown_links,
    page_directives,
    refresh_of,
)
from harry_mcp.ingest.crawl.pacing import retry_after
from harry_mcp.ingest.crawl.pages import Expectations, Finding, look
from harry_mcp.ingest.crawl.refusals import Refusals
from harry_mcp.ingest.crawl.scope import Scope
from harry_mcp.ingest.crawl.sitemap import parse_lastmod, parse_sitemap
from harry_mcp.ingest.fetching import FetchedPage
from harry_mcp.ingest.html_tree import Element, parse_html
from tests.ingest.crawl.site import prose, sitemap

pytestmark = pytest.mark.promise("ING-2")

HERE = "https://x.org/docs/page"
SCOPE = Scope(start="https://www.x.org/docs/", prefix="/docs", depth=3)


# Addresses


@pytest.mark.parametrize(
    ("href", "address"),
    [
        ("other", "https://x.org/docs/other"),
        ("../a/./b/../c#part", "https://x.org/a/c"),
        ("?q=1&utm_source=x&fbclid=y", "https://x.org/docs/page?q=1"),
        ("//Y.org:443/a", "https://y.org/a"),
        ("HTTP://X.ORG:80/%7euser/%2E%2E/%c3%bc", "http://x.org/%C3%BC"),
        ("/a;jsessionid=F00?b", "https://x.org/a?b"),
        ("https://x.org", "https://x.org/"),
        ("?PHPSESSID=abc&a=1&sid=0123456789abcdef01", "https://x.org/docs/page?a=1"),
        ("?sid=12&session=internationalization", "https://x.org/docs/page?sid=12&session=internationalization"),
        ("\\a\\b?c=\\d", "https://x.org/a/b?c=%5Cd"),
        (" /spaces in it ", "https://x.org/spaces%20in%20it"),
        ("#top", ""),
        ("", ""),
        ("mailto:a@x.org", ""),
        ("javascript:void(0)", ""),
        ("http://[broken", ""),
        ("https://u:p@x.org/", ""),
        ("http://x.org:99999/", ""),
    ],
)
def test_what_a_reference_leads_to(href: str, address: str) -> None:
    assert absolute(href, HERE) == address


_PATHS = st.text("abcAB/.%2fé ?&=;#~-_", max_size=30)


@given(_PATHS)
def test_a_canonical_address_is_its_own(path: str) -> None:
    once = canonical_address("https://X.org/" + path)
    assert canonical_address(once) == once
    segments = urlsplit(once).path.split("/")
    assert not {".", ".."} & set(segments)
    assert "#" not in once


@given(st.lists(st.sampled_from(["a", "b", "..", ".", "c d"]), max_size=6), _PATHS)
def test_a_reference_and_its_absolute_form_lead_to_one_place(segments: list[str], more: str) -> None:
    href = "/".join(segments)
    assert absolute(href + "#" + more.replace("#", ""), HERE) in ("", absolute(href, HERE))


# Scope


@pytest.mark.parametrize(
    ("url", "depth", "reason"),
    [
        ("https://x.org/docs/a", 1, None),
        ("http://www.x.org/docs", 3, None),
        ("https://x.org/docs/a", 4, Reason.DEPTH),
        ("https://x.org/docs-old", 1, Reason.PREFIX),
        ("https://x.org/", 1, Reason.PREFIX),
        ("https://x.org:8443/docs/a", 1, Reason.OFF_SITE),
        ("https://docs.x.org/docs/a", 1, Reason.OFF_SITE),
        ("https://x.org.evil.example/docs/a", 1, Reason.OFF_SITE),
        ("http://127.0.0.1/docs", 1, Reason.PRIVATE),
        ("http://[::1]/docs", 1, Reason.PRIVATE),
        ("http://localhost:3000/docs", 1, Reason.PRIVATE),
        ("http://169.254.169.254/docs", 1, Reason.PRIVATE),
        ("https://x.org/docs/a.PNG", 1, Reason.NOT_TEXT),
        ("https://x.org/docs/a.tar.gz", 1, Reason.NOT_TEXT),
        ("https://x.org/docs/v1.2", 1, None),
        ("https://x.org/docs/b/b/b/b", 1, Reason.TRAP),
        ("https://x.org/docs/" + "x" * 2000, 1, Reason.TRAP),
    ],
)
def test_scope(url: str, depth: int, reason: Reason | None) -> None:
    assert SCOPE.refusal(url, depth) == reason


def test_a_closed_way_is_refused_unless_there_is_more_against_it() -> None:
    assert SCOPE.refusal("https://x.org/docs/a", 1, nofollow=True) is Reason.NOFOLLOW
    assert SCOPE.refusal("https://y.org/", 1, nofollow=True) is Reason.OFF_SITE


# Links


def tree(html: str) -> Element:
    root = parse_html(html)
    assert root is not None
    return root


def test_links_of_a_page() -> None:
    html = (
        "<head><link rel=next href=/2><link rel=stylesheet href=/s.css></head><a href=a>1</a><a href='a#x'>2</a>"
        "<a href=/b rel='noopener nofollow'>3</a><area href=c><a rel=nofollow href=d>4</a><a href=d>5</a><a>6</a>"
        "<frameset><frame src=/f></frameset><img src=/i.png>"
    )
    assert set(links_of(tree(html), HERE)) >= {
        Link("https://x.org/2"),
        Link("https://x.org/docs/a"),
        Link("https://x.org/b", nofollow=True),
        Link("https://x.org/docs/c"),
        Link("https://x.org/docs/d"),
    }
    assert len(links_of(tree(html), HERE)) <= 6
    based = "<head><base href='/base/'></head><a href=a>x</a>"
    assert links_of(tree(based), HERE) == (Link("https://x.org/base/a"),)


def test_links_of_markdown() -> None:
    text = "[a](/a) ![no](/i.png) [b [c]](<https://y.org/b> 'title') <https://z.org/> [d](e_(f)) [g]: /h [a](/a#x)"
    assert markdown_links(text, HERE) == (
        "https://x.org/a", "https://y.org/b", "https://z.org/", "https://x.org/docs/e_(f)"
    )  # fmt: skip


@pytest.mark.parametrize("text", ["[" * 20_000, "[a](" * 5_000, "[" + "a]" * 10_000, "[a](b" + "(" * 10_000])
def test_markdown_links_take_no_time(text: str) -> None:
    began = time.perf_counter()
    markdown_links(text, HERE)
    assert time.perf_counter() - began < 2


@pytest.mark.parametrize(
    ("head", "header", "canonical"),
    [
        ("<link rel=canonical href=/c>", "", "https://x.org/c"),
        ("<link rel='alternate canonical' href='c?utm_source=a'>", "", "https://x.org/docs/c"),
        ("", '</style.css>; rel=preload, <https://x.org/h>; rel="canonical"', "https://x.org/h"),
        ("<link rel=canonical href='mailto:x'>", "", ""),
        ("<link rel=canonical-not href=/c>", "<x>; rel=next", ""),
    ],
)
def test_canonical_links(head: str, header: str, canonical: str) -> None:
    assert canonical_of(tree(f"<head>{head}</head><p>x"), HERE, header) == canonical


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0; url=/a", "https://x.org/a"),
        ("0;URL='b'", "https://x.org/docs/b"),
        ("3.5; url=/c", "https://x.org/c"),
        ("60; url=/a", ""),
        ("5", ""),
        ("nonsense", ""),
    ],
)
def test_refresh(content: str, target: str) -> None:
    assert refresh_of(tree(f'<meta http-equiv="REFRESH" content="{content}"><p>x'), HERE) == target


@pytest.mark.parametrize(
    ("metas", "headers", "asked"),
    [
        ("<meta name=robots content=NOINDEX>", [], (True, False)),
        ("<meta name=ROBOTS content='index, nofollow'>", [], (False, True)),
        ("<meta name=robots content=none>", [], (True, True)),
        ("<meta name=googlebot content=noindex>", [], (False, False)),
        ("<meta name=Harry-MCP content=noindex>", [], (True, False)),
        ("", ["noindex"], (True, False)),
        ("", ["googlebot: noindex, nofollow"], (False, False)),
        ("", ["googlebot: nofollow", "harry-mcp: none"], (True, True)),
        ("", ["unavailable_after: 25 Jun 2010 15:00:00 PST, nofollow"], (False, True)),
        ("<meta name=robots content='all'>", ["max-snippet: 5"], (False, False)),
    ],
)
def test_what_a_page_asks_of_robots(metas: str, headers: list[str], asked: tuple[bool, bool]) -> None:
    found = page_directives(tree(f"<head>{metas}</head><p>x"), "harry-mcp") | header_directives(headers, "harry-mcp")
    assert found == Directives(*asked)


# Pages


def judged(html: str, **headers: list[str]) -> Finding:
    page = FetchedPage(url=HERE, body=html.encode(), media_type="text/html", charset="utf-8")
    return look(page, headers, Expectations(agent="harry-mcp", scope=SCOPE))


@pytest.mark.parametrize(
    ("title", "body", "reason"),
    [
        ("Page not found", "<p>Sorry.", Reason.SOFT_404),
        ("404", "<p>Back to the front page.", Reason.SOFT_404),
        ("Error 404 | Example", "<p>Sorry.", Reason.SOFT_404),
        ("The page you requested could not be found", "<p>Sorry.", Reason.SOFT_404),
        ("Seite nicht gefunden – Hilfe", "<p>Leider.", Reason.SOFT_404),
        ("Page introuvable", "<p>Pardon.", Reason.SOFT_404),
        ("This page doesn't exist", "<p>Sorry.", Reason.SOFT_404),
        ("Printer not found", "<p>Check the cable and switch the printer on.", None),
        ("Fix error 404 in webhooks", "<p>Check the address of the webhook.", None),
        ("Page not found", prose("what to do about it", 150), None),
        ("Access denied", "<p>You may not see this.", Reason.ERROR_PAGE),
        ("503 Service Unavailable", "<p>Please come back.", Reason.ERROR_PAGE),
        ("Error handling", "<p>Every call returns a code.", None),
        ("Welcome", "<form><input type=password></form><p>Please enter your name and password.", Reason.LOGIN),
        ("Sign in", "<input type=password>" + prose("many words about us", 80), Reason.LOGIN),
        ("How to sign up", "<input type=password>" + prose("an article", 150), None),
        ("Nothing", "", None),
    ],
)
def test_what_only_looks_like_a_page_is_not_stored(title: str, body: str, reason: Reason | None) -> None:
    found = judged(f"<html><head><title>{title}</title></head><body><main><h1>{title}</h1>{body}</main></body></html>")
    assert (found.reason or None) == reason
    assert (found.outcome is Outcome.STORED) == (reason is None)


def test_the_page_that_a_site_shows_for_what_is_missing_is_known_again() -> None:
    html = "<h1>Acme</h1><p>" + "We moved some things around lately. Try the search or the front page please. " * 3
    page = FetchedPage(url=HERE, body=html.encode(), media_type="text/html")
    words = "acme we moved some things around lately try the search or front page please"
    probe = frozenset(words.split())
    assert look(page, {}, Expectations(agent="x", scope=SCOPE, probe=probe)).reason == Reason.SOFT_404
    assert look(page, {}, Expectations(agent="x", scope=SCOPE)).outcome is Outcome.STORED


@given(st.binary(max_size=300), st.sampled_from(["text/html", "text/plain", "text/markdown", "application/pdf", ""]))
@settings(deadline=None, max_examples=60)
def test_any_bytes_are_judged(body: bytes, media_type: str) -> None:
    page = FetchedPage(url=HERE, body=body, media_type=media_type)
    found = look(page, {}, Expectations(agent="harry-mcp", scope=SCOPE))
    assert (found.document is not None) == (found.outcome is Outcome.STORED)


# Sitemaps


def test_sitemaps_of_every_kind() -> None:
    plain = parse_sitemap(sitemap("https://x.org/a", "https://x.org/b", lastmod="2024-05"), most=10)
    assert [page.url for page in plain.pages] == ["https://x.org/a", "https://x.org/b"]
    assert plain.pages[0].lastmod == datetime(2024, 5, 1, tzinfo=UTC)
    index = parse_sitemap(gzip.compress(sitemap("https://x.org/1.xml", index=True)), most=10)
    assert ([each.url for each in index.sitemaps], index.pages) == (["https://x.org/1.xml"], ())
    assert len(parse_sitemap(b"\xef\xbb\xbfhttps://x.org/a\r\n\r\nhttps://x.org/b\n", most=10).pages) == 2
    wide = '<?xml version="1.0" encoding="utf-16"?><urlset><url><loc> https://x.org/ü </loc></url></urlset>'
    assert parse_sitemap(wide.encode("utf-16"), most=10).pages[0].url == "https://x.org/ü"
    images = b'<urlset xmlns:i="i"><url><loc>https://x.org/a</loc><i:image><i:loc>https://x.org/i</i:loc></i:image></url></urlset>'
    assert [page.url for page in parse_sitemap(images, most=10).pages] == ["https://x.org/a"]


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (
            b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "b"><!ENTITY c "&b;&b;">]><urlset>&c;</urlset>',
            "document type",
        ),
        (b'<urlset><!-- --><!ENTITY x SYSTEM "file:///etc/passwd"></urlset>', "document type"),
        (b"<!DOCTYPE html><html><body>Not found</body></html>", "web page"),
        (gzip.compress(b"x" * 2_000_000), "larger than 976 KB"),
        (b"\x1f\x8b broken", "gzip data is broken"),
        (b"just words", "no sitemap"),
        (b"<rss></rss>", "no sitemap"),
        (b"<urlset><url></urlset>", "XML is broken"),
        (b"", "no sitemap"),
    ],
)
def test_what_is_no_sitemap_is_refused(body: bytes, sentence: str) -> None:
    with pytest.raises(SourceError, match=sentence):
        parse_sitemap(body, most=10, largest=1_000_000)


def test_a_sitemap_gives_what_it_has() -> None:
    many = parse_sitemap(sitemap(*(f"https://x.org/{number}" for number in range(20))), most=5)
    assert (len(many.pages), many.problem) == (5, "more than 5 addresses were wanted of it")
    broken = parse_sitemap(sitemap("https://x.org/a")[:-5], most=5)
    assert (len(broken.pages), broken.problem.startswith("its XML is broken")) == (1, True)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2024", datetime(2024, 1, 1, tzinfo=UTC)),
        ("2024-05-06", datetime(2024, 5, 6, tzinfo=UTC)),
        ("2024-05-06T07:08:09+02:00", datetime(2024, 5, 6, 5, 8, 9, tzinfo=UTC)),
        ("2024-05-06T07:08:09Z", datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)),
        ("yesterday", None),
        ("", None),
    ],
)
def test_lastmod(text: str, found: datetime | None) -> None:
    assert parse_lastmod(text) == found


@given(st.binary(max_size=400))
def test_no_bytes_break_the_sitemap_reader(body: bytes) -> None:
    for data in (body, b"<urlset>" + body, gzip.compress(body)):
        with suppress(SourceError):
            assert len(parse_sitemap(data, most=5, largest=10_000).pages) <= 5


# Answers


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("Wed, 01 May 2024 00:01:00 GMT", 60.0),
        ("Tue, 30 Apr 2024 00:00:00 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("", None),
        ("9" * 400, 1e9),
    ],
)
def test_retry_after(value: str, seconds: float | None) -> None:
    assert retry_after(value, datetime(2024, 5, 1, tzinfo=UTC)) == seconds


def visit(outcome: str = "", reason: str = "", *, stored: bool = False, etag: str = "e", target: str = "") -> Visit:
    return Visit(1, HERE, 1, 0, outcome, reason, target, "f", etag, "", False, stored, stored)


@pytest.mark.parametrize(
    ("before", "asked", "outcome"),
    [
        (visit(), False, None),
        (visit("new", stored=True), True, Outcome.UNCHANGED),
        (visit("new", stored=False), False, None),
        (visit("failed", "timeout", stored=True), True, Outcome.UNCHANGED),
        (visit("duplicate", "same_content", target="t"), True, Outcome.DUPLICATE),
        (visit("refused", "noindex"), True, Outcome.REFUSED),
        (visit("refused", "depth"), False, None),
        (visit("refused", "nofollow", stored=True), True, Outcome.UNCHANGED),
        (visit("gone", "noindex", stored=True), True, Outcome.GONE),
        (visit("gone", "unlinked", stored=True), True, Outcome.UNCHANGED),
        (visit("new", stored=True, etag=""), False, None),
    ],
)
def test_a_page_is_asked_for_with_a_condition_when_a_304_would_tell_all(
    before: Visit, asked: bool, outcome: Outcome | None
) -> None:
    assert bool(condition(before)) == asked
    if outcome is not None:
        decision = decide(before, not_modified(before))
        assert (decision.outcome, decision.target, decision.etag) == (outcome, before.target, "e")


@pytest.mark.parametrize(
    ("finding", "stored", "outcome", "reason"),
    [
        (Finding(outcome=Outcome.FAILED, reason=Reason.NOT_FOUND), False, Outcome.FAILED, "not_found"),
        (Finding(outcome=Outcome.FAILED, reason=Reason.NOT_FOUND), True, Outcome.GONE, "not_found"),
        (Finding(outcome=Outcome.FAILED, reason=Reason.TIMEOUT), True, Outcome.FAILED, "timeout"),
        (Finding(outcome=Outcome.REFUSED, reason=Reason.SOFT_404), True, Outcome.GONE, "soft_404"),
        (Finding(outcome=Outcome.REFUSED, reason=Reason.LOGIN), True, Outcome.REFUSED, "login"),
        (Finding(outcome=Outcome.REDIRECTED, target="t"), True, Outcome.GONE, "moved"),
        (Finding(outcome=Outcome.REDIRECTED, target="t"), False, Outcome.REDIRECTED, ""),
        (Finding(outcome=Outcome.DUPLICATE, reason=Reason.SAME_CONTENT), True, Outcome.GONE, "same_content"),
    ],
)
def test_what_was_stored_and_is_no_page_any_more_is_gone(
    finding: Finding, stored: bool, outcome: Outcome, reason: str
) -> None:
    decision = decide(visit("new", stored=stored), finding)
    assert (decision.outcome, decision.reason) == (outcome, reason)
    assert bool(decision.etag) == (outcome is Outcome.FAILED)


def test_refusals_in_a_row_are_told_from_single_ones() -> None:
    page = Finding(outcome=Outcome.STORED, status=200)
    no = Finding(outcome=Outcome.FAILED, reason=Reason.FORBIDDEN, status=403)
    by_robots = Finding(outcome=Outcome.REFUSED, reason=Reason.ROBOTS)
    refusals = Refusals(enough=3, window=2)
    told = [
        refusals.note(number, item) for number, item in enumerate([no, page, page, page, no, page, no, by_robots, no])
    ]
    assert not any(told)
    assert refusals.note(9, no)
    assert refusals.ids() == [4, 6, 8, 9], "also the one that overtook the last answer"
    refusals.forgive()
    assert not refusals.note(10, no)


# Chains


def entry(
    number: int, outcome: str, target: str = "", *, reason: str = "", stored: bool = False, mark: str = ""
) -> Entry:
    return Entry(number, str(number), False, outcome, reason, "", target, 200, 0, mark, stored)


@given(st.dictionaries(st.integers(0, 15), st.integers(0, 20), max_size=16))
def test_redirects_that_never_arrive_are_found(moved: dict[int, int]) -> None:
    entries = [entry(number, "redirected", str(target)) for number, target in moved.items()]
    endless = set(circles(entries))
    for number in moved:
        place = number
        for _ in range(40):
            place = moved.get(place, -1)
        assert (number in endless) == (place != -1)


def test_duplicates_without_their_original_are_found() -> None:
    entries = [
        entry(1, "new", stored=True, mark="m"),
        entry(2, "duplicate", "1", reason="same_content", mark="m"),
        entry(3, "duplicate", "1", reason="same_content", mark="other"),
        entry(4, "duplicate", "5", reason="canonical"),
        entry(5, "redirected", "1"),
        entry(6, "duplicate", "7", reason="canonical"),
        entry(7, "failed", reason="not_found"),
        entry(8, "duplicate", "2", reason="canonical"),
        entry(9, "gone", "7", reason="same_content", stored=True, mark="n"),
        entry(10, "gone", reason="not_found", stored=True),
        entry(11, "duplicate", "99", reason="same_content", mark="k"),
    ]
    found = homeless(entries)
    assert (found.ids, found.alone, found.fingerprints) == ((3, 6, 9, 11), (6,), ("other", "n", "k"))
