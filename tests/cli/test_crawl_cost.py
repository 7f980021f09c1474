"""RUN-6, ING-4: what a crawl will cost is judged by some pages, asked for, capped, and told in the report."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from harry_mcp.cli.console import ExitCode
from harry_mcp.settings import Settings
from tests.cli.test_commands import Done, harry
from tests.ingest.crawl.site import Site, prose, serving, sitemap
from tests.ingest.test_situating import good
from tests.providers.test_voyage import vectors
from tests.providers.vendor import Answer, Asked, Vendor, vendor

pytestmark = [pytest.mark.promise("RUN-6"), pytest.mark.promise("ING-4")]

PAGES = 8


def answering(asked: Asked, number: int) -> Answer:
    return vectors(asked) if asked.path == "/embeddings" else good(asked, number)


@pytest.fixture
async def server() -> AsyncIterator[Vendor]:
    async with vendor(answering) as running:
        yield running


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(Site()) as found:
        found.page("/", prose("front", 200), *(f"/{number}" for number in range(1, PAGES)))
        for number in range(1, PAGES):
            found.page(f"/{number}", prose(f"page {number}", 200))
        found.put("/sitemap.xml", sitemap(*found.full("/", *(f"/{number}" for number in range(1, PAGES)))))
        yield found


class Crawl:
    def __init__(self, settings: Settings, site: Site, **environment: str) -> None:
        self._site = site
        self.environment = {
            "HARRY_DATABASE_URL": settings.database_url.get_secret_value(),
            "HARRY_CRAWL__DELAY": "0",
            **environment,
        }

    async def __call__(self, *arguments: str, **environment: str) -> Done:
        command = ("crawl", self._site.url, "--allow-private", *arguments)
        return await asyncio.to_thread(harry, *command, **self.environment, **environment)


async def test_without_a_key_there_is_nothing_to_pay_and_nobody_is_asked(settings: Settings, site: Site) -> None:
    crawl = Crawl(settings, site)
    free = await crawl("--estimate", "--topic", "Help")
    assert (free.code, free.err) == (0, "")
    assert free.out.startswith(
        f"About {PAGES} pages to write, as the site lists them; 0 more are stored already. Judged by 5 of them, about "
    )
    assert "Nothing to pay" in free.out
    site.taken()
    done = await crawl("--json", "--topic", "Help")
    assert (done.code, len(done.json["new"])) == (0, PAGES)
    assert (done.json["spent"], done.json["allowance"], done.json["template_contexts"]) == (0.0, 0.0, {})
    assert max(site.taken().values()) == 1, "where nothing is to be paid no page is read to judge it"
    again = await crawl("--estimate", "--topic", "Help", "--json")
    assert (again.json["documents"], again.json["stored"], again.json["basis"]) == (0, PAGES, "listed")
    assert len((await crawl("--fresh", "--topic", "Help", "--json")).json["unchanged"]) == PAGES


async def test_contexts_are_asked_for_capped_and_told(settings: Settings, site: Site, server: Vendor) -> None:
    crawl = Crawl(settings, site, ANTHROPIC_API_KEY="sk-ant-hush", HARRY_CLAUDE__BASE_URL=server.url)
    estimate = (await crawl("--estimate", "--json")).json
    assert (estimate["documents"], estimate["sampled"], estimate["model"]) == (PAGES, 5, "claude-haiku-5-5")
    assert 0 < estimate["dollars"] < 0.1
    most = (await crawl("--estimate", "--pages", "5000")).out
    assert most.startswith(f"About {PAGES} pages to write")
    refused = await crawl(HARRY_INGEST__ASK_ABOVE="0.00001")
    assert (refused.code, refused.out) == (ExitCode.USAGE, "")
    assert "over the $0.00 of HARRY_INGEST__ASK_ABOVE. Pass --yes to allow it, or --estimate" in refused.err
    assert server.asked == []
    done = await crawl()
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[-1] == "Contexts cost $0.00 of the $1.00 that may be without asking."
    told = (await crawl("--fresh", "--json")).json
    assert (told["allowance"], told["spent"]) == (1.0, 0.0)
    assert "hush" not in done.out


async def test_a_site_that_lists_nothing_is_judged_by_its_limit_and_yes_lifts_the_cap(
    settings: Settings, site: Site, server: Vendor
) -> None:
    del site.replies["/sitemap.xml"]
    crawl = Crawl(settings, site, ANTHROPIC_API_KEY="sk-ant-hush", HARRY_CLAUDE__BASE_URL=server.url)
    most = await crawl("--estimate", "--pages", "5000")
    assert most.out.startswith(
        "At most 5,000 pages to write, for the site lists none, and that is the limit (--pages); 0 more are stored "
    )
    limit = {"HARRY_INGEST__ASK_ABOVE": "0.05"}
    refused = await crawl("--pages", "5000", **limit)
    assert refused.code == ExitCode.USAGE
    # Few pages may be judged cheap, and then cost more: the cap holds
    capped = await crawl("--pages", "3", "--json", HARRY_INGEST__ASK_ABOVE="0.003")
    assert capped.json["spent"] < 0.01
    done = await crawl("--pages", "5000", "--yes", "--json", **limit)
    assert (done.code, done.json["allowance"]) == (0, -1.0)
    assert done.json["template_contexts"] == {}


async def test_vectors_of_voyage_are_asked_for_too(settings: Settings, site: Site, server: Vendor) -> None:
    crawl = Crawl(
        settings,
        site,
        VOYAGE_API_KEY="pa-hush",
        HARRY_VOYAGE__BASE_URL=server.url,
        HARRY_VOYAGE__DIMENSION="256",
    )
    moved = await asyncio.to_thread(harry, "reembed", **crawl.environment)
    assert moved.code == 0
    asked = await crawl(HARRY_INGEST__ASK_ABOVE="0.0000001")
    assert asked.code == ExitCode.USAGE
    assert server.asked == []
    estimate = (await crawl("--estimate")).out
    assert "Vectors by voyage-3.5: about " in estimate
    done = await crawl("--yes", "--json", HARRY_INGEST__ASK_ABOVE="0.0000001")
    assert (done.code, len(done.json["new"])) == (0, PAGES)
