"""CUR-3: dead sources are found, and no page is flagged for one bad day."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from harry_mcp.domain.documents import DocumentStatus, SourceDocument
from harry_mcp.domain.rot import CheckState, RotSignal
from harry_mcp.domain.search import SearchFilters
from tests.stages.curate.knowledge import Knowledge
from tests.stages.curate.sources import Asked, Page, Says, Site, by_method, moved, serving

pytestmark = pytest.mark.promise("CUR-3")
DEAD = RotSignal.DEAD_SOURCE


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with serving(Site()) as found:
        yield found


async def add(knowledge: Knowledge, site: Site, pages: dict[str, Page]) -> None:
    """Documents that were read from these pages, titled by their paths."""
    site.pages |= pages
    await knowledge.add(*(page(site.url, path) for path in pages))


def page(base: str, path: str) -> SourceDocument:
    url = base + path
    return SourceDocument(source=url, title=path, url=url, text=f"What the page {path} says.", language="en")


async def test_what_is_gone_or_elsewhere_is_flagged_at_once(knowledge: Knowledge, site: Site) -> None:
    other = f"http://localhost:{site.port}/there"
    await add(
        knowledge,
        site,
        {
            "/there": Says(),
            "/404": Says(404),
            "/410": Says(410),
            "/elsewhere": moved(other),
            "/elsewhere-for-now": moved("https://other.example/page", 302),
            "/by-a-detour": moved("/elsewhere"),
            "/to-nothing": moved("/404", 308),
        },
    )
    report = await knowledge.check(DEAD)
    dead = ["/404", "/410", "/by-a-detour", "/elsewhere", "/elsewhere-for-now", "/to-nothing"]
    assert await knowledge.flagged() == dead
    assert (report.state, report.examined, report.flagged, report.left) == (CheckState.DONE, 7, 6, 0)
    assert report.counts == {"alive": 1, "dead": 6, "gone": 3, "moved_to_another_site": 3}
    assert len(report.examples) == 6
    gone = await knowledge.detail("/410")
    assert (gone["kind"], gone["status"], gone["since"]) == ("gone", 410, "2026-03-02")
    assert gone["evidence"] == [
        {"day": "2026-03-02", "method": "GET", "status": 410, "reason": "the page is gone for good"}
    ]
    assert (await knowledge.detail("/by-a-detour"))["location"] == other
    assert "localhost" not in {asked.host.partition(":")[0] for asked in site.asked}, "another site is never asked"


ALIVE: dict[str, Page] = {
    "/there": Says(),
    "/renamed": moved("/there"),
    "/twice-renamed": moved("/renamed", 302),
    "/with-slash": moved("/with-slash/", 307),
    "/with-slash/": Says(),
    "/head-405": by_method(head=Says(405), get=Says(206)),
    "/head-501": by_method(head=Says(501), get=Says()),
    "/head-403": by_method(head=Says(403), get=Says()),
    "/head-404": by_method(head=Says(404), get=Says()),
    "/head-500": by_method(head=Says(500), get=Says()),
    "/head-resets": by_method(head=Says(resets=True), get=Says()),
    "/head-leads-away": by_method(head=moved("https://other.example/"), get=Says()),
    "/short": by_method(head=Says(405), get=Says(416)),
    "/not-modified": Says(304),
}


async def test_what_is_there_in_whatever_way_is_not_flagged(knowledge: Knowledge, site: Site) -> None:
    await add(knowledge, site, ALIVE)
    for _ in range(5):
        report = await knowledge.check(DEAD)
        assert report.counts == {"alive": len(ALIVE)}
        knowledge.later(days=1)
    assert await knowledge.flagged() == []
    ranged = [asked for asked in site.asked if asked.method == "GET"]
    assert ranged
    assert {asked.range for asked in ranged} == {"bytes=0-0"}


UNCLEAR: dict[str, Page] = {
    "/401": Says(401),
    "/403": Says(403),
    "/429": Says(429),
    "/500": Says(500),
    "/503": Says(503),
    "/resets": Says(resets=True),
    "/circle": moved("/circle-2"),
    "/circle-2": moved("/circle"),
    "/itself": moved("/itself"),
    "/no-address": moved("mailto:someone@example.com"),
    "/teapot": Says(418),
}


async def test_a_bad_day_or_two_say_nothing_and_several_do(knowledge: Knowledge, site: Site) -> None:
    await add(knowledge, site, UNCLEAR | {"/there": Says()})
    for day in range(3):
        assert await knowledge.flagged() == []
        # However often it is run on one day, it is one day
        for hour in (0, 1, 11):
            knowledge.now = knowledge.now.replace(hour=3 + hour)
            report = await knowledge.check(DEAD)
            assert report.examined == (len(UNCLEAR) + 1 if hour == 0 else 0), day
        knowledge.now = knowledge.now.replace(hour=3)
        if day < 2:
            knowledge.later(days=1)
    assert await knowledge.flagged() == sorted(UNCLEAR)
    detail = await knowledge.detail("/500")
    assert (detail["kind"], detail["days"], detail["since"], detail["status"]) == ("unreachable", 3, "2026-03-02", 500)
    assert [each["day"] for each in detail["evidence"]] == ["2026-03-04", "2026-03-03", "2026-03-02"]


@pytest.mark.parametrize("hosts", [1, 3])
async def test_when_our_own_network_is_down_nothing_is_held_against_any_page(knowledge: Knowledge, hosts: int) -> None:
    await knowledge.add(*(page(f"http://no-such-host-{number}.invalid", f"/{number}") for number in range(hosts)))
    for _ in range(4):
        report = await knowledge.check(DEAD)
        assert (report.state, report.examined, report.left) == (CheckState.FAILED, 0, hosts)
        assert "no network" in report.error
        knowledge.later(days=1)
    assert await knowledge.rows("SELECT count(*) FROM source_checks") == [(0,)]
    assert await knowledge.flagged() == []


async def test_silence_counts_when_the_network_is_known_to_be_there(knowledge: Knowledge, site: Site) -> None:
    knowledge.set(probe_timeout=0.2)
    await knowledge.add(page("http://no-such-host.invalid", "/page"))
    await add(knowledge, site, {"/slow": Says(hangs=True)})
    for _ in range(3):
        assert await knowledge.flagged() == []
        assert (await knowledge.check(DEAD)).state is CheckState.DONE
        knowledge.later(days=1)
    assert await knowledge.flagged() == ["/page", "/slow"]
    assert (await knowledge.detail("/slow"))["reason"] == "it did not answer within 0.2 seconds"
    assert "cannot be found" in (await knowledge.detail("/page"))["reason"]


async def test_a_server_that_is_down_and_one_without_a_good_certificate_need_no_other_to_bear_it_out(
    knowledge: Knowledge, site: Site, unused_tcp_port: int
) -> None:
    """A connection that is refused, and a broken handshake, come from a server and not from a network that is down."""
    await knowledge.add(page(f"http://127.0.0.1:{unused_tcp_port}", "/down"))
    await knowledge.add(page(f"https://127.0.0.1:{site.port}", "/tls"))
    for _ in range(3):
        assert await knowledge.flagged() == []
        report = await knowledge.check(DEAD)
        assert (report.state, report.counts) == (CheckState.DONE, {"unclear": 2})
        knowledge.later(days=1)
    assert await knowledge.flagged() == ["/down", "/tls"]
    assert (await knowledge.detail("/tls"))["reason"] == "no encrypted connection to it comes about"
    assert (await knowledge.detail("/down"))["reason"] == "it refuses connections"


async def test_a_network_that_wants_a_login_first_moves_no_site(knowledge: Knowledge) -> None:
    """Every host seems to redirect to one other host: that is the network's own page."""
    async with serving(Site()) as one, serving(Site()) as two, serving(Site()) as three:
        for each in (one, two, three):
            each.pages["/page"] = moved("http://login.example/hotel", 302)
            await knowledge.add(page(each.url, "/page"))
        report = await knowledge.check(DEAD)
        assert (report.state, report.examined, report.left) == (CheckState.FAILED, 0, 3)
        assert "login.example" in report.error
        assert await knowledge.flagged() == []
        # One that answers for itself shows that the others did move.
        three.pages["/page"] = Says()
        assert (await knowledge.check(DEAD)).state is CheckState.DONE
        assert await knowledge.flagged() == ["/page", "/page"]


