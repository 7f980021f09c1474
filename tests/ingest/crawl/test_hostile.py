"""ING-2: what a site may do to whom it lets in by its robots.txt, its sitemaps and its packing."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harry_mcp.errors import SourceError
from harry_mcp.ingest.crawl.robots import LARGEST
from harry_mcp.ingest.unpacking import TooMuch, Unpacker
from tests.ingest.crawl.bad_answers import bomb, sends_chunks
from tests.ingest.crawl.reading import Reader, paths, reasons
from tests.ingest.crawl.site import Reply, Site, prose, sitemap

pytestmark = pytest.mark.promise("ING-2")

METADATA = "http://169.254.169.254/latest/meta-data/"


def small(site: Site) -> None:
    site.page("/", prose("front"), "/a", "/no")
    site.page("/a", prose("a"))
    site.page("/no", prose("no"))


@pytest.mark.parametrize(
    "to", ["/robots.txt", "http://[broken", "file:///etc/passwd", METADATA, "http://127.0.0.1:1/robots.txt"]
)
async def test_a_robots_txt_that_leads_nowhere_has_no_rules(site: Site, reader: Reader, to: str) -> None:
    """Private addresses are allowed here, but only those of the site itself: nobody is led further inside."""
    small(site)
    site.moved("/robots.txt", to)
    report = await reader.crawl(site)
    assert paths(report.new, site) == ["/", "/a", "/no"]
    assert (report.failed, report.warnings) == ({}, [])


async def test_a_robots_txt_may_lie_behind_a_redirect(site: Site, reader: Reader) -> None:
    small(site)
    site.moved("/robots.txt", "/rules")
    site.put("/rules", "User-agent: *\nDisallow: /no\n")
    assert reasons((await reader.crawl(site)).refused, site) == {"/no": "robots"}


async def test_of_an_endless_robots_txt_the_beginning_counts(site: Site, reader: Reader) -> None:
    small(site)
    rules = b"User-agent: *\nDisallow: /no\n"
    pieces = iter([rules])
    site.replies["/robots.txt"] = Reply(raw=sends_chunks(lambda: next(pieces, b"# nothing\n" * 5000)))
    report = await reader.crawl(site, settings={"timeout": 10.0})
    assert reasons(report.refused, site) == {"/no": "robots"}
    assert LARGEST < 10_000_000


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply(status=302, headers={"Location": METADATA}), f"it redirects to {METADATA}, a private address"),
        (Reply(status=302, headers={"Location": "/map.xml"}), "it redirects more than 5 times"),
        (Reply(bomb(60), headers={"Content-Type": "application/gzip"}), "it is larger than 51200 KB"),
        (Reply(bomb(60), headers={"Content-Encoding": "gzip"}), "it is larger than 51200 KB"),
        (Reply(b"<html><body>hello", headers={"Content-Type": "text/html"}), "it is a web page"),
        (Reply(b"\x00\x01\x02", headers={"Content-Type": "application/xml"}), "it is no sitemap"),
        (Reply(status=503, headers={"Retry-After": "9000"}), "the site answers with status 503"),
    ],
)
async def test_a_sitemap_that_cannot_be_had_is_one_warning(site: Site, reader: Reader, reply: Reply, why: str) -> None:
    small(site)
    site.put("/robots.txt", "Sitemap: /map.xml\n")
    site.replies["/map.xml"] = reply
    report = await reader.crawl(site, settings={"timeout": 10.0})
    assert [warning.removeprefix("The sitemap ") for warning in report.warnings] == [
        f"{site.url}/map.xml cannot be read: {why}."
    ]
    assert paths(report.new, site) == ["/", "/a", "/no"]


async def test_a_sitemap_in_gzip_may_be_of_several_members_and_may_be_torn(site: Site, reader: Reader) -> None:
    small(site)
    site.put("/robots.txt", "Sitemap: /map.xml.gz\nSitemap: /torn.txt.gz\n")
    whole = sitemap(*site.full("/listed-1", "/listed-2"))
    site.put("/map.xml.gz", gzip.compress(whole[:200]) + gzip.compress(whole[200:]))
    site.put("/torn.txt.gz", gzip.compress("\n".join(site.full("/listed-3", "/listed-4")).encode())[:-6])
    for number in range(1, 5):
        site.page(f"/listed-{number}", prose(f"listed {number}"))
    report = await reader.crawl(site)
    assert paths(report.new, site) == ["/", "/a", *(f"/listed-{number}" for number in range(1, 5)), "/no"]
    assert report.warnings == [f"The sitemap {site.url}/torn.txt.gz was read in part: its gzip data is broken."]


async def test_no_cookie_is_kept(site: Site, reader: Reader) -> None:
    """A page that sets the language of those after it would make the others say what no stranger reads."""
    small(site)
    for path in ("/", "/a"):
        site.answer(path).headers["Set-Cookie"] = "language=tlh; Path=/"
    await reader.crawl(site)
    assert {asked.cookie for asked in site.log} == {""}


# Packing


def _bare(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def _members(data: bytes) -> bytes:
    return gzip.compress(data[:7]) + gzip.compress(data[7:])


_PACKERS: tuple[tuple[str, Callable[[bytes], bytes]], ...] = (
    ("gzip", gzip.compress),
    ("x-gzip", _members),
    ("deflate", zlib.compress),
    ("deflate", _bare),
)


@given(st.binary(max_size=3000), st.lists(st.sampled_from(_PACKERS), max_size=2), st.integers(1, 400))
def test_what_is_packed_comes_out_whole_however_it_is_cut(
    body: bytes, packers: list[tuple[str, Callable[[bytes], bytes]]], size: int
) -> None:
    packed = body
    for _, pack in packers:
        packed = pack(packed)
    unpacker = Unpacker(", ".join(name for name, _ in packers), 100_000)
    pieces = [piece for at in range(0, len(packed), size) for piece in unpacker.add(packed[at : at + size])]
    unpacker.end()
    assert b"".join(pieces) == body


@pytest.mark.parametrize(
    ("encoding", "body"),
    [("gzip", bomb(100)), ("gzip, gzip", gzip.compress(bomb(100))), ("deflate", zlib.compress(bytes(10**8)))],
)
def test_a_bomb_takes_no_memory(encoding: str, body: bytes) -> None:
    tracemalloc.start()
    with pytest.raises(TooMuch):
        sum(len(piece) for piece in Unpacker(encoding, 1_000_000).add(body))
    assert tracemalloc.get_traced_memory()[1] < 2_000_000
    tracemalloc.stop()


@pytest.mark.parametrize(
    "body", [b"no gzip at all", gzip.compress(b"words " * 100)[:-9], b"\x1f\x8b"], ids=["other", "cut off", "begun"]
)
def test_what_is_not_packed_as_it_says_is_refused(body: bytes) -> None:
    with pytest.raises(SourceError, match="its packed body"):
        _unpacked(body)


def _unpacked(body: bytes) -> None:
    unpacker = Unpacker("gzip", 1000)
    list(unpacker.add(body))
    unpacker.end()


def test_nobody_packs_three_times() -> None:
    with pytest.raises(SourceError, match="packed 3 times over"):
        list(Unpacker("gzip, gzip, gzip", 1000).add(b"x"))
