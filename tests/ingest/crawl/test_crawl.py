"""ING-2, ING-5: a crawl's report is exact, a second one asks only for what changed, and nothing is stored twice."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from harry_mcp.domain.documents import SourceDocument
from harry_mcp.errors import InputError, SourceError
from harry_mcp.ingest.crawl.crawler import Crawler, CrawlRequest
from harry_mcp.settings import CrawlSection
from tests.ingest.crawl.reading import Reader, fast, paths, reasons
from tests.ingest.crawl.site import Site, packed, prose, sitemap
from tests.storage.recount import rows

pytestmark = pytest.mark.promise("ING-2")

GOOD = 12


def trapped(site: Site) -> None:
    """A site of good pages and of every trap."""
    good = [f"/docs/{number}" for number in range(GOOD)]
    for number, path in enumerate(good):
        # They link in a ring, and by the long way round
        following = f"../docs/./{(number + 1) % GOOD}?utm_source=ring#part"
        site.page(path, prose(path), following, "/", title=f"Chapter {number}")
    traps = (
        "/private/secret /loop-a /chain-1 /chain-2 /long-1 /soft /deleted /refused /slow /huge /latin /twin-1 /twin-2 "
        "/copy /noindex /header-noindex /nofollow /login /empty /moved-out /metadata http://127.0.0.1:1/inside "
        "http://10.0.0.7/ https://example.org/elsewhere /pic.png /data /refresh /base/ /a/a/a/a/a /broken "
        "/wide /trouble mailto:x@example.org javascript:void(0) #top http://[broken"
    )
    site.page("/", prose("the front page"), good[0], *traps.split())
    site.put("/robots.txt", "User-agent: *\nDisallow: /private/\nSitemap: /maps/index.xml.gz\n")
    site.put("/maps/index.xml.gz", packed(sitemap(*site.full("/maps/1.xml"), index=True)))
    site.put("/maps/1.xml", sitemap(*site.full("/listed/1", "/docs/1", "/private/listed"), lastmod="2024-05-01"))
    site.page("/listed/1", prose("only in the sitemap"))
    site.put(
        "/llms.txt",
        f"# Site\n\n- [For models]({site.url}/for-models.md): a text\n",
        headers={"Content-Type": "text/plain"},
    )
    site.put(
        "/for-models.md",
        "# For models\n\nWords for [models](/from-markdown).\n",
        headers={"Content-Type": "text/markdown"},
    )
    site.page("/from-markdown", prose("linked from Markdown"))
    site.moved("/loop-a", "/loop-b")
    site.moved("/loop-b", "/loop-a", 301)
    site.moved("/chain-1", "/chain-2")
    site.moved("/chain-2", "/chain-3", 308)
    site.moved("/chain-3", "/chain-end")
    site.page("/chain-end", prose("the end of the chain"))
    for number in range(1, 10):
        site.moved(f"/long-{number}", f"/long-{number + 1}")
    site.page("/soft", "<p>Sorry, we could not find this page.</p>", title="Page not found")
    site.page("/refused", prose("refused"), status=403)
    site.page("/slow", prose("slow"), slow=3.0)
    site.put("/huge", b"<p>" + b"word " * 100_000)
    site.put(
        "/latin",
        "<title>Umlaute</title><h1>Größe</h1><p>Straße und Übung.".encode("cp1252"),
        headers={"Content-Type": "text/html; charset=utf-8"},
    )
    for path in ("/twin-1", "/twin-2"):
        site.page(path, prose("twins"), title="Twins")
    site.page("/copy", prose("copy") + "<p>Printed.</p>", head='<link rel="canonical" href="/original?utm_medium=x">')
    site.page("/original", prose("copy"))
    site.page("/noindex", prose("noindex"), "/below-noindex", head='<meta name="robots" content="noindex">')
    site.page("/below-noindex", prose("below noindex"))
    site.page("/header-noindex", prose("header"), headers={"X-Robots-Tag": "otherbot: nofollow, noindex"})
    site.replies["/header-noindex"].headers["X-Robots-Tag"] = "otherbot: nofollow"  # pyright: ignore
    site.page("/nofollow", prose("nofollow"), "/below-nofollow", head='<meta name="ROBOTS" content="NOFOLLOW">')
    site.page("/below-nofollow", prose("below nofollow"))
    site.page(
        "/login", '<form><input name=u><input type="Password"></form><p>Please enter your data.</p>', title="Log in"
    )
    site.put("/empty", "<html><body></body></html>")
    site.moved("/moved-out", "https://example.org/new-home")
    site.moved("/metadata", "http://169.254.169.254/latest/meta-data/")
    site.put("/data", b"\x00\x01", headers={"Content-Type": "application/x-thing"})
    site.put("/refresh", '<meta http-equiv="Refresh" content="0; URL=\'/refreshed\'"><p>Moving on.')
    site.page("/refreshed", prose("refreshed"))
    site.page("/base/", prose("base"), "other", head='<base href="/elsewhere/">')
    site.page("/elsewhere/other", prose("base href"))
    site.page("/broken", prose("broken"), status=500)
    site.put("/wide", "<h1>Wide</h1><p>Words in UTF-16 for once.".encode("utf-16"))
    site.put("/trouble", "<title>Just a moment...</title><h1>Just a moment...</h1><p>Checking your browser.")


_STORED = (
    "/ /listed/1 /for-models.md /from-markdown /chain-end /latin /twin-1 /original /below-noindex /header-noindex "
    "/nofollow /refreshed /base/ /elsewhere/other /wide"
)
STORED = sorted([*_STORED.split(), *(f"/docs/{number}" for number in range(GOOD))])


async def test_the_report_of_a_site_full_of_traps_is_exact(site: Site, reader: Reader) -> None:
    trapped(site)
    report = await reader.crawl(site)
    assert paths(report.new, site) == STORED
    assert (report.changed, report.unchanged, report.gone, report.blocked, report.warnings) == ([], [], {}, [], [])
    assert {url.removeprefix(site.url): to.removeprefix(site.url) for url, to in report.redirected.items()} == {
        "/chain-1": "/chain-2",
        "/chain-2": "/chain-3",
        "/chain-3": "/chain-end",
        **{f"/long-{number}": f"/long-{number + 1}" for number in range(1, 6)},
        "/moved-out": "https://example.org/new-home",
        "/metadata": "http://169.254.169.254/latest/meta-data/",
        "/refresh": "/refreshed",
    }
    assert {url.removeprefix(site.url): to.removeprefix(site.url) for url, to in report.duplicates.items()} == {
        "/twin-2": "/twin-1",
        "/copy": "/original",
    }
    assert reasons(report.refused, site) == {
        "/private/secret": "robots",
        "/private/listed": "robots",
        "/soft": "soft_404",
        "/noindex": "noindex",
        "/below-nofollow": "nofollow",
        "/login": "login",
        "/empty": "empty",
        "/trouble": "error_page",
        "http://127.0.0.1:1/inside": "private",
        "http://10.0.0.7/": "private",
        "http://169.254.169.254/latest/meta-data/": "private",
        "https://example.org/elsewhere": "off_site",
        "https://example.org/new-home": "off_site",
        "/pic.png": "not_text",
        "/data": "not_text",
        "/a/a/a/a/a": "trap",
    }
    assert reasons(report.failed, site) == {
        "/loop-a": "circle",
        "/loop-b": "circle",
        "/long-6": "too_many_redirects",
        "/deleted": "not_found",
        "/refused": "forbidden",
        "/slow": "timeout",
        "/huge": "too_large",
        "/broken": "server_error",
    }
    assert report.failed[f"{site.url}/refused"].why == "the site refuses access"
    assert report.partial
    documents = await reader.documents()
    assert sorted(documents) == sorted(site.full(*STORED))
    assert "Größe" in documents[f"{site.url}/latin"]
    assert "UTF-16" in documents[f"{site.url}/wide"]
    asked = site.taken()
    assert not any(path.startswith(("/private", "/pic", "/a/a", "/below-nofollow")) for path, _ in asked)
    assert asked.pop(("/broken", 500)) == 3
    assert set(asked.values()) == {1}, "nothing is asked for twice"


@pytest.mark.promise("ING-5")
async def test_a_second_crawl_fetches_only_what_changed(site: Site, reader: Reader) -> None:
    trapped(site)
    site.page(
        "/",
        prose("the front page"),
        "/docs/0",
        "/twin-1",
        "/twin-2",
        "/noindex",
        "/copy",
        "/nofollow",
        "/old",
        "/moving",
        "/soon-noindex",
        "/hidden-hub",
    )
    site.page("/old", prose("old"))
    site.page("/moving", prose("moving"))
    site.page("/soon-noindex", prose("soon noindex"))
    site.page("/hidden-hub", prose("hub"), "/unlinked")
    site.page("/unlinked", prose("unlinked"))
    first = await reader.crawl(site)
    site.taken()
    again = await reader.crawl(site)
    assert (again.new, again.changed, again.gone) == ([], [], {})
    assert again.unchanged == first.new
    assert (again.duplicates, reasons(again.refused, site)) == (first.duplicates, reasons(first.refused, site))
    statuses = site.taken()
    whole = {path for path, status in statuses if status == 200} - {
        "/robots.txt",
        "/llms.txt",
        "/maps/1.xml",
        "/maps/index.xml.gz",
    }
    assert whole == {"/for-models.md"}, "it is the one page without an ETag"
    assert again.not_modified == sum(status == 304 for _, status in statuses.elements()) > 20
    before = await rows(reader.connection, "SELECT xmin::text, id FROM documents ORDER BY id")

    site.page("/docs/3", prose("another text"), "/docs/4", "/added", title="Chapter 3")
    site.page("/added", prose("added"))
    site.page("/twin-1", prose("no twin any more"), title="Twins")
    site.put("/old", status=410)
    site.moved("/moving", "/moved-here", 301)
    site.page("/moved-here", prose("moving"), title="Page /moving")
    site.page("/soon-noindex", prose("soon noindex"), head='<meta name="robots" content="noindex">')
    site.page("/hidden-hub", prose("hub"))
    third = await reader.crawl(site)
    assert paths(third.new, site) == ["/added", "/moved-here", "/twin-2"]
    assert paths(third.changed, site) == ["/docs/3", "/twin-1"]
    assert reasons(third.gone, site) == {
        "/old": "gone",
        "/moving": "moved",
        "/soon-noindex": "noindex",
        "/unlinked": "unlinked",
    }
    documents = await reader.documents()
    assert set(site.full("/old", "/moving", "/soon-noindex", "/unlinked")) <= set(documents), "gone is proposed only"
    after = await rows(reader.connection, "SELECT xmin::text, id FROM documents ORDER BY id")
    assert len(set(before) - set(after)) == 2, "what did not change was not written"
    proposed = await rows(reader.connection, "SELECT url FROM crawl_urls WHERE gone_since IS NOT NULL")
    assert {url for (url,) in proposed} == set(third.gone)
    site.page("/old", prose("back again"))
    fourth = await reader.crawl(site)
    assert paths(fourth.changed, site) == ["/old"]
    assert sorted(reasons(fourth.gone, site)) == ["/moving", "/soon-noindex", "/unlinked"]


async def test_a_page_that_fails_hides_none_of_its_children(site: Site, reader: Reader) -> None:
    site.page("/", prose("front"), "/hub")
    site.page("/hub", prose("hub"), "/child")
    site.page("/child", prose("child"))
    await reader.crawl(site)
    site.page("/hub", prose("hub"), status=403)
    second = await reader.crawl(site)
    assert paths(second.unchanged, site) == ["/", "/child"]
    assert reasons(second.failed, site) == {"/hub": "forbidden"}
    assert second.gone == {}
    site.page("/hub", prose("hub"), "/child")
    assert paths((await reader.crawl(site)).unchanged, site) == ["/", "/child", "/hub"]


async def test_a_deleted_document_comes_back_though_the_page_did_not_change(site: Site, reader: Reader) -> None:
    site.page("/", prose("front"), "/a")
    site.page("/a", prose("a"))
    await reader.crawl(site)
    async with reader.app.database.transaction() as unit:
        await unit.documents.delete(SourceDocument(source=f"{site.url}/a", title="", text="").id)
    report = await reader.crawl(site)
    assert (paths(report.new, site), paths(report.unchanged, site)) == (["/a"], ["/"])


async def test_a_canonical_page_that_cannot_be_had_loses_nothing(site: Site, reader: Reader) -> None:
    site.page("/", prose("front"), "/a", "/b", "/c", "/x", "/y")
    site.page("/a", prose("a"), head='<link rel="canonical" href="/missing">')
    site.page("/b", prose("b"), head='<link rel="canonical" href="/">')
    site.page("/c", prose("c"), head='<link rel="canonical" href="https://elsewhere.example/c">')
    site.page("/x", prose("x"), head='<link rel="canonical" href="/y">')
    site.page("/y", prose("y"), head='<link rel="canonical" href="/x">')
    report = await reader.crawl(site)
    assert paths(report.new, site) == ["/", "/a", "/b", "/c", "/x", "/y"]
    assert reasons(report.failed, site) == {"/missing": "not_found"}
    site.taken()
    again = await reader.crawl(site)
    assert paths(again.unchanged, site) == ["/", "/a", "/b", "/c", "/x", "/y"]
    assert {path for path, status in site.taken() if status == 200} == set()


async def test_the_content_of_a_page_that_moved_is_not_lost(site: Site, reader: Reader) -> None:
    site.page("/", prose("front"), "/a")
    site.page("/a", prose("same"), title="Same")
    await reader.crawl(site)
    site.page("/", prose("front"), "/b")
    site.page("/b", prose("same"), title="Same")
    report = await reader.crawl(site)
    assert paths(report.new, site) == ["/b"]
    assert reasons(report.gone, site) == {"/a": "unlinked"}


async def test_a_sitemap_that_cannot_be_read_is_a_warning_and_makes_nothing_gone(site: Site, reader: Reader) -> None:
    site.put("/robots.txt", "Sitemap: /map.xml\nSitemap: /second.xml.gz\n")
    site.put("/map.xml", sitemap(*site.full("/a")))
    site.put("/second.xml.gz", packed(b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY y "z">]><urlset></urlset>'))
    site.page("/", prose("front"))
    site.page("/a", prose("a"))
    first = await reader.crawl(site)
    assert paths(first.new, site) == ["/", "/a"]
    why = "it declares a document type, which a sitemap has no use for"
    assert first.warnings == [f"The sitemap {site.url}/second.xml.gz cannot be read: {why}."]
    assert first.partial
    site.put("/second.xml.gz", packed(sitemap()))
    site.put("/map.xml", status=500)
    second = await reader.crawl(site)
    assert second.warnings == [f"{site.url}/map.xml cannot be read: the site answers with status 500."]
    assert (second.gone, paths(second.unchanged, site)) == ({}, ["/"])
    site.put("/map.xml", sitemap())
    third = await reader.crawl(site)
    assert reasons(third.gone, site) == {"/a": "unlinked"}


async def test_spellings_of_one_page_are_one_document(site: Site, reader: Reader) -> None:
    spellings = ["/a", "/a/", "/a?utm_source=x", "/./a#b", "/%61", "/b/../a", "/A-not", "/slash", "/a?sessionless=1"]
    site.page("/", prose("front"), *spellings)
    for path in ("/a", "/a/", "/a?sessionless=1", "/slash/"):
        site.page(path, prose(path[:2]), title=path[:2])
    site.moved("/slash", "/slash/", 301)
    report = await reader.crawl(site)
    assert paths(report.new, site) == ["/", "/a", "/slash/"]
    assert paths(list(report.duplicates), site) == ["/a/", "/a?sessionless=1"]
    assert set(report.duplicates.values()) == set(site.full("/a"))
    assert paths(list(report.redirected), site) == ["/slash"]


# Limits


async def test_depth_prefix_and_pages_are_kept_and_what_they_cost_is_named(site: Site, reader: Reader) -> None:
    site.page("/docs/", prose("docs"), "/docs/1", "/other", "/docs-old/")
    for number in range(1, 6):
        site.page(f"/docs/{number}", prose(f"page {number}"), f"/docs/{number + 1}")
    report = await reader.crawl(site, "/docs/", prefix="/docs", depth=3)
    assert paths(report.new, site) == ["/docs/", "/docs/1", "/docs/2", "/docs/3"]
    assert reasons(report.refused, site) == {"/other": "prefix", "/docs-old/": "prefix", "/docs/4": "depth"}
    assert not report.partial
    fewer = await reader.crawl(site, "/docs/", prefix="/docs", pages=2)
    assert paths(fewer.unchanged, site) == ["/docs/", "/docs/1"]
    assert reasons(fewer.refused, site) == {"/other": "prefix", "/docs-old/": "prefix", "/docs/2": "pages"}
    assert fewer.gone == {}, "what a limit left out is not gone"
    small = await reader.crawl(site, "/docs/", prefix="/docs", settings={"site_bytes": 1})
    assert paths(small.new, site) == ["/docs/4"], "the first page that had to be sent"
    assert reasons(small.refused, site)["/docs/5"] == "bytes"
    whole = await reader.crawl(site, "/docs/", prefix="/docs")
    assert (paths(whole.new, site), len(whole.unchanged)) == (["/docs/5"], 5)


async def test_under_a_limit_what_changed_last_is_read_first(site: Site, reader: Reader) -> None:
    site.page("/", prose("front"), "/linked")
    for path in ("/old", "/newest", "/undated", "/linked"):
        site.page(path, prose(path))
    site.put("/robots.txt", "".join(f"Sitemap: /{name}.xml\n" for name in ("undated", "old", "newest")))
    for name, lastmod in (("undated", ""), ("old", "2020-01-01"), ("newest", "2024-06")):
        site.put(f"/{name}.xml", sitemap(*site.full(f"/{name}"), lastmod=lastmod))
    report = await reader.crawl(site, pages=3)
    assert paths(report.new, site) == ["/", "/newest", "/old"]
    assert reasons(report.refused, site) == {"/undated": "pages", "/linked": "pages"}


# Politeness


async def test_crawl_delay_and_our_name_are_obeyed(site: Site, reader: Reader) -> None:
    site.page("/", prose("front"), "/a", "/b", "/no")
    site.page("/a", prose("a"))
    site.page("/b", prose("b"))
    site.put("/robots.txt", "User-agent: *\nDisallow: /\n\nUser-agent: Harry-MCP\nCrawl-delay: 0.15\nDisallow: /no\n")
    report = await reader.crawl(site)
    assert paths(report.new, site) == ["/", "/a", "/b"]
    assert reasons(report.refused, site) == {"/no": "robots"}
    times = [asked.at for asked in site.log]
    assert min(later - earlier for earlier, later in pairwise(times[1:])) > 0.12
    assert {asked.agent for asked in site.log} == {CrawlSection().user_agent}
    assert {asked.host for asked in site.log} == {site.url.removeprefix("http://")}


async def test_no_more_requests_at_once_than_allowed(site: Site, reader: Reader) -> None:
    site.page("/", prose("front"), *(f"/{number}" for number in range(12)))
    for number in range(12):
        site.page(f"/{number}", prose(str(number)), slow=0.05)
    await reader.crawl(site, settings={"concurrency": 3})
    times = sorted(asked.at for asked in site.log if asked.path[1:].isdigit())
    assert max(sum(0 <= later - each < 0.045 for later in times) for each in times) <= 3


async def test_retry_after_is_waited_for_within_its_bound(site: Site, reader: Reader) -> None:
    site.page("/", prose("front"), "/busy", "/closed")
    tries = iter([429, 503])

    def busy() -> object:
        status = next(tries, 200)
        site.page("/now", prose("busy"), status=status, headers={"Retry-After": "0"} if status != 200 else {})
        return site.answer("/now")

    site.replies["/busy"] = busy  # pyright: ignore
    site.page("/closed", prose("closed"), status=503, headers={"Retry-After": "3600"})
    report = await reader.crawl(site)
    assert paths(report.new, site) == ["/", "/busy"]
    assert reasons(report.failed, site) == {"/closed": "server_error"}
    asked = site.taken()
    assert [asked[("/busy", status)] for status in (429, 503, 200)] == [1, 1, 1]
    assert asked[("/closed", 503)] == 1, "an hour is not waited for"


# A site that turns us away


@pytest.mark.parametrize("status", [403, 429, 503])
async def test_a_block_in_the_middle_names_what_it_cost_and_is_made_good(
    site: Site, reader: Reader, status: int
) -> None:
    pages = [f"/{number}" for number in range(30)]
    site.page("/", prose("front"), *pages)
    for path in pages:
        site.page(path, prose(path))
    real, answered = site.answer, iter(range(1000))

    def blocking(path: str) -> object:
        if path.startswith("/robots") or next(answered) < 14:
            return real(path)
        site.put("/blocked", status=status)
        return real("/blocked")

    site.answer = blocking  # type: ignore[method-assign]
    report = await reader.crawl(site, settings={"retries": 0})
    assert report.stopped.startswith("The site stopped answering us:")
    assert report.partial
    assert len(report.new) + len(report.blocked) == 31
    assert len(report.new) == 11, "14 answers, of which llms.txt, sitemap.xml and one page that is not there"
    assert report.failed == {}
    site.answer = real  # type: ignore[method-assign]
    site.taken()
    rest = await reader.crawl(site)
    assert rest.resumed
    assert (len(rest.new), rest.blocked) == (31, [])
    asked = {path for path, _ in site.taken()}
    assert asked.isdisjoint(url.removeprefix(site.url) for url in report.new), "nothing is fetched twice"


async def test_a_section_that_is_closed_does_not_end_the_crawl(site: Site, reader: Reader) -> None:
    closed = [f"/admin/{number}" for number in range(12)]
    site.page("/", prose("front"), *closed, "/open")
    for path in closed:
        site.page(path, "", status=403)
    site.page("/open", prose("open"))
    report = await reader.crawl(site)
    assert paths(report.new, site) == ["/", "/open"]
    assert set(reasons(report.failed, site).values()) == {"forbidden"}
    assert (len(report.failed), report.stopped) == (12, "")


@pytest.mark.parametrize(
    ("path", "robots", "sentence"),
    [
        ("/", "User-agent: *\nDisallow: /\n", r"The robots.txt of 127.0.0.1:\d+ forbids harry-mcp to read http"),
        ("/", "User-agent: *\nCrawl-delay: 86400\n", "asks for 86400 seconds between two pages"),
        ("/nothing", "", "/nothing cannot be crawled: there is no page there."),
        ("/closed", "", "/closed cannot be crawled: the site refuses access."),
        ("/away", "", r"/away redirects to another site, https://example.org/. Crawl that one"),
    ],
)
async def test_a_site_that_forbids_us_is_one_sentence(
    site: Site, reader: Reader, path: str, robots: str, sentence: str
) -> None:
    site.put("/robots.txt", robots)
    site.page("/", prose("front"))
    site.put("/closed", status=403)
    site.moved("/away", "https://example.org/")
    with pytest.raises(SourceError, match=sentence):
        await reader.crawl(site, path)


async def test_a_robots_txt_in_trouble_keeps_us_away(site: Site, reader: Reader) -> None:
    site.page("/", prose("front"))
    site.put("/robots.txt", status=503, headers={"Retry-After": "3600"})
    with pytest.raises(SourceError, match=r"its robots.txt cannot be read \(it answers with status 503\)"):
        await reader.crawl(site)
    for status in (401, 403, 404, 410):
        site.put("/robots.txt", "User-agent: *\nDisallow: /", status=status)
        assert (await reader.crawl(site)).seen == 1, "a 4xx allows everything (RFC 9309, 2.3.1.3)"


@pytest.mark.parametrize(
    ("url", "request_", "sentence"),
    [
        ("nonsense", {}, "nonsense is not an http or https address."),
        ("ftp://x.org/", {}, "ftp://x.org/ is not an http or https address."),
        ("https://u:secret@x.org/", {}, "holds a user name or password"),
        ("https://x.org/a", {"prefix": "/b"}, "https://x.org/a is not under /b."),
        ("https://x.org/a.zip", {}, "it is no page with text"),
        ("http://127.0.0.1:1/", {}, r"127.0.0.1:1 cannot be crawled: "),
        ("http://no-such-host.invalid/", {}, "no-such-host.invalid cannot be found"),
    ],
)
async def test_what_cannot_be_crawled_is_one_sentence(
    reader: Reader, url: str, request_: dict[str, Any], sentence: str
) -> None:
    crawler = Crawler(reader.app.database, reader.app.ingester, fast({"retries": 0}), page_bytes=1000)
    with pytest.raises(SourceError, match=sentence) as raised:
        await crawler.crawl(CrawlRequest(url=url, allow_private=True, **request_))
    assert "secret" not in str(raised.value)


async def test_one_crawl_of_a_site_at_a_time(site: Site, reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harry_mcp.ingest.crawl.crawler._TRIES", 2)
    site.page("/", prose("front"))
    async with reader.app.database.reading() as unit:
        state = await unit.crawls.enter(f"{site.url}/", "/")
        assert await unit.crawls.try_lock(state.id)
        with pytest.raises(InputError, match="Another process is crawling"):
            await reader.crawl(site)
        await unit.crawls.unlock(state.id)
    assert (await reader.crawl(site)).seen == 1