async def test_a_redirect_to_the_home_page_is_doubtful_and_flags_on_several_days(
    knowledge: Knowledge, site: Site
) -> None:
    pages: dict[str, Page] = {
        "/": Says(),
        "/de/": Says(),
        "/404.html": Says(),
        "/guide": Says(),
        "/dropped": moved("/"),
        "/dropped-too": moved("/de/", 302),
        "/dropped-three": moved("/404.html"),
        "/renamed": moved("/guide"),
        "/index.html": moved("/"),
    }
    await add(knowledge, site, pages)
    for _ in range(3):
        assert await knowledge.flagged() == []
        await knowledge.check(DEAD)
        knowledge.later(days=1)
    assert await knowledge.flagged() == ["/dropped", "/dropped-three", "/dropped-too"]
    detail = await knowledge.detail("/dropped")
    assert (detail["kind"], detail["days"]) == ("unreachable", 3)
    assert "stands for all that is gone" in detail["reason"]


async def test_a_silent_host_is_not_asked_for_every_page(knowledge: Knowledge, site: Site) -> None:
    knowledge.set(probe_timeout=0.2)
    await add(knowledge, site, {f"/{number}": Says(hangs=True) for number in range(30)})
    report = await knowledge.check(DEAD)
    assert report.counts == {"unclear": 30}
    assert len({asked.path for asked in site.asked}) <= 8
    # One that falls silent in the middle is left alone: it may be us that it does not want.
    knowledge.later(days=1)
    site.asked.clear()
    left = 3

    def some(asked: Asked) -> Says:
        nonlocal left
        left -= 1
        return Says() if left >= 0 else Says(hangs=True)

    site.pages |= {f"/{number}": some for number in range(30)}
    report = await knowledge.check(DEAD)
    assert report.state is CheckState.PARTIAL
    assert report.examined < 12
    assert await knowledge.flagged() == []


