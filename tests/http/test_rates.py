"""MCP-6: how many requests a subject may send, and how a request is found again in the log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from harry_mcp.server.rates import Rates
from harry_mcp.server.tokens import digest_of, new_token
from tests.console.served import TOKEN, Browser, Served, served
from tests.console.test_gates import ACCEPT, PING
from tests.console.test_http import NOWHERE

pytestmark = pytest.mark.promise("MCP-6")
OTHER = new_token()


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_goes_through_and_then_the_rate_counts() -> None:
    clock = Clock()
    rates = Rates(60, burst=3, processes=1, clock=clock)
    assert [rates.wait("a") for _ in range(3)] == [0, 0, 0]
    assert rates.wait("a") == pytest.approx(1)
    assert rates.wait("b") == 0
    clock.now += 0.5
    assert rates.wait("a") == pytest.approx(0.5)
    clock.now += 0.5
    assert rates.wait("a") == 0
    assert rates.wait("a") == pytest.approx(1)
    # Whoever keeps asking is not kept waiting for it.
    for _ in range(100):
        rates.wait("a")
    clock.now += 3
    assert [rates.wait("a") for _ in range(4)] == [0, 0, 0, pytest.approx(1)]


def test_each_process_lets_its_share_through() -> None:
    clock = Clock()
    rates = Rates(600, burst=12, processes=4, clock=clock)
    assert [rates.wait("a") for _ in range(4)] == [0, 0, 0, pytest.approx(0.4)]
    clock.now += 60
    passed = 0
    for _ in range(600):
        passed += rates.wait("a") == 0
        clock.now += 0.1
    assert 150 <= passed <= 153
    assert [Rates(0, burst=1, processes=1).wait("a") for _ in range(100)] == [0] * 100
    assert Rates(60, burst=1, processes=3).wait("a") == 0


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    environment = {
        "HARRY_DATABASE_URL": NOWHERE,
        "HARRY_HTTP__CALLS_PER_MINUTE": "6",
        "HARRY_HTTP__BURST": "4",
        "HARRY_AUTH__TOKENS": f"other:reader:{digest_of(OTHER)}",
        "HARRY_LOG_LEVEL": "INFO",
    }
    with served(tmp_path, **environment) as opened:
        yield opened


def ping(server: Served, token: str, **headers: str) -> httpx.Response:
    sent = {"Authorization": f"Bearer {token}", **ACCEPT, **headers}
    return httpx.post(f"{server.base}/mcp", json=PING, headers=sent, timeout=30)


def test_one_subject_waits_and_others_do_not(server: Served) -> None:
    answers = [ping(server, TOKEN) for _ in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 4 + [429] * 2
    seconds = int(answers[-1].headers["Retry-After"])
    assert 1 <= seconds <= 10
    assert f"in {seconds} seconds" in answers[-1].json()["error"]
    assert ping(server, OTHER).status_code == 200
    assert ping(server, "wrong").status_code == 401
    with Browser(server.base) as browser:
        # The console is no way around it: its holder is the same subject.
        browser.sign_in()
        refused = browser.call("list_gaps")
        assert (refused.status_code, refused.json()["ok"]) == (429, False)
        assert int(refused.headers["Retry-After"]) >= 1
        assert httpx.get(f"{server.base}/healthz").status_code == 200


def test_a_request_is_found_again_by_its_name(server: Served) -> None:
    given = ping(server, TOKEN, **{"X-Request-ID": "proxy-7f.1"})
    assert given.headers["X-Request-ID"] == "proxy-7f.1"
    made = [ping(server, TOKEN).headers["X-Request-ID"], ping(server, "wrong").headers["X-Request-ID"]]
    for bad in ("with space", "x" * 129, "{}", "a\\b"):
        made.append(ping(server, "wrong", **{"X-Request-ID": bad}).headers["X-Request-ID"])
        assert made[-1] != bad
    assert len(set(made)) == len(made)
    assert all(len(name) == 16 for name in made)
    call: dict[str, Any] = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "list_gaps", "arguments": {}},
    }
    for version in ("2025-06-18", "2025-11-25"):
        headers = {"Authorization": f"Bearer {TOKEN}", **ACCEPT, "MCP-Protocol-Version": version}
        named = {**headers, "X-Request-ID": f"call-{version}"}
        httpx.post(f"{server.base}/mcp", json=call, headers=named, timeout=60)
    server.process.terminate()
    server.ended()
    logged = [json.loads(line) for line in server.said().splitlines() if line.startswith("{")]
    by_name: dict[str, list[str]] = {}
    for line in logged:
        by_name.setdefault(line.get("request_id", ""), []).append(line["message"])
    assert by_name["proxy-7f.1"][-1].startswith("POST /mcp: 200 in ")
    assert by_name[made[1]][-1].startswith("POST /mcp: 401 in ")
    # What a tool says of itself carries the name as well.
    assert any("list_gaps" in message for message in by_name["call-2025-11-25"])
    assert not any("/mcp: " in message for message in by_name.get("", []))
