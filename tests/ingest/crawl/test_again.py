"""ING-2, ING-5: what a second crawl asks for whole: what would be stored otherwise now, and all of it when told so."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from psycopg import AsyncConnection

from harry_mcp.app import App
from harry_mcp.ingest.crawl.crawler import Crawler, CrawlRequest
from harry_mcp.profile import DomainProfile
from harry_mcp.settings import Settings
from harry_mcp.storage.database import Database
from tests.ingest.crawl.reading import Reader, fast
from tests.ingest.crawl.site import Site, prose, sitemap
from tests.ingest.formats.pdfs import lines, pdf
from tests.ingest.test_situating import good
from tests.providers.vendor import Answer, always, vendor
from tests.storage.recount import rows

pytestmark = [pytest.mark.promise("ING-2"), pytest.mark.promise("ING-5")]

PAGES = 6
CALM: dict[str, Any] = {"timeout": 20.0}  # no page here is slow on purpose, and a busy machine is


def a_site(site: Site) -> None:
    site.page("/", prose("front", 200), *(f"/{number}" for number in range(1, PAGES)), "/twin", "/bare")
    for number in range(1, PAGES):
        site.page(f"/{number}", prose(f"page {number}", 200))
    site.page("/twin", prose("page 1", 200), title="Page /1")
    site.put("/bare", "<html><body></body></html>", etag=True)


def statuses(site: Site) -> Counter[int]:
    """Of the pages alone: what is asked for beside them is asked for every time."""
    beside = ("/robots.txt", "/llms.txt", "/sitemap.xml")
    taken = site.taken()
    return Counter(
        status
        for (path, status), number in taken.items()
        for _ in range(number)
        if path not in beside and "harry-mcp-asks" not in path
    )


async def test_pages_are_asked_for_whole_when_they_would_be_cut_otherwise(
    reader: Reader, settings: Settings, site: Site, connection: AsyncConnection[Any]
) -> None:
    a_site(site)
    await reader.crawl(site, settings=CALM)
    site.taken()
    again = await reader.crawl(site, settings=CALM)
    assert (len(again.unchanged), again.not_modified) == (PAGES, PAGES + 2)
    assert statuses(site) == {304: PAGES + 2}

    smaller = settings.ingest.model_copy(update={"chunk_characters": 300, "chunk_minimum": 50})
    async with another(reader, settings.model_copy(update={"ingest": smaller})) as cut_anew:
        report = await cut_anew.crawl(site, settings=CALM)
        assert (len(report.changed), len(report.duplicates), report.chunks_written > PAGES) == (PAGES, 1, True)
        assert statuses(site) == {200: PAGES, 304: 2}, "what is stored nowhere is as it was"
        assert await rows(connection, "SELECT DISTINCT version FROM documents") == [(2,)]
        await cut_anew.crawl(site, settings=CALM)
        assert statuses(site) == {304: PAGES + 2}


async def test_fresh_asks_for_all_and_writes_only_what_changed(reader: Reader, site: Site) -> None:
    a_site(site)
    await reader.crawl(site, settings=CALM)
    site.taken()
    report = await reader.crawl(site, settings=CALM, fresh=True)
    assert statuses(site) == {200: PAGES + 2}
    assert (len(report.unchanged), len(report.duplicates), report.not_modified) == (PAGES, 1, 0)
    assert report.chunks_written == 0


async def test_a_topic_is_given_to_all_pages_and_can_be_changed(
    reader: Reader, site: Site, connection: AsyncConnection[Any]
) -> None:
    a_site(site)
    await reader.crawl(site, settings=CALM, topic="Help")
    assert await rows(connection, "SELECT DISTINCT topic FROM documents") == [("Help",)]
    site.taken()
    assert len((await reader.crawl(site, settings=CALM, topic="Help")).unchanged) == PAGES
    assert statuses(site) == {304: PAGES + 2}
    assert len((await reader.crawl(site, settings=CALM, topic="Manual")).changed) == PAGES
    assert await rows(connection, "SELECT DISTINCT topic FROM documents") == [("Manual",)]


@pytest.mark.promise("ING-4")
async def test_contexts_that_failed_are_reported_and_made_good_by_the_next_crawl(
    reader: Reader, settings: Settings, site: Site, connection: AsyncConnection[Any]
) -> None:
    a_site(site)
    async with vendor(always(Answer({"error": {"message": "down"}}, status=500))) as server:
        with_claude = _with_claude(settings, server.url, ask_above=5.0)
        async with another(reader, with_claude) as paid:
            failed = await paid.crawl(site, settings=CALM)
        assert len(failed.new) == len(failed.template_contexts) == PAGES
        assert "have the template context" in failed.template_contexts[f"{site.url}/1"]
        assert failed.partial
        assert (failed.spent, failed.allowance) == (0.0, 5.0)
        server.answering = good
        site.taken()
        async with another(reader, with_claude) as paid:
            made_good = await paid.crawl(site, settings=CALM)
        assert (len(made_good.changed), made_good.template_contexts) == (PAGES, {})
        assert statuses(site) == {200: PAGES, 304: 2}
        assert 0 < made_good.spent < 5


@pytest.mark.promise("ING-4")
async def test_no_crawl_spends_more_than_it_may(
    reader: Reader, settings: Settings, site: Site, connection: AsyncConnection[Any]
) -> None:
    a_site(site)
    async with vendor(good) as server:
        with_claude = _with_claude(settings, server.url, ask_above=0.00002)
        async with another(reader, with_claude) as capped:
            report = await capped.crawl(site, settings=CALM)
        assert report.template_contexts
        assert "--yes allows more" in next(iter(report.template_contexts.values()))
        assert report.allowance == pytest.approx(0.00002)
        most_for_one = report.spent / len(server.asked)
        assert 0 < report.spent < report.allowance + 4 * most_for_one  # those that were asked side by side
        async with another(reader, with_claude) as allowed:
            assert allowed.app.ingester.situator is not None
            allowed.app.ingester.situator.allow()
            report = await allowed.crawl(site, settings=CALM)
        assert (report.template_contexts, report.allowance) == ({}, -1.0)


async def test_a_pdf_may_be_larger_than_a_page(reader: Reader, site: Site) -> None:
    body = pdf([lines("Some words of a manual.", font="Courier")]) + b"\n%" + b"x" * 300_000
    assert len(body) > 200_000  # what a page may have here
    site.page("/", prose("front"), "/manual.pdf", "/download", "/page")
    site.put("/manual.pdf", body, headers={"Content-Type": "application/octet-stream"})
    site.put("/download", body[:-1] + b"y", headers={"Content-Type": "application/pdf"})
    site.put("/page", "<p>" + "word " * 60_000)
    report = await reader.crawl(site, settings=CALM)
    assert set(report.failed) == {f"{site.url}/page"}
    assert set(report.new) | set(report.duplicates) == {
        f"{site.url}{path}" for path in ("/", "/manual.pdf", "/download")
    }
    broken = pdf([lines("x")])[:200] + b"x" * 300_000
    site.put("/manual.pdf", broken, headers={"Content-Type": "application/pdf"})
    report = await reader.crawl(site, settings=CALM)
    assert report.failed[f"{site.url}/manual.pdf"].reason == "unreadable"


async def test_the_outlook_counts_pages_and_writes_nothing(
    reader: Reader, site: Site, connection: AsyncConnection[Any]
) -> None:
    crawler = Crawler(reader.app.database, reader.app.ingester, fast(CALM), page_bytes=200_000)

    def request(**changes: Any) -> CrawlRequest:
        asked: dict[str, Any] = {"url": f"{site.url}/", "allow_private": True, **changes}
        return CrawlRequest(**asked)

    a_site(site)
    unknown = await crawler.outlook(request(pages=40))
    assert (unknown.basis, unknown.pages, unknown.stored) == ("limit", 40, 0)
    assert len(unknown.sample) == 5
    assert all(len(document.text) > 500 for document in unknown.sample)
    assert len(site.log) <= 20
    site.put("/sitemap.xml", sitemap(*site.full("/", *(f"/{number}" for number in range(1, PAGES)), "/a.zip")))
    listed = await crawler.outlook(request())
    assert (listed.basis, listed.pages) == ("listed", PAGES)
    assert await rows(connection, "SELECT count(*) FROM crawls") == [(0,)]
    assert await rows(connection, "SELECT count(*) FROM documents") == [(0,)]
    await reader.crawl(site, settings=CALM)
    assert (await crawler.outlook(request())).pages == 0
    assert (await crawler.outlook(request(topic="Help"))).pages == PAGES
    assert (await crawler.outlook(request(fresh=True))).pages == PAGES
    del site.replies["/sitemap.xml"]
    known = await crawler.outlook(request())
    assert (known.basis, known.pages, known.stored) == ("known", 0, PAGES)


@asynccontextmanager
async def another(reader: Reader, settings: Settings) -> AsyncGenerator[Reader]:
    """A crawler with other settings, over a view of the knowledge base of its own."""
    database = await Database.open(settings, reader.app.embedder.space)
    async with App(settings, DomainProfile(), database, reader.app.embedder) as app:
        yield Reader(app, reader.connection)


def _with_claude(settings: Settings, url: str, *, ask_above: float) -> Settings:
    claude = settings.claude.model_copy(update={"base_url": url, "retries": 0, "timeout": 5.0})
    ingest = settings.ingest.model_copy(update={"ask_above": ask_above})
    key = type(settings.anthropic_api_key)("sk-ant-hush")
    return settings.model_copy(update={"claude": claude, "ingest": ingest, "anthropic_api_key": key})
