"""MCP-6: several processes on one port are one server; they are replaced when they die and end in order."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from pathlib import Path

import psutil
import pytest

from harry_mcp.app import App
from harry_mcp.domain.documents import SourceDocument
from harry_mcp.settings import Settings
from tests.console.served import Browser, Served, served, started, with_database
from tests.console.test_http import NOWHERE
from tests.http.test_replicas import client, ingest
from tests.server.test_stdio import structured
from tests.stages.curate.sources import Asked, Says, Site, serving

pytestmark = [
    pytest.mark.promise("MCP-6"),
    pytest.mark.promise("OPS-6"),
    pytest.mark.skipif(sys.platform == "win32", reason="processes cannot share a port there"),
]


def workers(server: Served) -> list[psutil.Process]:
    return [
        child
        for child in psutil.Process(server.process.pid).children()
        if child.is_running() and child.status() != psutil.STATUS_ZOMBIE
    ]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_they_are_one_server(settings: Settings, app: App, tmp_path: Path, mode: str) -> None:
    await ingest(app, 3)
    with served(tmp_path, "--workers", "2", **with_database(settings), HARRY_HTTP__TOKEN="") as server:
        assert len(workers(server)) == 2
        token = server.said().partition("#token=")[2].split()[0]
        with Browser(server.base) as browser:
            # A token that was made for this start is one for all of them, and so are the secrets.
            assert browser.sign_in(token).status_code == 303
            for _ in range(8):
                browser.http.headers["Connection"] = "close"
                assert browser.call("list_review_queue").json()["ok"]
        async with client(server.base, mode, token=token) as session:
            for _ in range(4):
                assert structured(await session.call_tool("search_kb", {"query": "Which page speaks of keys?"}))["hits"]
        server.process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(server.ended) == 143
        assert '"level": "ERROR"' not in server.said()


def test_one_that_dies_is_replaced(tmp_path: Path) -> None:
    with served(tmp_path, "--workers", "2", HARRY_DATABASE_URL=NOWHERE) as server:
        first, second = workers(server)
        first.kill()
        deadline = time.monotonic() + 30
        while len(now := workers(server)) < 2 or first in now:
            assert time.monotonic() < deadline
            with Browser(server.base) as browser:
                assert browser.http.get("/healthz").status_code == 200
        assert second in now
        assert "another takes its place" in server.said()
        server.process.send_signal(signal.SIGINT)
        assert server.ended() == 130
        assert not any(worker.is_running() for worker in now)


def test_they_end_when_the_process_that_started_them_is_killed(tmp_path: Path) -> None:
    with served(tmp_path, "--workers", "2", HARRY_DATABASE_URL=NOWHERE) as server:
        left = workers(server)
        server.process.kill()
        assert not psutil.wait_procs(left, timeout=30)[1]


def test_those_that_cannot_start_end_it(tmp_path: Path) -> None:
    # Each of them is given the setting too, and refuses it only when it opens the profile.
    environment = {"HARRY_DATABASE_URL": NOWHERE, "HARRY_PROFILE": str(tmp_path / "none.toml")}
    with started(tmp_path, "--port", "0", "--workers", "2", **environment) as server:
        assert server.ended() != 0
        assert "none.toml" in server.said()
        assert "end as soon as they start" in server.said()


@pytest.mark.promise("OPS-3")
async def test_calls_that_run_come_to_their_end(settings: Settings, app: App, tmp_path: Path) -> None:
    asked = asyncio.Event()

    def says_nothing(_: Asked) -> Says:
        asked.set()
        return Says(hangs=True)

    async with serving(Site()) as site:
        site.pages["/slow"] = says_nothing
        page = SourceDocument(source=f"{site.url}/slow", url=f"{site.url}/slow", title="Slow", text="It is slow.")
        await app.ingester.ingest([page])
        environment = {"HARRY_INGEST__PRIVATE_ADDRESSES": "true", "HARRY_CURATE__PROBE_TIMEOUT": "3"}
        with (
            served(tmp_path, "--workers", "2", **with_database(settings), **environment) as server,
            Browser(server.base) as browser,
        ):
            browser.sign_in()
            wanted = {"signals": ["dead_source"]}
            running = asyncio.create_task(asyncio.to_thread(browser.call, "run_rot_checks", wanted))
            await asked.wait()
            server.process.send_signal(signal.SIGTERM)
            answer = await running
            assert (answer.status_code, answer.json()["ok"]) == (200, True)
            assert await asyncio.to_thread(server.ended) == 143
