"""ING-2, ING-5: five hundred pages with every trap: the report says of each address what became of it, and no more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeVar

import pytest

from harry_mcp.ingest.crawl.report import CrawlReport
from tests.ingest.crawl.bad_answers import LARGEST, RETRIES, TIMEOUT, WORDS
from tests.ingest.crawl.fates import FatedSite
from tests.ingest.crawl.reading import Reader
from tests.ingest.crawl.site import Site
from tests.ingest.crawl.traps import DEPTH, GOOD_MAPS, LISTS, MAPS, change, trapped
from tests.storage.recount import rows

pytestmark = [pytest.mark.promise("ING-2"), pytest.mark.promise("ING-5")]

WARNINGS = {
    "/maps/bomb.xml cannot be read: it declares a document type, which a sitemap has no use for.",
    "/maps/cut.xml.gz cannot be read: its gzip data is broken.",
    "/maps/none.xml cannot be read: the site answers with status 404.",
    "/maps/torn.xml was read in part: its XML is broken",
    "https://example.org/map.xml was left out: it lies on another site.",
}
K = TypeVar("K")
V = TypeVar("V")
_NOWHERE = "/harry-mcp-asks-for-a-page-that-does-not-exist"


def places(report: CrawlReport) -> dict[str, tuple[str, str]]:
    """Every address of a report as a fated site gives it. That none stands twice is checked with every report."""
    found: dict[str, tuple[str, str]] = {}
    for place in ("new", "changed", "unchanged"):
        found |= dict.fromkeys(getattr(report, place), (place, ""))
    for place in ("duplicates", "redirected"):
        found |= {url: (place, target) for url, target in getattr(report, place).items()}
    for place in ("gone", "refused", "failed"):
        found |= {url: (place, entry.reason) for url, entry in getattr(report, place).items()}
    return found


def unlike(found: Mapping[K, V], wanted: Mapping[K, V]) -> dict[K, tuple[V | None, V | None]]:
    """What two mappings do not agree on: the found and the wanted value."""
    keys = [*found, *(key for key in wanted if key not in found)]
    return {key: (found.get(key), wanted.get(key)) for key in keys if found.get(key) != wanted.get(key)}


async def crawl(reader: Reader, site: Site) -> CrawlReport:
    settings = {"timeout": TIMEOUT, "retries": RETRIES, "retry_pause": 0.01, "longest_wait": 1.0}
    return await reader.crawl(site, settings=settings, page_bytes=LARGEST, depth=DEPTH)


def assert_as_fated(report: CrawlReport, fated: FatedSite, *, maps: Sequence[str] = MAPS, missing: int = 1) -> None:
    """The whole report, and every request that was made for it."""
    assert unlike(places(report), fated.places()) == {}
    assert report.seen == len(fated.fates)
    asked = fated.site.taken()
    assert report.requests == asked.total()
    assert report.not_modified == sum(fate.asked[-1:] == (304,) for fate in fated.fates.values())
    wanted = fated.requests() | Counter({(path, 200): 1 for path in (*LISTS, *maps)})
    wanted |= Counter({("/maps/none.xml", 404): missing, ("/sitemap.xml", 404): 1, (_NOWHERE, 404): 1})
    # Refusals in a row make the crawler look whether the front page still answers
    looks = asked[("/", 200)] - wanted[("/", 200)]
    assert 1 <= looks <= 6
    wanted[("/", 200)] += looks
    assert unlike(asked, wanted) == {}


async def test_every_address_of_a_site_full_of_traps_is_accounted_for_also_when_it_changes(
    site: Site, reader: Reader
) -> None:
    fated = trapped(site)
    assert len(fated.fates) > 600
    assert sum(fate.asked != () for fate in fated.fates.values()) >= 500
    first = await crawl(reader, site)
    assert not any(asked.cookie for asked in site.log)
    assert_as_fated(first, fated)
    assert (first.run, first.resumed, first.stopped, first.blocked, first.partial) == (1, False, "", [], True)
    warnings = [warning.removeprefix("The sitemap ").removeprefix(site.url) for warning in first.warnings]
    assert {warning.partition(" (")[0] for warning in warnings} == WARNINGS
    assert sorted(await reader.documents()) == sorted(first.new)
    await assert_words_are_right(reader, site)
    assert await rows(reader.connection, "SELECT count(*)::int FROM chunks") == [(first.chunks_written,)]

    fated.again()
    fated.forget("/same/none")  # the page that names it as its canonical one stands alone now, and was not sent again
    second = await crawl(reader, site)
    assert_as_fated(second, fated)
    assert (second.run, second.chunks_written, second.warnings) == (2, 0, first.warnings)
    assert await rows(reader.connection, "SELECT source FROM documents WHERE version > 1") == []

    change(fated)
    third = await crawl(reader, site)
    assert_as_fated(third, fated, maps=GOOD_MAPS, missing=0)
    assert third.warnings == []
    assert sorted(await reader.documents()) == sorted([*first.new, *third.new]), "what is gone is proposed only"
    written = await rows(reader.connection, "SELECT source FROM documents WHERE version > 1 ORDER BY source")
    assert [source for (source,) in written] == sorted(third.changed)


async def assert_words_are_right(reader: Reader, site: Site) -> None:
    documents = await reader.documents()
    for name, words in WORDS.items():
        assert words in documents[f"{site.url}/words/{name}"]
    assert "At the bottom of it all" in documents[f"{site.url}/files/deep"]
    assert "how a team is billed" in documents[f"{site.url}/files/manual.pdf"]
