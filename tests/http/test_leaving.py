"""MCP-6: a server that is told to end loses no call: it says so first, and lets go of its connections in order."""

from __future__ import annotations

import http.client
import signal
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests.console.served import TOKEN, Served, served
from tests.console.test_gates import ACCEPT, PING
from tests.console.test_http import NOWHERE

pytestmark = [
    pytest.mark.promise("MCP-6"),
    pytest.mark.promise("OPS-6"),
    pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX"),
]


def port_of(server: Served) -> int:
    return int(server.base.rpartition(":")[2])


def get(connection: http.client.HTTPConnection) -> http.client.HTTPResponse:
    connection.request("GET", "/healthz")
    answer = connection.getresponse()
    answer.read()
    return answer


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_connection_that_was_kept_carries_one_more_call(tmp_path: Path, workers: str) -> None:
    """Proxies keep connections open, and cannot know that one is closed while they send a call on it."""
    with served(tmp_path, "--workers", workers, HARRY_DATABASE_URL=NOWHERE) as server:
        kept = http.client.HTTPConnection("127.0.0.1", port_of(server), timeout=30)
        assert get(kept).getheader("Connection") is None
        server.process.send_signal(signal.SIGTERM)
        # The port is closed before the connections are: who comes anew goes to another server.
        refused = False
        while not refused:
            try:
                httpx.get(f"{server.base}/healthz")
            except httpx.ConnectError:
                refused = True
        last = get(kept)
        assert (last.status, last.getheader("Connection")) == (200, "close")
        kept.close()
        assert server.ended() == 143


@pytest.mark.parametrize("workers", ["1", "2"])
def test_it_says_that_it_leaves_before_it_does(tmp_path: Path, workers: str) -> None:
    environment = {"HARRY_DATABASE_URL": NOWHERE, "HARRY_HTTP__DRAIN": "120"}
    with served(tmp_path, "--workers", workers, **environment) as server:
        headers = {"Authorization": f"Bearer {TOKEN}", **ACCEPT}
        began = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        for _ in range(8):
            while "about to end" not in httpx.get(f"{server.base}/readyz", timeout=30).text:
                assert time.monotonic() - began < 60
            assert httpx.get(f"{server.base}/readyz", timeout=30).status_code == 503
            answer = httpx.post(f"{server.base}/mcp", json=PING, headers=headers, timeout=30)
            assert (answer.status_code, answer.headers["Connection"]) == (200, "close")
        # Who does not want to wait says it once more.
        server.process.send_signal(signal.SIGTERM)
        assert server.ended() == 143
        assert time.monotonic() - began < 100
