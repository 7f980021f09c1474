"""MCP-1, ING-5: bringing documents in over a real stdio session, by handle, told by any process, gone on with."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from psycopg import AsyncConnection

from harry_mcp.settings import Settings, child_environment
from tests.ingest.crawl.site import Site, prose, serving
from tests.server.test_stdio import COMMAND, RawServer, structured, text_of
from tests.storage.recount import assert_index_is_exact, rows

pytestmark = [pytest.mark.promise("MCP-1"), pytest.mark.promise("ING-5")]


PAGES = 60  # more than are embedded at a time


@pytest.fixture
def environment(settings: Settings) -> dict[str, str]:
    return child_environment(
        HARRY_DATABASE_URL=settings.database_url.get_secret_value(),
        HARRY_LOG_LEVEL="INFO",
        HARRY_INGEST__PRIVATE_ADDRESSES="true",
        HARRY_CRAWL__DELAY="0",
        HARRY_CRAWL__RETRY_PAUSE="0.01",
    )


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(Site()) as found:
        yield found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Pages enough to be embedded for some seconds, one that cannot be read, one that is no document."""
    place = tmp_path / "docs"
    place.mkdir()
    for number in range(PAGES):
        (place / f"{number:02}.md").write_text(f"# Page {number}\n\n{prose(str(number), 350)}", encoding="utf-8")
    (place / "bad.md").write_bytes(b"\x00\x01\x02\x03" * 50)
    (place / "image.png").write_bytes(b"\x89PNG")
    return place


@pytest.fixture
def raw(environment: dict[str, str], tmp_path: Path) -> Iterator[RawServer]:
    server = RawServer(environment, tmp_path)
    yield server
    server.discard()


@asynccontextmanager
async def client(environment: dict[str, str]) -> AsyncGenerator[Client]:
    server = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=environment)
    async with Client(server) as opened:
        yield opened