async def test_a_source_that_comes_back_begins_anew(knowledge: Knowledge, site: Site) -> None:
    await add(knowledge, site, {"/flaky": Says(500), "/there": Says()})
    for status in (500, 500, 200, 500, 503, 200, 500, 500):
        site.pages["/flaky"] = Says(status)
        await knowledge.check(DEAD)
        knowledge.later(days=1)
    assert await knowledge.flagged() == []
    await knowledge.check(DEAD)
    assert await knowledge.flagged() == ["/flaky"]
    assert (await knowledge.detail("/flaky"))["days"] == 3


async def test_the_same_absence_flags_once_and_another_one_again(knowledge: Knowledge, site: Site) -> None:
    await add(knowledge, site, {"/page": Says(404)})
    (document_id,) = (await knowledge.rows("SELECT id FROM documents"))[0]
    first = await knowledge.check(DEAD)
    knowledge.later(days=1)
    again = await knowledge.check(DEAD)
    assert (first.flagged, again.flagged, again.logged, again.known) == (1, 0, 0, 1)
    # A curator approves it in the face of that
    async with knowledge.app.database.transaction() as unit:
        await unit.documents.set_status(document_id, DocumentStatus.LIVE)
    site.pages["/page"] = Says(500)
    knowledge.later(days=1)
    await knowledge.check(DEAD)
    assert await knowledge.flagged() == []
    for status in (200, 410):
        site.pages["/page"] = Says(status)
        knowledge.later(days=1)
        await knowledge.check(DEAD)
    assert await knowledge.flagged() == ["/page"]
    assert await knowledge.signals() == [("/page", "dead_source")] * 2


@pytest.mark.promise("MCP-13")
async def test_answers_say_since_when_the_source_is_dead_until_it_is_back(knowledge: Knowledge, site: Site) -> None:
    await add(knowledge, site, {"/page": Says(410)})
    await knowledge.check(DEAD)
    flagged = "This document is flagged for review: it may be out of date or wrong."
    dead = "Its source is gone since 2026-03-02 (it answers 410). Nobody has checked it since."
    assert await caveats(knowledge) == (flagged, dead)
    site.pages["/page"] = Says()
    knowledge.later(days=1)
    report = await knowledge.check(DEAD)
    assert report.counts == {"alive": 1, "recovered": 1}
    assert await caveats(knowledge) == (flagged,)
    assert await knowledge.rows("SELECT event FROM kb_curation_log ORDER BY id") == [("flag",), ("recovered",)]


