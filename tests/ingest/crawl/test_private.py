"""ING-2: private addresses are refused by default, after DNS and at every redirect, and a name cannot rebind."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest

from harry_mcp.errors import SourceError
from harry_mcp.ingest.crawl import fetcher
from tests.ingest.crawl.reading import Reader, paths, reasons
from tests.ingest.crawl.site import Site, prose

pytestmark = pytest.mark.promise("ING-2")

Names = dict[str, Callable[[], str]]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    """Names that resolve as a test says. 127.0.0.1 counts as public, so that only other addresses can be refused."""
    known: Names = {"site.test": lambda: "127.0.0.1"}
    real = socket.getaddrinfo

    def getaddrinfo(host: Any, port: Any, *arguments: Any, **options: Any) -> Any:
        return real(known[host]() if host in known else host, port, *arguments, **options)

    def only_this_machine(address: str) -> bool:
        return address == "127.0.0.1"

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr("harry_mcp.ingest.addresses.is_public", only_this_machine)
    return known


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0", "[::1]", "10.0.0.1", "169.254.169.254"])
async def test_a_private_site_is_refused_unless_it_is_allowed(reader: Reader, site: Site, host: str) -> None:
    site.page("/", prose("front"))
    there = site.url.replace("127.0.0.1", host)
    with pytest.raises(SourceError, match="is a private address, and those are not fetched unless you allow it"):
        await reader.crawl(site, url=f"{there}/", allow_private=False)
    assert not site.log
    if host in ("127.0.0.1", "localhost"):
        assert (await reader.crawl(site, url=f"{there}/")).seen == 1


async def test_links_and_redirects_to_private_addresses_are_not_followed(
    reader: Reader, site: Site, names: Names
) -> None:
    port = site.url.rpartition(":")[2]
    names["www.site.test"] = lambda: "10.0.0.1"
    site.page("/", prose("front"), f"http://127.0.0.1:{port}/inside", f"http://www.site.test:{port}/dns", "/away", "/a")
    site.moved("/away", "http://169.254.169.254/latest/meta-data/")
    site.page("/inside", prose("inside"))
    site.page("/a", prose("a"))
    report = await reader.crawl(site, url=f"http://site.test:{port}/", allow_private=False)
    assert [url.rpartition(f":{port}")[2] for url in report.new] == ["/", "/a"]
    assert reasons(report.refused, site) == {
        "/inside": "private",
        f"http://www.site.test:{port}/dns": "private",
        "http://169.254.169.254/latest/meta-data/": "private",
    }
    assert {asked.host for asked in site.log} == {f"site.test:{port}"}
    assert "/inside" not in {asked.path for asked in site.log}


async def test_a_name_that_turns_private_is_refused_from_then_on(
    reader: Reader, site: Site, names: Names, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetcher, "_REMEMBERED", 0.0)
    site.page("/", prose("front"), "/a", "/b")
    site.page("/a", prose("a"))
    turned: list[bool] = []
    names["site.test"] = lambda: "10.0.0.1" if turned else "127.0.0.1"

    def turn(path: str) -> None:
        if path == "/":
            turned.append(True)

    site.before = turn
    port = site.url.rpartition(":")[2]
    report = await reader.crawl(site, url=f"http://site.test:{port}/", allow_private=False)
    assert len(report.new) == 1
    assert [entry.reason for entry in report.refused.values()] == ["private", "private"]
    assert {"/a", "/b"}.isdisjoint(asked.path for asked in site.log)


async def test_the_number_that_was_checked_is_the_one_that_is_called(reader: Reader, site: Site, names: Names) -> None:
    """The name resolves to this machine once and then to nothing: whoever resolved it again would find nobody."""
    asked = iter(["127.0.0.1"])
    names["site.test"] = lambda: next(asked, "10.0.0.1")
    site.page("/", prose("front"), *(f"/{number}" for number in range(10)))
    for number in range(10):
        site.page(f"/{number}", prose(str(number)))
    port = site.url.rpartition(":")[2]
    report = await reader.crawl(site, url=f"http://site.test:{port}/", allow_private=False)
    assert len(report.new) == 11
    assert paths(list(report.refused), site) == []
