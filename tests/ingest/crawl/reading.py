"""Crawling a site in a test, and what every report must hold to."""

from __future__ import annotations

from typing import Any

from psycopg import AsyncConnection

from harry_mcp.app import App
from harry_mcp.ingest.crawl.crawler import Crawler, CrawlRequest
from harry_mcp.ingest.crawl.report import Because, CrawlReport
from harry_mcp.settings import CrawlSection
from tests.ingest.crawl.site import Site
from tests.storage.recount import assert_index_is_exact, rows

FAST: dict[str, Any] = {"delay": 0, "retry_pause": 0.01, "timeout": 1.0, "longest_wait": 1.0}


def fast(changes: dict[str, Any] | None = None) -> CrawlSection:
    values: dict[str, Any] = FAST | (changes or {})
    return CrawlSection(**values)


class Reader:
    """A crawler over a knowledge base of the test's own."""

    def __init__(self, app: App, connection: AsyncConnection[Any]) -> None:
        self.app = app
        self.connection = connection

    async def crawl(
        self,
        site: Site,
        path: str = "/",
        *,
        settings: dict[str, Any] | None = None,
        page_bytes: int = 200_000,
        **request: Any,
    ) -> CrawlReport:
        section = fast(settings)
        crawler = Crawler(self.app.database, self.app.ingester, section, page_bytes=page_bytes)
        asked: dict[str, Any] = {"url": site.url + path, "allow_private": True, **request}
        report = await crawler.crawl(CrawlRequest(**asked))
        assert_adds_up(report)
        await assert_index_is_exact(self.connection)
        return report

    async def documents(self) -> dict[str, str]:
        """Text by source of all that is stored."""
        return dict(await rows(self.connection, "SELECT source, content FROM documents"))


def assert_adds_up(report: CrawlReport) -> None:
    kinds = ("new", "changed", "unchanged", "duplicates", "redirected", "gone", "refused", "failed", "blocked")
    lists = [list(getattr(report, name)) for name in kinds]
    everything = [url for urls in lists for url in urls]
    assert len(everything) == len(set(everything)) == report.seen


def reasons(entries: dict[str, Because], site: Site) -> dict[str, str]:
    return {url.removeprefix(site.url): entry.reason for url, entry in entries.items()}


def paths(urls: list[str], site: Site) -> list[str]:
    return sorted(url.removeprefix(site.url) for url in urls)
