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


@pytest.mark.promise("ING-5")
async def test_what_is_gone_is_proposed_until_it_comes_back(site: Site, reader: Reader) -> None:
    site.page("/", prose("front"), "/hub", "/old")
    site.page("/hub", prose("hub"), "/unlinked")
    site.page("/unlinked", prose("unlinked"))
    site.page("/old", prose("old"))
    await reader.crawl(site)
    site.put("/old", status=410)
    site.page("/hub", prose("hub"))
    second = await reader.crawl(site)
    assert reasons(second.gone, site) == {"/old": "gone", "/unlinked": "unlinked"}
    proposed = await rows(reader.connection, "SELECT url FROM crawl_urls WHERE gone_since IS NOT NULL")
    assert {url for (url,) in proposed} == set(second.gone)
    site.page("/old", prose("back again"))
    third = await reader.crawl(site)
    assert (paths(third.changed, site), reasons(third.gone, site)) == (["/old"], {"/unlinked": "unlinked"})
    assert len(await reader.documents()) == 4


@pytest.mark.promise("ING-5")
async def test_what_lies_deeper_than_this_crawl_goes_is_not_gone(site: Site, reader: Reader) -> None:
    site.page("/", prose("front"), "/1", "/once")
    for number in range(1, 5):
        site.page(f"/{number}", prose(str(number)), f"/{number + 1}")
    site.page("/once", prose("once"))
    await reader.crawl(site, depth=4)
    site.page("/", prose("front"), "/1")
    second = await reader.crawl(site, depth=2)
    assert (reasons(second.gone, site), reasons(second.refused, site)) == ({"/once": "unlinked"}, {"/3": "depth"})


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
