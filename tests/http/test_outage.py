"""OPS-3 over HTTP: PostgreSQL stops and starts again under load; the server tells so meanwhile and goes on after."""

from __future__ import annotations

import asyncio
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from harry_mcp.app import App
from harry_mcp.errors import DatabaseUnavailable
from harry_mcp.providers.local.embedder import SPACE
from harry_mcp.settings import load_settings
from harry_mcp.storage import embedded_server
from harry_mcp.storage.database import Database
from harry_mcp.storage.embedded import EmbeddedPostgres
from tests.console.served import Browser, served
from tests.http.test_replicas import HEADERS, QUESTION, ingest, message

pytestmark = [
    pytest.mark.promise("OPS-3"),
    pytest.mark.promise("MCP-6"),
    pytest.mark.skipif(sys.platform == "win32", reason="its port is another after each start there"),
]
CLIENTS = 8
# Hosts give up on a tool after this long.
PATIENCE = 30.0
SOON = 5.0


class Stoppable:
    """A PostgreSQL of this test's own, at one address for all of its life."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server = EmbeddedPostgres.start(folder)
        self.url = self._server.dsn

    def stop(self) -> None:
        found = embedded_server.Postmaster.read(self._folder / "cluster")
        assert found is not None
        process = psutil.Process(found.pid)
        process.send_signal(signal.SIGINT)
        process.wait(30)

    def start(self) -> None:
        self._server.revive()
        assert self._server.dsn == self.url

    def close(self) -> None:
        self._server.close()


@pytest.fixture
def postgresql() -> Iterator[Stoppable]:
    with tempfile.TemporaryDirectory(prefix="harry-tests-", ignore_cleanup_errors=True) as folder:
        server = Stoppable(Path(folder) / "postgres")
        yield server
        server.close()


async def answered(http: httpx.AsyncClient, base: str, question: str) -> dict[str, Any]:
    answer = await http.post(f"{base}/mcp", json=message("search_kb", {"query": question}), headers=HEADERS)
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]


async def test_postgresql_stops_and_starts_under_load(postgresql: Stoppable, tmp_path: Path) -> None:
    environment = {
        "HARRY_DATABASE_URL": postgresql.url,
        "HARRY_HTTP__CALLS_PER_MINUTE": "0",
    }
    async with await App.open(load_settings({**environment, "HARRY_DATA_DIR": str(tmp_path)})) as app:
        await ingest(app, 5)
    with served(tmp_path, **environment) as server:
        state = "up"
        results: list[tuple[str, str, bool, str, float]] = []
        told = asyncio.Condition()

        async def work(number: int) -> None:
            async with httpx.AsyncClient(timeout=90) as http:
                turn = 0
                while state != "over":
                    turn += 1
                    before, began = state, time.monotonic()
                    result = await answered(http, server.base, f"{QUESTION} {number} {turn}")
                    text = result["content"][0]["text"]
                    took = time.monotonic() - began
                    results.append((before, state, bool(result.get("isError")), text, took))
                    async with told:
                        told.notify_all()

        async def until(good: bool, during: str, number: int) -> None:
            """Until so many calls that began and ended in a state came out so."""
            async with told:
                await asyncio.wait_for(
                    told.wait_for(
                        lambda: sum(row[0] == row[1] == during and row[2] is not good for row in results) >= number
                    ),
                    120,
                )

        working = [asyncio.create_task(work(number)) for number in range(CLIENTS)]
        await until(True, "up", 3 * CLIENTS)
        state = "stopping"
        await asyncio.to_thread(postgresql.stop)
        state = "down"
        await until(False, "down", 2 * CLIENTS)
        with Browser(server.base) as browser:
            ready = await asyncio.to_thread(browser.http.get, "/readyz")
            assert (ready.status_code, (await asyncio.to_thread(browser.http.get, "/healthz")).status_code) == (
                503,
                200,
            )
        state = "starting"
        await asyncio.to_thread(postgresql.start)
        state = "back"
        began = time.monotonic()
        async with httpx.AsyncClient(timeout=90) as http:
            result = await answered(http, server.base, "What speaks of keys again?")
        assert not result.get("isError"), result["content"][0]["text"]
        assert time.monotonic() - began < SOON
        await until(True, "back", 3 * CLIENTS)
        state = "over"
        await asyncio.gather(*working)

        assert not [row for row in results if row[0] == row[1] in ("up", "back") and row[2]]
        assert not [row for row in results if row[0] == row[1] == "down" and not row[2]]
        for text in {row[3] for row in results if row[2]}:
            assert "database cannot be reached" in text, text
            assert "Traceback" not in text
        assert max(row[4] for row in results) < PATIENCE
        assert server.process.poll() is None


async def test_the_next_call_works_also_after_a_long_outage(postgresql: Stoppable, tmp_path: Path) -> None:
    """The pool waits twice as long after each failed connection; the call that comes first must not wait for that."""
    given = {"HARRY_DATABASE_URL": postgresql.url, "HARRY_DATABASE__CONNECT_TIMEOUT": "1"}
    database = await Database.open(load_settings({**given, "HARRY_DATA_DIR": str(tmp_path)}), SPACE)
    await asyncio.gather(*(database.versions() for _ in range(20)))
    await asyncio.to_thread(postgresql.stop)
    end = time.monotonic() + 10

    async def keep_asking() -> None:
        while time.monotonic() < end:
            with pytest.raises(DatabaseUnavailable):
                await database.versions()

    await asyncio.gather(*(keep_asking() for _ in range(CLIENTS)))
    await asyncio.to_thread(postgresql.start)
    assert (await database.versions()).postgres
    await database.close()
