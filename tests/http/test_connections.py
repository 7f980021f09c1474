"""MCP-6: connections that send nothing, or half of something, and clients that go away."""

from __future__ import annotations

import asyncio
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from harry_mcp.app import App
from harry_mcp.domain.documents import SourceDocument
from harry_mcp.settings import Settings
from tests.console.served import TOKEN, Served, served, with_database
from tests.console.test_gates import PING
from tests.console.test_http import NOWHERE
from tests.http.test_replicas import HEADERS, META, MODERN, message
from tests.stages.curate.sources import Asked, Says, Site, serving

pytestmark = pytest.mark.promise("MCP-6")

HEAD = (
    f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\nAccept: application/json\r\n"
    "Content-Type: application/json\r\n"
)
STRANGERS = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    environment = {"HARRY_DATABASE_URL": NOWHERE, "HARRY_HTTP__REQUEST_SECONDS": "2"}
    with served(tmp_path_factory.mktemp("slow"), **environment) as opened:
        yield opened


def connected(server: Served) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", int(server.base.rpartition(":")[2])))
    connection.settimeout(20)
    return connection


def all_of(connection: socket.socket) -> bytes:
    """What comes until the other side closes."""
    pieces: list[bytes] = []
    while piece := connection.recv(65_536):
        pieces.append(piece)
    connection.close()
    return b"".join(pieces)


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "POST /mc",
        HEAD,
        HEAD + "Content-Length: 100\r\n\r\n{",
        HEAD + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
    ],
    ids=["nothing", "a word", "half a head", "half a body", "a piece"],
)
def test_half_a_request_does_not_hold_its_connection(server: Served, sent: str) -> None:
    connection = connected(server)
    connection.sendall(sent.encode())
    assert all_of(connection) == b""
    assert "Traceback" not in server.said()


def test_nor_does_the_rest_of_one_that_was_refused(server: Served) -> None:
    connection = connected(server)
    connection.sendall(STRANGERS.encode())
    assert all_of(connection).startswith(b"HTTP/1.1 401 ")


def test_one_that_waits_between_two_calls_is_kept(server: Served) -> None:
    with httpx.Client(base_url=server.base) as kept:
        first = kept.get("/healthz")
        assert all_of(connected(server)) == b""  # as long as another was given for its first request
        second = kept.get("/healthz")
        addresses = [each.extensions["network_stream"].get_extra_info("client_addr") for each in (first, second)]
        assert addresses[0] == addresses[1]
        assert kept.post("/mcp", json=PING, headers=HEADERS).status_code == 200


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="read from /proc")
def test_more_connections_than_the_usual_limit_of_files(server: Served) -> None:
    soft, hard = psutil.Process(server.process.pid).rlimit(psutil.RLIMIT_NOFILE)
    assert soft == min(hard, 65_536) or hard == -1


@pytest.mark.promise("OPS-3")
@pytest.mark.parametrize("newest", [True, False], ids=["2026", "2025"])
async def test_work_ends_when_its_client_goes(settings: Settings, app: App, tmp_path: Path, newest: bool) -> None:
    asked = asyncio.Event()

    def says_nothing(_: Asked) -> Says:
        asked.set()
        return Says(hangs=True)

    name = "run_rot_checks"
    body: dict[str, Any] = message(name, {"signals": ["dead_source"]}, **({"_meta": META} if newest else {}))
    headers = {**MODERN, "Mcp-Name": name} if newest else HEADERS
    async with serving(Site()) as site:
        site.pages["/slow"] = says_nothing
        page = SourceDocument(source=f"{site.url}/slow", url=f"{site.url}/slow", title="Slow", text="It is slow.")
        await app.ingester.ingest([page])
        environment = {
            **with_database(settings),
            "HARRY_INGEST__PRIVATE_ADDRESSES": "true",
            "HARRY_CURATE__PROBE_TIMEOUT": "60",
            "HARRY_LOG_LEVEL": "INFO",
        }
        with served(tmp_path, **environment) as server:
            async with httpx.AsyncClient(timeout=60) as http:
                call = asyncio.create_task(http.post(f"{server.base}/mcp", json=body, headers=headers))
                await asyncio.wait({call, asyncio.create_task(asked.wait())}, return_when=asyncio.FIRST_COMPLETED)
                assert not call.done()
                call.cancel()
                began = time.monotonic()
                while "POST /mcp: no answer" not in server.said():
                    assert time.monotonic() - began < 30
                    assert (await http.get(f"{server.base}/healthz")).status_code == 200
                found = await http.post(
                    f"{server.base}/mcp", json=message("search_kb", {"query": "x"}), headers=HEADERS
                )
                assert not found.json()["result"].get("isError")
            # What it held was given back, its own connection to PostgreSQL with the lock of the run as well.
            assert "psycopg" not in server.said()
            assert '"level": "ERROR"' not in server.said()
