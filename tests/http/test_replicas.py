"""OPS-6, MCP-6: three servers on one PostgreSQL behind a plain load balancer; nobody notices which one answers."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitRequestParams, ElicitResult
from psycopg import AsyncConnection

from harry_mcp.app import App
from harry_mcp.domain.documents import SourceDocument
from harry_mcp.settings import Settings
from tests.console.served import TOKEN, Browser, Served, served, started, with_database
from tests.console.test_gates import ACCEPT
from tests.http.proxy import RoundRobin, balancing
from tests.server.test_stdio import structured

pytestmark = [
    pytest.mark.promise("OPS-6"),
    pytest.mark.promise("MCP-6"),
    pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX"),
]

KEYS = "a secret of the tests that all replicas share"
ENVIRONMENT = {"HARRY_HTTP__STATE_KEYS": KEYS, "HARRY_HTTP__REPLICAS": "3", "HARRY_HTTP__CALLS_PER_MINUTE": "0"}
CLIENTS = 6
QUESTION = "Which page speaks of keys?"


@pytest.fixture
def replicas(settings: Settings, tmp_path: Path) -> Generator[list[Served]]:
    given = {**with_database(settings), **ENVIRONMENT}
    with ExitStack() as stack:
        starting = [stack.enter_context(started(tmp_path, "--port", "0", **given)) for _ in range(3)]
        yield [server.up() for server in starting]


@pytest.fixture
async def proxy(replicas: list[Served]) -> AsyncGenerator[RoundRobin]:
    async with balancing(*(replica.base for replica in replicas)) as opened:
        yield opened


async def ingest(app: App, number: int) -> list[str]:
    pages = [
        SourceDocument(source=f"test:{n}", title=f"Page {n}", language="en", text=f"Page {n} speaks of keys.")
        for n in range(number)
    ]
    await app.ingester.ingest(pages)
    return [page.id for page in pages]


@asynccontextmanager
async def client(base: str, mode: str, *, token: str = TOKEN, **options: Any) -> AsyncGenerator[Client]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http,
        Client(streamable_http_client(f"{base}/mcp", http_client=http), mode=mode, **options) as opened,
    ):
        yield opened


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_conversation_goes_over_all_of_them(app: App, proxy: RoundRobin, mode: str) -> None:
    await ingest(app, 2)
    async with client(proxy.base, mode) as session:
        for number in range(6):
            found = structured(await session.call_tool("search_kb", {"query": f"{QUESTION} ({number})"}))
            # It comes to another one than the search, which knows of it all the same.
            opinion = {"result_id": found["search_id"], "rating": "down", "reason": "other"}
            assert structured(await session.call_tool("submit_feedback", opinion))["feedback_id"]
    assert set(proxy.took) == {0, 1, 2}
    assert not proxy.lost


@pytest.mark.promise("MCP-5")
async def test_another_one_takes_the_second_round_of_a_question(app: App, proxy: RoundRobin) -> None:
    ids = await ingest(app, 4)
    answers = [ElicitResult(action="decline"), ElicitResult(action="accept", content={"go_on": True})]
    asked: list[str] = []

    async def person(_: object, question: ElicitRequestParams) -> ElicitResult:
        asked.append(question.message)
        return answers[len(asked) - 1]

    async with client(proxy.base, "auto", elicitation_callback=person) as session:
        wanted = {"action": "archive", "document_ids": ids[:2]}
        await session.list_tools()
        proxy.way.clear()
        declined = structured(await session.call_tool("review_documents", wanted))
        assert (declined["outcome"], declined["consent"]) == ("declined", "declined")
        assert len({number for _, number in proxy.way}) == len(proxy.way) == 2
        # That it was asked about and not allowed is known to all, so confirm counts wherever it comes to.
        done = structured(await session.call_tool("review_documents", {**wanted, "confirm": True}))
        assert (done["outcome"], done["consent"]) == ("done", "confirmed")
        given = structured(await session.call_tool("review_documents", {**wanted, "document_ids": ids[2:]}))
        assert (given["outcome"], given["consent"]) == ("done", "given")
    assert len(asked) == 2


async def test_what_one_sealed_for_somebody_is_nothing_to_others(
    app: App, settings: Settings, replicas: list[Served], tmp_path: Path
) -> None:
    """A second round goes to who was asked, and to servers of ours: not to another subject, nor with other keys."""
    ids = await ingest(app, 2)
    named = {**ENVIRONMENT, "HARRY_HTTP__SUBJECT": "somebody-else"}
    alone = {**ENVIRONMENT, "HARRY_HTTP__STATE_KEYS": KEYS[::-1]}
    state = first_round(replicas[0].base, ids)
    with (
        served(tmp_path, **with_database(settings), **named) as other,
        served(tmp_path, **with_database(settings), **alone) as stranger,
    ):
        for server in (other, stranger):
            assert second_round(server.base, ids, state)["error"]["code"] == -32602
    assert second_round(replicas[1].base, ids[:1], state)["error"]["code"] == -32602
    assert second_round(replicas[1].base, ids, state)["result"]["structuredContent"]["outcome"] == "done"


async def test_the_console_is_served_by_all_of_them(app: App, proxy: RoundRobin, replicas: list[Served]) -> None:
    await ingest(app, 1)
    await asyncio.to_thread(use_the_console, proxy.base, replicas)
    assert set(proxy.took) == {0, 1, 2}


def use_the_console(base: str, replicas: list[Served]) -> None:
    with Browser(base) as browser:
        assert browser.sign_in().status_code == 303
        for _ in range(4):
            assert browser.call("list_review_queue").json()["ok"]
        session = browser.http.cookies["harry_session"]
        out = browser.http.post("/admin/logout", headers={"X-Harry-CSRF": browser.csrf})
        assert (out.status_code, out.headers["location"]) == (303, "/admin")
    for replica in replicas:
        with Browser(replica.base) as old:
            old.csrf = browser.csrf
            ended = old.call("list_review_queue", headers={"Cookie": f"harry_session={session}"})
            assert (ended.status_code, ended.json()["login"]) == (401, True)


@pytest.mark.promise("OPS-3")
async def test_one_is_killed_under_load(
    app: App, proxy: RoundRobin, replicas: list[Served], connection: AsyncConnection[tuple[Any, ...]]
) -> None:
    await ingest(app, 5)
    kept: list[str] = []
    failed = 0
    killed = asyncio.Event()
    enough = asyncio.Event()

    async def work(number: int) -> None:
        nonlocal failed
        async with httpx.AsyncClient(timeout=60) as http:
            turn = 0
            while not enough.is_set():
                turn += 1
                try:
                    found = await call(http, proxy.base, "search_kb", query=f"{QUESTION} {number} {turn}")
                    wrote = f"comment {number} {turn}"
                    opinion = {"result_id": found["search_id"], "rating": "down", "reason": "other", "comment": wrote}
                    await call(http, proxy.base, "submit_feedback", **opinion)
                except httpx.HTTPStatusError:
                    failed += 1
                    continue
                kept.append(wrote)
                if len(kept) == 12:
                    replicas[1].process.kill()
                    killed.set()
                if len(kept) >= 48:
                    enough.set()

    await asyncio.gather(*(work(number) for number in range(CLIENTS)))
    assert killed.is_set()
    # All that failed broke off on the one that was killed, and each client had one call there at the most.
    assert failed == proxy.lost.total() == proxy.lost[1] <= CLIENTS
    assert proxy.took[0] > 0 < proxy.took[2]
    rows = await (await connection.execute("SELECT comment FROM feedback")).fetchall()
    stored = {row[0] for row in rows}
    assert set(kept) <= stored
    assert len(stored) <= len(kept) + failed
    for number in (0, 2):
        assert '"level": "ERROR"' not in replicas[number].said()


async def call(http: httpx.AsyncClient, base: str, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await http.post(f"{base}/mcp", json=message(tool, arguments), headers=HEADERS)
    answer.raise_for_status()
    result = answer.json()["result"]
    assert not result.get("isError"), result
    return result["structuredContent"]


HEADERS = {"Authorization": f"Bearer {TOKEN}", **ACCEPT}


def message(tool: str, arguments: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments, **more},
    }


MODERN = {
    **HEADERS,
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "review_documents",
}
META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
}


def ask(base: str, ids: list[str], **more: Any) -> dict[str, Any]:
    body = message("review_documents", {"action": "archive", "document_ids": ids}, _meta=META, **more)
    return httpx.post(f"{base}/mcp", json=body, headers=MODERN, timeout=60).json()


def first_round(base: str, ids: list[str]) -> dict[str, Any]:
    result = ask(base, ids)["result"]
    assert result["resultType"] == "input_required", result
    return result


def second_round(base: str, ids: list[str], asked: dict[str, Any]) -> dict[str, Any]:
    (name,) = asked["inputRequests"]
    yes = {name: {"action": "accept", "content": {"go_on": True}}}
    return ask(base, ids, inputResponses=yes, requestState=asked["requestState"])
