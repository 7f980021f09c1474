"""VER-6: where the address of a web page leads is found out without leaving the list and without private numbers."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from harry_mcp.loop.following import Follower
from harry_mcp.stages.verify.web import Led
from tests.ingest.crawl.site import Site, serving

pytestmark = pytest.mark.promise("VER-6")

NAMES = {"docs.site.test": "127.0.0.1", "www.site.test": "127.0.0.1", "inside.site.test": "10.0.0.1"}


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A site under three names, one of them at a private number; 127.0.0.1 counts as public here and nothing else."""
    real = socket.getaddrinfo

    def getaddrinfo(host: Any, port: Any, *arguments: Any, **options: Any) -> Any:
        if host not in NAMES:
            raise socket.gaierror(f"{host} is not known in this test")
        return real(NAMES[host], port, *arguments, **options)

    def only_this_machine(address: str) -> bool:
        return address == "127.0.0.1"

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr("harry_mcp.ingest.addresses.is_public", only_this_machine)
    with serving(Site()) as found:
        found.url = found.url.replace("127.0.0.1", "docs.site.test")
        yield found


def allowed(address: str) -> bool:
    return (urlsplit(address).hostname or "").endswith("site.test")


async def lead(follower: Follower, *addresses: str, seconds: float = 5.0) -> list[Led]:
    return list(await follower(addresses, allowed=allowed, seconds=seconds))


async def test_each_address_is_followed_as_far_as_the_list_goes(site: Site) -> None:
    www = site.url.replace("docs.", "www.")
    site.page("/stays", "here")
    site.moved("/on", "/on/2", 301)
    site.moved("/on/2", f"{www}/end", 308)
    site.page("/end", "end")
    site.moved("/off", "https://evil.example/landing")
    site.moved("/off/late", "/off", 307)
    site.moved("/dressed", "https://docs.site.test@evil.example/")
    site.moved("/circle", "/circle")
    site.put("/blocked", status=403)
    found = await lead(
        Follower("harry"),
        *site.full("/stays", "/on", "/off", "/off/late", "/dressed", "/circle", "/blocked", "/gone"),
        site.url.replace("docs.", "inside.") + "/private",
    )
    assert found == [
        Led(f"{site.url}/stays", 200),
        Led(f"{www}/end", 200),
        Led("https://evil.example/landing", 302),
        Led("https://evil.example/landing", 302),
        Led("", 0),
        Led(f"{site.url}/circle", 0),
        Led(f"{site.url}/blocked", 403),
        Led(f"{site.url}/gone", 404),
        Led(site.url.replace("docs.", "inside.") + "/private", 0),
    ]
    assert "/private" not in {asked.path for asked in site.log}
    assert {asked.host.partition(":")[0] for asked in site.log} == {"docs.site.test", "www.site.test"}
    assert {asked.agent for asked in site.log} == {"harry"}


async def test_a_large_page_is_let_go_of_after_its_first_bytes(site: Site) -> None:
    site.put("/huge", b"x" * 100_000, headers={"Content-Length": "9000000000", "Content-Type": "application/pdf"})
    started = time.monotonic()
    assert await lead(Follower("harry"), f"{site.url}/huge") == [Led(f"{site.url}/huge", 200)]
    assert time.monotonic() - started < 4


async def test_what_is_slow_is_unknown_when_the_time_is_over_and_the_rest_is_known(site: Site) -> None:
    www = site.url.replace("docs.", "www.")
    site.put("/slow", b"late", slow=3.0)
    site.page("/quick", "here")
    started = time.monotonic()
    found = await lead(Follower("harry"), f"{www}/slow", f"{site.url}/quick", seconds=0.6)
    assert time.monotonic() - started < 2
    assert found == [Led(f"{www}/slow", 0), Led(f"{site.url}/quick", 200)]


async def test_where_nothing_can_be_reached_nobody_asks_for_a_while(site: Site) -> None:
    now = [100.0]
    follower = Follower("harry", clock=lambda: now[0])
    assert await lead(follower, "https://nowhere.test/a", "https://nowhere.test/b") == [
        Led("https://nowhere.test/a", 0),
        Led("https://nowhere.test/b", 0),
    ]
    site.page("/here", "here")
    assert await lead(follower, f"{site.url}/here") == [Led(f"{site.url}/here", 0)]
    assert not site.log
    now[0] += 61
    assert await lead(follower, f"{site.url}/here") == [Led(f"{site.url}/here", 200)]


async def test_no_time_asks_nobody(site: Site) -> None:
    site.page("/here", "here")
    assert await lead(Follower("harry"), f"{site.url}/here", seconds=0) == [Led(f"{site.url}/here", 0)]
    assert not site.log