async def caveats(knowledge: Knowledge) -> tuple[str, ...]:
    result = await knowledge.app.loop.search("What does the page say?", filters=SearchFilters(), record=False)
    read = await knowledge.app.loop.read(result.hits[0].passage.document_id, offset=0, limit=10)
    assert read.caveats == result.hits[0].caveats
    return read.caveats


async def test_a_site_that_turns_us_away_is_told_once_and_not_held_against_its_pages(
    knowledge: Knowledge, site: Site
) -> None:
    await add(knowledge, site, {f"/{number}": Says(403) for number in range(6)})
    for _ in range(5):
        report = await knowledge.check(DEAD)
        assert report.counts == {"unclear": 6, "hosts_that_refuse_us": 1}
        knowledge.later(days=1)
    assert await knowledge.flagged() == []
    site.pages["/5"] = Says()
    await knowledge.check(DEAD)
    assert await knowledge.flagged() == [f"/{number}" for number in range(5)]


async def test_a_host_that_asks_for_silence_gets_it(knowledge: Knowledge, site: Site) -> None:
    knowledge.set(probe_per_host=1)
    busy = Says(429, {"retry-after": "7200"})
    await add(knowledge, site, {"/a": busy, "/b": Says(), "/c": Says(404)})
    report = await knowledge.check(DEAD)
    assert site.taken() == [("HEAD", "/a")]
    assert (report.state, report.examined, report.left) == (CheckState.PARTIAL, 1, 2)
    knowledge.later(hours=1)
    assert (await knowledge.check(DEAD)).examined == 0
    assert site.taken() == []
    knowledge.later(hours=1.1)
    assert (await knowledge.check(DEAD)).examined == 2
    assert {path for _, path in site.taken()} == {"/b", "/c"}
    assert await knowledge.flagged() == ["/c"]


async def test_a_short_silence_is_waited_for(knowledge: Knowledge, site: Site) -> None:
    knowledge.set(longest_wait=5.0)
    left = [Says(503, {"retry-after": "0"})]
    await add(knowledge, site, {"/a": lambda _: left.pop() if left else Says()})
    report = await knowledge.check(DEAD)
    assert report.counts == {"alive": 1}
    assert site.taken() == [("HEAD", "/a"), ("HEAD", "/a")]


async def test_a_host_that_goes_on_refusing_is_left_alone_for_a_while(knowledge: Knowledge, site: Site) -> None:
    knowledge.set(probe_per_host=1)
    await add(knowledge, site, {f"/{number}": Says(429) for number in range(8)})
    report = await knowledge.check(DEAD)
    assert (report.examined, report.left) == (3, 5)


async def test_requests_to_a_host_are_few_at_a_time(knowledge: Knowledge, site: Site) -> None:
    await add(knowledge, site, {f"/{number}": Says() for number in range(20)})
    await knowledge.check(DEAD)
    assert len(site.asked) == 20
    assert site.most_at_once == 2


async def test_a_run_is_bounded_and_the_next_goes_on(knowledge: Knowledge, site: Site) -> None:
    knowledge.set(probe_urls=4)
    await add(knowledge, site, {f"/{number}": Says(404) for number in range(10)})
    examined = [(await knowledge.check(DEAD)).examined for _ in range(4)]
    assert examined == [4, 4, 2, 0]
    assert len(await knowledge.flagged()) == 10
    knowledge.later(days=1)
    assert (await knowledge.check(DEAD, seconds=1e-9)).state is CheckState.PARTIAL


