"""ING-2, ING-5: five hundred pages with every trap: the report says of each address what became of it, and no more."""

from __future__ import annotations

import pytest

from harry_mcp.ingest.crawl.report import CrawlReport
from tests.ingest.crawl.bad_answers import LARGEST, RETRIES, TIMEOUT
from tests.ingest.crawl.reading import Reader
from tests.ingest.crawl.site import Site
from tests.ingest.crawl.traps import DEPTH, trapped

pytestmark = [pytest.mark.promise("ING-2"), pytest.mark.promise("ING-5")]

_NOWHERE = "/harry-mcp-asks-for-a-page-that-does-not-exist"


def lists(report: CrawlReport) -> dict[str, list[str] | dict[str, str]]:
    """The lists of a report as a fated site gives them."""
    found: dict[str, list[str] | dict[str, str]] = {}
    for place in ("new", "changed", "unchanged"):
        found[place] = sorted(getattr(report, place))
    for place in ("duplicates", "redirected"):
        found[place] = dict(sorted(getattr(report, place).items()))
    for place in ("gone", "refused", "failed"):
        found[place] = {url: entry.reason for url, entry in sorted(getattr(report, place).items())}
    return found


async def crawl(reader: Reader, site: Site) -> CrawlReport:
    settings = {"timeout": TIMEOUT, "retries": RETRIES, "retry_pause": 0.01, "longest_wait": 1.0}
    return await reader.crawl(site, settings=settings, page_bytes=LARGEST, depth=DEPTH)


async def test_every_address_of_a_site_full_of_traps_is_accounted_for(site: Site, reader: Reader) -> None:
    fated = trapped(site)
    assert len(fated.fates) > 600
    assert len(site.replies) >= 500
    report = await crawl(reader, site)
    assert lists(report) == fated.lists()
