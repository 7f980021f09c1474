"""ING-2, ING-5: a crawl of five hundred pages that is killed again and again ends like one that nobody disturbed."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from itertools import count
from typing import Any

import psycopg
import pytest
from psycopg import AsyncConnection

from harry_mcp.app import App
from harry_mcp.cli.console import ExitCode
from harry_mcp.ingest.crawl.report import Because, CrawlReport
from harry_mcp.profile import DomainProfile
from harry_mcp.providers.local.embedder import LocalEmbedder
from harry_mcp.settings import Settings
from harry_mcp.storage.database import Database
from tests.ingest.crawl.bad_answers import LARGEST, RETRIES, TIMEOUT
from tests.ingest.crawl.reading import Reader
from tests.ingest.crawl.site import Site
from tests.ingest.crawl.test_resume import finished, harry
from tests.ingest.crawl.test_traps import crawl, places, unlike
from tests.ingest.crawl.traps import DEPTH, trapped
from tests.storage.recount import assert_index_is_exact, rows

pytestmark = [pytest.mark.promise("ING-2"), pytest.mark.promise("ING-5")]

KILLED_AFTER = (2, 30, 150, 100, 250)  # requests: among the sitemaps, at the first pages, in the middle, near the end
# Pages in the air, and those that wait for the batch that is being stored
_LOST_AT_MOST = 4 * 8 + 2 * 16

_STATE = {
    "documents": "SELECT source, title, content, url, language, status, version, recipe FROM documents",
    "chunks": "SELECT public_id, document_id, ordinal, heading_path, raw_content, contextual_content FROM chunks",
    "addresses": "SELECT url, depth, waiting, outcome, reason, target, status, etag <> '', fingerprint, stands_alone, "
    "run FROM crawl_urls",
    "links": "SELECT u.url, k.place, k.id < 0, l.url FROM crawl_urls u CROSS JOIN unnest(u.links) WITH ORDINALITY "
    "AS k (id, place) JOIN crawl_urls l ON l.id = abs(k.id)",
}


async def state(connection: AsyncConnection[Any]) -> dict[str, list[tuple[Any, ...]]]:
    """All that a crawl leaves behind, but for ids that count up and times."""
    return {name: sorted(await rows(connection, statement), key=repr) for name, statement in _STATE.items()}


async def undisturbed(site: Site, settings: Settings, embedder: LocalEmbedder) -> dict[str, list[tuple[Any, ...]]]:
    url = settings.database_url.get_secret_value()
    database = await Database.open(settings, embedder.space)
    async with await psycopg.AsyncConnection.connect(url, options="-c search_path=harry,public") as connection:
        await crawl(Reader(App(settings, DomainProfile(), database, embedder), connection), site)
        found = await state(connection)
    await database.close()
    return found


async def test_a_crawl_that_is_killed_again_and_again_ends_like_one_that_is_not(
    site: Site, settings: Settings, elsewhere: Settings, embedder: LocalEmbedder, connection: AsyncConnection[Any]
) -> None:
    fated = trapped(site)
    wanted = await undisturbed(site, elsewhere, embedder)
    fated = trapped(site)  # the servers that need a moment need it again
    site.log = []
    environment = {
        "HARRY_CRAWL__TIMEOUT": str(TIMEOUT),
        "HARRY_CRAWL__RETRIES": str(RETRIES),
        "HARRY_CRAWL__LONGEST_WAIT": "1",
        "HARRY_INGEST__FILE_BYTES": str(LARGEST),
    }
    options = ("--allow-private", "--json", "--depth", str(DEPTH))
    for kill_after in KILLED_AFTER:
        reached, numbers = threading.Event(), count()

        def before(_: str, last: int = kill_after, reached: threading.Event = reached, numbers: Any = numbers) -> None:
            if next(numbers) >= last:
                reached.set()

        site.before = before
        process = harry(site, settings, *options, **environment)
        assert reached.wait(60)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=30)
        await assert_index_is_exact(connection)
    site.before = None
    code, written, err = finished(harry(site, settings, *options, **environment))
    assert (code, err) == (ExitCode.PARTIAL, "")
    report = _report(written)
    assert (report.run, report.resumed, report.stopped, report.blocked) == (1, True, "", [])
    assert unlike(places(report), fated.places()) == {}
    await assert_index_is_exact(connection)
    found = await state(connection)
    for name in _STATE:
        assert found[name] == wanted[name], name
    asked = Counter(asked.path for asked in site.log if fated.url(asked.path) in fated.fates)
    needed = Counter({path: n for (path, _), n in fated.requests().items()})
    again = asked - needed
    again.pop("/", None)  # it is looked at when refusals come in a row
    assert again.total() <= len(KILLED_AFTER) * _LOST_AT_MOST


def _report(written: dict[str, Any]) -> CrawlReport:
    for name in ("gone", "refused", "failed"):
        written[name] = {url: Because(**entry) for url, entry in written[name].items()}
    return CrawlReport(**written)