async def test_private_addresses_are_never_asked(knowledge: Knowledge, site: Site) -> None:
    knowledge.allow_private = False
    await add(knowledge, site, {"/404": Says(404)})
    await knowledge.add(page("http://10.0.0.7", "/intranet"), page(f"http://localhost:{site.port}", "/name"))
    for _ in range(5):
        for _ in range(2):  # whoever asks again on that day is told the same
            report = await knowledge.check(DEAD)
            assert (report.state, report.examined, report.left, report.skipped) == (CheckState.DONE, 0, 0, 3)
            assert report.note.startswith("3 not asked because they are private addresses: set HARRY_INGEST__PRIVATE_")
        knowledge.later(days=1)
    assert site.asked == []
    assert await knowledge.flagged() == []


async def test_what_was_skipped_is_asked_on_the_same_day_once_it_may_be(knowledge: Knowledge, site: Site) -> None:
    knowledge.allow_private = False
    await add(knowledge, site, {"/404": Says(404), "/there": Says()})
    await knowledge.add(page(f"http://name:word@localhost:{site.port}", "/login"))
    report = await knowledge.check(DEAD)
    assert (report.skipped, report.examined) == (3, 0)
    assert report.note.endswith("1 not asked because they are no web addresses, or hold a password")
    knowledge.allow_private = True
    report = await knowledge.check(DEAD)
    assert (report.state, report.examined, report.left, report.skipped) == (CheckState.DONE, 2, 0, 1)
    assert await knowledge.flagged() == ["/404"]
    assert (await knowledge.check(DEAD)).examined == 0, "and once is enough"


async def test_documents_without_a_web_address_and_those_that_nobody_sees_are_left(
    knowledge: Knowledge, site: Site
) -> None:
    await add(knowledge, site, {"/archived": Says(404)})
    (document_id,) = (await knowledge.rows("SELECT id FROM documents"))[0]
    async with knowledge.app.database.transaction() as unit:
        await unit.documents.set_status(document_id, DocumentStatus.ARCHIVED)
    await knowledge.add(SourceDocument(source="file:///a.md", title="file", text="A file."))
    assert (await knowledge.check(DEAD)).examined == 0
    assert site.asked == []


async def test_the_paths_that_a_real_site_dropped(knowledge: Knowledge, site: Site, shared_data: Path) -> None:
    """Deleted pages answer 404 or 410; renamed ones redirect within the site and live on."""
    lines = (shared_data / "plausible" / "dead_paths.jsonl").read_text(encoding="utf-8").splitlines()
    dropped = [json.loads(line) for line in lines]
    pages: dict[str, Page] = {}
    for place, row in enumerate(dropped):
        path = urlsplit(str(row["url"])).path
        if row["status"] == "renamed":
            pages[path] = moved(urlsplit(str(row["now_url"])).path)
        else:
            pages[path] = Says(404 if place % 2 else 410)
    await add(knowledge, site, pages)
    kept = [
        json.loads(line)
        for line in (shared_data / "plausible" / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    live = {urlsplit(str(row["url"])).path: Says() for row in kept}
    site.pages |= live
    await knowledge.add(*(page(site.url, path) for path in live))
    await knowledge.check(DEAD)
    deleted = {urlsplit(str(row["url"])).path for row in dropped if row["status"] == "deleted"}
    assert set(await knowledge.flagged()) == deleted - live.keys()


async def test_a_page_is_only_its_own_evidence(knowledge: Knowledge, site: Site) -> None:
    """Two documents of one address are flagged together, one of another address is not."""
    await add(knowledge, site, {"/a": Says(404), "/b": Says()})
    copy = SourceDocument(source="file:///copy.md", title="copy", url=f"{site.url}/a", text="A copy of a.")
    await knowledge.add(copy)
    await knowledge.check(DEAD)
    assert await knowledge.flagged() == ["/a", "copy"]
    assert [asked.path for asked in site.asked].count("/a") == 2, "HEAD and GET, once for both"


async def test_the_host_header_and_hops_stay_on_the_site(knowledge: Knowledge, site: Site) -> None:
    seen: list[str] = []

    def note(asked: Asked) -> Says:
        seen.append(asked.host)
        return moved("//127.0.0.1:1/else")

    await add(knowledge, site, {"/a": note})
    await knowledge.check(DEAD)
    assert set(seen) == {f"127.0.0.1:{site.port}"}
    assert (await knowledge.detail("/a"))["kind"] == "moved"