async def ended(session: Client, ingestion_id: str) -> dict[str, Any]:
    """The ingestion when it runs no more."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        reply = structured(
            await session.call_tool("ingestion_status", {"ingestion_id": ingestion_id, "wait_seconds": 20})
        )
        (found,) = reply["ingestions"]
        if found["state"] != "running":
            return found
    raise AssertionError("it never ends")


async def test_a_small_source_comes_back_finished_and_is_found(environment: dict[str, str], tmp_path: Path) -> None:
    page = tmp_path / "keys.md"
    page.write_text("# API keys\n\nOpen Settings and press Rotate to get another API key.\n", encoding="utf-8")
    async with client(environment) as session:
        asked = {"source": str(page), "topic": " Help\n desk ", "wait_seconds": 20}
        result = await session.call_tool("ingest_source", asked)
        found = structured(result)
        assert (found["state"], found["new"], found["chunks"], found["attempts"]) == ("finished", 1, 1, 1)
        assert (found["done"], found["total"], found["problems"]) == (1, 1, [])
        assert (found["source"], found["topic"]) == (str(page), "Help desk")
        assert found["plan"] == f"Read the file {page}."
        assert found["finished_at"] >= found["started_at"]
        for fact in (found["ingestion_id"], "finished", found["plan"], found["next_step"], "1 new", found["topic"]):
            assert fact in text_of(result)
        hit = structured(await session.call_tool("search_kb", {"query": "How do I rotate an API key?"}))["hits"][0]
        assert (hit["title"], hit["topic"]) == ("API keys", "Help desk")
        again = structured(await session.call_tool("ingest_source", asked))
        assert again["ingestion_id"] != found["ingestion_id"]
        assert (again["state"], again["new"], again["unchanged"], again["chunks"]) == ("finished", 0, 1, 0)
        listed = structured(await session.call_tool("ingestion_status", {}))["ingestions"]
        assert [each["ingestion_id"] for each in listed] == [again["ingestion_id"], found["ingestion_id"]]


async def test_long_work_goes_by_handle_and_tells_how_far_it_is(environment: dict[str, str], folder: Path) -> None:
    told: list[list[tuple[float, float | None]]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told[-1].append((progress, total))

    async with client(environment) as session:
        await session.call_tool("search_kb", {"query": "anything"})  # the model is loaded by then
        started = time.monotonic()
        begun = structured(await session.call_tool("ingest_source", {"source": str(folder), "wait_seconds": 0}))
        assert time.monotonic() - started < 5
        assert begun["state"] == "running"
        assert "ingestion_status" in begun["next_step"]
        # The same source again: the handle of the first, and no second work
        second = structured(await session.call_tool("ingest_source", {"source": f"{folder}/./", "wait_seconds": 0}))
        assert second["ingestion_id"] == begun["ingestion_id"]
        while True:
            told.append([])
            reply = await session.call_tool(
                "ingestion_status",
                {"ingestion_id": begun["ingestion_id"], "wait_seconds": 20},
                progress_callback=note,
            )
            (found,) = structured(reply)["ingestions"]
            if found["state"] != "running":
                break
    assert (found["state"], found["new"], found["failed"], found["attempts"]) == ("finished", PAGES, 1, 1)
    assert (found["done"], found["total"]) == (PAGES + 1, PAGES + 1)
    assert found["problems"] == [
        {"kind": "failed", "source": (folder / "bad.md").as_uri(), "reason": found["problems"][0]["reason"]}
    ]
    assert "is a binary file" in found["problems"][0]["reason"]
    assert "Tell the user the problems" in found["next_step"]
    for steps in told:
        done = [step for step, _ in steps]
        assert done == sorted(set(done))
    assert sum(len(steps) for steps in told) > 1
    assert {total for steps in told for _, total in steps} <= {PAGES + 1, None}


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("kind", ["folder", "site"])
async def test_a_server_that_is_killed_leaves_an_interrupted_ingestion_that_goes_on(
    kind: str,
    environment: dict[str, str],
    folder: Path,
    site: Site,
    raw: RawServer,
    connection: AsyncConnection[Any],
) -> None:
    killed, left = threading.Event(), iter(range(PAGES // 2))
    site.page("/", prose("front"), *(f"/{number}" for number in range(1, PAGES + 1)))
    for number in range(1, PAGES):  # and the last one is missing
        site.page(f"/{number}", prose(f"page {number}"))

    def hold(_: str) -> None:
        """The site falls silent in the middle until the server is dead."""
        if next(left, None) is None:
            killed.wait(60)

    site.before = hold
    asked: dict[str, Any] = {"source": str(folder)} if kind == "folder" else {"source": site.url, "crawl": True}
    async with client(environment) as other:
        await other.call_tool("search_kb", {"query": "anything"})
        raw.initialize("2025-06-18")
        call = {"name": "ingest_source", "arguments": asked | {"wait_seconds": 0}}
        begun = raw.request("tools/call", call)["result"]["structuredContent"]
        while await rows(connection, "SELECT count(*) FROM documents") == [(0,)]:
            await other.call_tool("ingestion_status", {"ingestion_id": begun["ingestion_id"], "wait_seconds": 1})
        # Another process sees it running, and does not work on it too
        seen = structured(await other.call_tool("ingestion_status", {"ingestion_id": begun["ingestion_id"]}))
        joined = structured(await other.call_tool("ingest_source", asked | {"wait_seconds": 0}))
        assert [(each["state"], each["attempts"]) for each in seen["ingestions"]] == [("running", 1)]
        assert (joined["state"], joined["ingestion_id"]) == ("running", begun["ingestion_id"])
        raw.process.send_signal(signal.SIGKILL)
        raw.process.wait()
        killed.set()
        assert (await ended(other, begun["ingestion_id"]))["state"] == "interrupted"
        before = {name for (name,) in await rows(connection, "SELECT source FROM documents")}
        assert 0 < len(before) < PAGES
        site.before = None
        site.taken()
        again = structured(await other.call_tool("ingest_source", asked | {"wait_seconds": 20}))
        assert again["ingestion_id"] == begun["ingestion_id"]
        found = again if again["state"] != "running" else await ended(other, again["ingestion_id"])
    assert (found["state"], found["attempts"], found["failed"]) == ("finished", 2, 1)
    # Exact, also for what the killed process stored
    assert (found["new"], found["changed"], found["unchanged"]) == (PAGES, 0, 0)
    assert await rows(connection, "SELECT count(*), max(version) FROM documents") == [(PAGES, 1)]
    asked_again = {site.url + path for path, _ in site.taken()} & before
    assert len(asked_again) < len(before), "a crawl goes on with the addresses that wait"
    await assert_index_is_exact(connection)


async def test_a_host_that_leaves_interrupts_the_ingestion_and_nothing_else(
    environment: dict[str, str], folder: Path, connection: AsyncConnection[Any]
) -> None:
    before = set(psutil.Process().children())
    async with client(environment) as session:
        begun = structured(await session.call_tool("ingest_source", {"source": str(folder), "wait_seconds": 0}))
    assert not [child for child in set(psutil.Process().children()) - before if child.is_running()]
    async with client(environment) as session:
        (found,) = structured(await session.call_tool("ingestion_status", {}))["ingestions"]
        assert (found["ingestion_id"], found["state"]) == (begun["ingestion_id"], "interrupted")
    await assert_index_is_exact(connection)


@pytest.mark.promise("OPS-3")
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_postgresql_that_dies_interrupts_and_the_next_call_goes_on(folder: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="harry-tests-", ignore_cleanup_errors=True) as place:
        server = RawServer(child_environment(HARRY_DATA_DIR=place, HARRY_DATABASE_URL=""), Path(place))
        try:
            server.initialize("2025-06-18")

            def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
                result = server.request("tools/call", {"name": name, "arguments": arguments})["result"]
                assert not result.get("isError"), result
                return result["structuredContent"]

            begun = call("ingest_source", {"source": str(folder), "wait_seconds": 0})
            assert begun["state"] == "running"
            postmaster = (Path(place) / "postgres" / "cluster" / "postmaster.pid").read_text(encoding="utf-8")
            os.kill(int(postmaster.splitlines()[0]), signal.SIGKILL)
            asked = {"ingestion_id": begun["ingestion_id"], "wait_seconds": 20}
            (seen,) = call("ingestion_status", asked)["ingestions"]
            assert seen["state"] == "interrupted"
            found = call("ingest_source", {"source": str(folder), "wait_seconds": 20})
            assert found["ingestion_id"] == begun["ingestion_id"]
            while found["state"] == "running":
                asked = {"ingestion_id": found["ingestion_id"], "wait_seconds": 20}
                (found,) = call("ingestion_status", asked)["ingestions"]
            assert (found["state"], found["attempts"], found["new"]) == ("finished", 2, PAGES)
            server.close()
        finally:
            server.discard()


async def test_a_site_is_crawled_within_its_limits_and_reports_exactly(
    environment: dict[str, str], site: Site, connection: AsyncConnection[Any]
) -> None:
    site.page("/docs/", prose("front"), "/docs/a", "/docs/b", "/docs/missing", "/blog", "https://elsewhere.example/")
    site.page("/docs/a", prose("a"))
    site.page("/docs/b", prose("a"), title="Page /docs/a")
    asked = {"source": f"{site.url}/docs/", "crawl": True, "prefix": "docs", "topic": "Help", "wait_seconds": 20}
    async with client(environment) as session:
        result = await session.call_tool("ingest_source", asked)
        found = structured(result)
        assert found["state"] == "finished"
        assert found["plan"] == (
            f"Read the site of {site.url}/docs/ under /docs, at most 10,000 pages, as its robots.txt allows."
        )
        counts = {name: found[name] for name in ("new", "duplicates", "refused", "failed", "gone", "done", "total")}
        assert counts == {"new": 2, "duplicates": 1, "refused": 2, "failed": 1, "gone": 0, "done": 6, "total": 6}
        assert [(each["kind"], each["source"]) for each in found["problems"]] == [
            ("failed", f"{site.url}/docs/missing"),
            ("refused", f"{site.url}/blog"),
            ("refused", "https://elsewhere.example/"),
        ]
        assert f"failed: {site.url}/docs/missing: there is no page there" in text_of(result)
        assert await rows(connection, "SELECT DISTINCT topic FROM documents") == [("Help",)]
        del site.replies["/docs/a"], site.replies["/docs/b"]
        again = structured(await session.call_tool("ingest_source", asked))
        assert (again["gone"], again["unchanged"]) == (1, 1)
        gone = [each for each in again["problems"] if each["kind"] == "gone"]
        assert [each["source"] for each in gone] == [f"{site.url}/docs/a"]
        few = structured(await session.call_tool("ingest_source", asked | {"pages": 1}))
        assert "at most one page" in few["plan"]


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"source": ""}, "source must be a web address or an absolute path"),
    ({"source": "docs/a.md"}, "'docs/a.md' is neither a web address nor an absolute path"),
    ({"source": "docs.example.com"}, "Pass an address with http:// or https://"),
    ({"source": "/no/such/file.md"}, "There is no file or folder /no/such/file.md on the machine of this server"),
    ({"source": "/tmp", "crawl": True}, "A crawl starts at a web address"),
    ({"source": "/tmp", "pages": 5}, "pages and prefix are for a whole site"),
    ({"source": "https://example.com/", "prefix": "/docs"}, "pages and prefix are for a whole site"),
    ({"source": "https://example.com/", "prefix": "/docs", "crawl": True}, "is not under /docs"),
    ({"source": "https://user:hush@example.com/"}, "holds a user name or password"),
    ({"source": "https://"}, "is not an http or https address"),
    ({"source": "https://x.org/\x07a"}, "source must be a web address"),
    ({"source": "https://x.org/", "wait_seconds": 60}, "0 to 20"),
]


@pytest.mark.promise("MCP-3")
async def test_what_cannot_be_brought_in_is_refused_with_what_to_do(
    environment: dict[str, str], connection: AsyncConnection[Any]
) -> None:
    async with client(environment) as session:
        for arguments, sentence in REFUSED:
            result = await session.call_tool("ingest_source", arguments)
            assert result.is_error, arguments
            assert sentence in text_of(result), arguments
            assert "hush" not in text_of(result)
        unknown = await session.call_tool("ingestion_status", {"ingestion_id": "ing_none"})
        assert unknown.is_error
        assert "Leave the id out" in text_of(unknown)
    assert await rows(connection, "SELECT count(*) FROM ingestions") == [(0,)]


@pytest.mark.promise("ING-2")
async def test_private_addresses_and_local_files_can_be_shut_off(
    environment: dict[str, str], site: Site, tmp_path: Path
) -> None:
    site.page("/", prose("front"))
    (tmp_path / "a.md").write_text("words", encoding="utf-8")
    shut = environment | {"HARRY_INGEST__PRIVATE_ADDRESSES": "", "HARRY_INGEST__LOCAL_PATHS": "false"}
    async with client(shut) as session:
        for crawl in (False, True):
            found = structured(
                await session.call_tool("ingest_source", {"source": site.url, "crawl": crawl, "wait_seconds": 20})
            )
            assert found["state"] == "failed"
            assert "127.0.0.1" in found["error"]
            assert "is a private address" in found["error"]
            assert "Tell the user the error" in found["next_step"]
        assert not site.log
        refused = await session.call_tool("ingest_source", {"source": str(tmp_path / "a.md")})
        assert refused.is_error
        assert "reads web addresses only" in text_of(refused)
