"""run_rot_checks over the protocol: what it does, says, and leaves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from harry_mcp.app import App
from harry_mcp.domain.documents import SourceDocument
from harry_mcp.settings import Settings, child_environment
from tests.cli.test_commands import harry
from tests.server.test_stdio import COMMAND, structured, text_of
from tests.stages.curate.sources import Says, Site, serving

pytestmark = [pytest.mark.promise("MCP-1"), pytest.mark.promise("CUR-3")]
ALL = ["stale", "contradiction", "dead_source", "negative_feedback"]


@pytest.fixture
async def site(app: App) -> AsyncIterator[Site]:
    async with serving(Site()) as found:
        found.pages["/there"] = Says()
        pages = [
            SourceDocument(
                source=found.url + path, url=found.url + path, title=f"Page {path}", text=f"{path} speaks of keys."
            )
            for path in ("/there", "/gone")
        ]
        await app.ingester.ingest(pages)
        yield found


@asynccontextmanager
async def client(settings: Settings, **environment: str) -> AsyncGenerator[Client]:
    given = child_environment(
        **{
            "HARRY_DATABASE_URL": settings.database_url.get_secret_value(),
            "HARRY_INGEST__PRIVATE_ADDRESSES": "true",
            "HARRY_CURATE__PROBE_DELAY": "0",
        }
        | environment,
    )
    async with Client(StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=given)) as opened:
        yield opened


async def test_checks_run_and_say_what_they_found(settings: Settings, site: Site) -> None:
    async with client(settings) as session:
        result = await session.call_tool("run_rot_checks", {})
        found, text = structured(result), text_of(result)
        assert [check["signal"] for check in found["checks"]] == ALL
        assert {check["state"] for check in found["checks"]} == {"done"}
        dead = found["checks"][2]
        assert (found["flagged"], dead["flagged"], dead["examined"], dead["left"]) == (1, 1, 2, 0)
        assert dead["counts"] == {"alive": 1, "dead": 1, "gone": 1}
        assert (dead["waiting"], dead["precision"]) == (1, -1.0)
        (example,) = dead["examples"]
        assert example["title"] == "Page /gone"
        assert "answers 404 since" in example["why"]
        assert "list_review_queue" in found["next_step"]
        for fact in (example["document_id"], example["why"], "1 document newly flagged", "alive 1", "waiting"[:4]):
            assert fact in text
        again = structured(await session.call_tool("run_rot_checks", {"signals": ["dead_source"]}))
        assert [(check["signal"], check["examined"]) for check in again["checks"]] == [("dead_source", 0)]
        assert again["next_step"] == "Nothing new speaks against any document."
        hits = structured(await session.call_tool("search_kb", {"query": "Which page speaks of keys?"}))["hits"]
        told = {hit["title"]: hit["caveats"] for hit in hits}
        assert told["Page /there"] == []
        assert "it answers 404" in told["Page /gone"][1]


async def test_what_may_not_be_asked_is_told_with_the_setting(settings: Settings, site: Site) -> None:
    name = "HARRY_INGEST__PRIVATE_ADDRESSES"
    async with client(settings, **{name: "false"}) as session:
        result = await session.call_tool("run_rot_checks", {"signals": ["dead_source"]})
    (check,) = structured(result)["checks"]
    assert (check["state"], check["examined"], check["left"], check["skipped"]) == ("done", 0, 0, 2)
    assert check["note"] in text_of(result)
    assert name in check["note"]
    assert "Tell the user the note" in structured(result)["next_step"]
    url = settings.database_url.get_secret_value()
    done = await asyncio.to_thread(harry, "jobs", "run", "rot_dead_source", HARRY_DATABASE_URL=url)
    assert f"2 not asked because they are private addresses: set {name}" in done.out


async def test_what_does_not_end_in_time_says_so_and_goes_on(settings: Settings, site: Site) -> None:
    site.pages["/gone"] = Says(hangs=True)
    async with client(settings, HARRY_CURATE__PROBE_PER_HOST="1", HARRY_CURATE__PROBE_TIMEOUT="1.2") as session:
        result = await session.call_tool("run_rot_checks", {"signals": ["dead_source"], "seconds": 1})
        (check,) = structured(result)["checks"]
        assert (check["state"], check["examined"], check["left"]) == ("partial", 1, 1)
        assert "Call run_rot_checks again" in structured(result)["next_step"]
        (rest,) = structured(await session.call_tool("run_rot_checks", {"signals": ["dead_source"]}))["checks"]
        assert (rest["state"], rest["examined"], rest["left"]) == ("done", 1, 0)


@pytest.mark.promise("MCP-3")
async def test_only_curators_see_it_and_wrong_arguments_are_refused(settings: Settings, site: Site) -> None:
    async with client(settings, HARRY_ROLE="contributor") as session:
        assert "run_rot_checks" not in [tool.name for tool in (await session.list_tools()).tools]
        assert (await session.call_tool("run_rot_checks", {})).is_error
    async with client(settings, HARRY_ROLE="curator") as session:
        for arguments in ({"signals": ["rust"]}, {"seconds": 0}, {"seconds": 60}, {"signals": ["stale"] * 5}):
            assert (await session.call_tool("run_rot_checks", arguments)).is_error
    assert site.asked == []
