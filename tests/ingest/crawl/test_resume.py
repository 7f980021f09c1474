"""ING-2, ING-5: a crawl that is killed at any moment goes on where it was."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from typing import Any

import pytest
from psycopg import AsyncConnection

from harry_mcp.cli.console import ExitCode
from harry_mcp.settings import Settings, child_environment
from tests.ingest.crawl.site import Site, prose, sitemap
from tests.storage.recount import assert_index_is_exact, rows

pytestmark = [pytest.mark.promise("ING-2"), pytest.mark.promise("ING-5")]

PAGES = 90


def harry(site: Site, settings: Settings, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
    """``harry crawl`` under way. No delay, for the site is ours."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "harry_mcp.cli.main", "crawl", site.url, *arguments],
        env=child_environment(
            HARRY_DATABASE_URL=settings.database_url.get_secret_value(),
            HARRY_CRAWL__DELAY="0",
            HARRY_CRAWL__RETRY_PAUSE="0.01",
            COLUMNS="60",
            **environment,
        ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def finished(process: subprocess.Popen[bytes]) -> tuple[int, Any, str]:
    out, err = process.communicate(timeout=100)
    return process.returncode, json.loads(out) if out else None, err.decode()


def a_tree(site: Site) -> None:
    """Pages in a tree, half of them in the sitemap, with twins and a page that is missing."""
    for number in range(PAGES):
        links = [f"/{child}" for child in (3 * number + 1, 3 * number + 2, 3 * number + 3) if child < PAGES]
        site.page(f"/{number}" if number else "/", prose(f"page {number % 80}", 120), *links, title=f"T {number % 80}")
    site.put("/sitemap.xml", sitemap(*site.full(*(f"/{number}" for number in range(1, PAGES, 2)), "/missing")))


async def test_a_crawl_that_is_killed_loses_nothing(
    site: Site, settings: Settings, connection: AsyncConnection[Any]
) -> None:
    a_tree(site)
    dice = random.Random(7)
    for kill_after in (1, 4, dice.randrange(8, 40), dice.randrange(40, 70)):
        reached = threading.Event()
        left = iter(range(kill_after))

        def before(_: str, left: Any = left, reached: threading.Event = reached) -> None:
            if next(left, None) is None:
                reached.set()

        decided = {url for (url,) in await rows(connection, "SELECT url FROM crawl_urls WHERE NOT waiting")}
        site.before, site.log = before, []
        process = harry(site, settings, "--allow-private", "--json")
        assert reached.wait(60)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=30)
        assert decided.isdisjoint(site.full(*(asked.path for asked in site.log)))
        await assert_index_is_exact(connection)
    site.before, site.log = None, []
    decided = {url for (url,) in await rows(connection, "SELECT url FROM crawl_urls WHERE NOT waiting")}
    code, report, err = finished(harry(site, settings, "--allow-private", "--json"))
    assert (code, err) == (ExitCode.PARTIAL, "")
    assert report["resumed"]
    assert report["run"] == 1
    assert decided.isdisjoint(site.full(*(asked.path for asked in site.log)))
    assert max(Counter(asked.path for asked in site.log).values()) == 1
    assert len(report["new"]) == 80, "also what a killed run stored and could not note down is new"
    assert len(report["duplicates"]) == 10
    assert list(report["failed"].values()) == [{"reason": "not_found", "why": "there is no page there"}]
    assert report["seen"] == PAGES + 1
    assert await rows(connection, "SELECT count(*) FROM documents") == [(80,)]
    await assert_index_is_exact(connection)

    site.taken()
    code, report, _ = finished(harry(site, settings, "--allow-private", "--json"))
    assert (len(report["unchanged"]), report["not_modified"], report["resumed"]) == (80, 90, False)
    assert Counter(status for _, status in site.taken().elements()) == {304: 90, 404: 4, 200: 1}


@pytest.mark.promise("RUN-6")
def test_the_command_speaks_to_people(site: Site, settings: Settings) -> None:
    site.page("/", prose("front"), "/docs/a", "/blog", "/missing", "/soft")
    site.page("/docs/a", prose("a"))
    site.page("/blog", prose("blog"), status=403)
    site.page("/soft", "Nothing here.", title="404 Not Found")
    refused = harry(site, settings)
    out, err = refused.communicate(timeout=60)
    assert (refused.returncode, out) == (ExitCode.USAGE, b"")
    assert err.startswith(b"harry: 127.0.0.1:")
    assert err.endswith(
        b" not fetched unless you allow it (--allow-private, or HARRY_INGEST__PRIVATE_ADDRESSES=true).\n"
    )
    shown = harry(site, settings, "--allow-private", "--depth", "4", "--pages", "9", "--prefix", "/")
    out, err = shown.communicate(timeout=60)
    assert (shown.returncode, err) == (ExitCode.PARTIAL, b"")
    assert out.decode() == (
        "5 addresses met; 2 chunks written\n"
        "2 new, 0 changed, 0 unchanged, 0 duplicates, 0 redirected, 0 gone, 1 refused, 2 failed, 0 blocked\n"
        "refused: 1 soft_404\n"
        f"failed: {site.url}/blog: the site refuses access\n"
        f"failed: {site.url}/missing: there is no page there\n"
    )
