"""ING-2: robots.txt is obeyed, as real sites write it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest

from harry_mcp.ingest.crawl.robots import LARGEST, Robots, parse_robots, product_token

pytestmark = pytest.mark.promise("ING-2")

AGENT = "harry-mcp/0.1 (knowledge base crawler)"
SITE = "https://x.org"


@pytest.fixture(scope="module")
def files(shared_data: Path) -> dict[str, dict[str, Any]]:
    lines = (shared_data / "crawler" / "robots_txt.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["host"]: row for row in map(json.loads, lines)}


def original(row: dict[str, Any]) -> bytes:
    """The bytes as they came: what is not UTF-8 is kept as one character for each byte."""
    return str(row["text"]).encode("latin-1" if "not-utf8" in row["features"] else "utf-8")


def robots(row: dict[str, Any]) -> Robots:
    return parse_robots(original(row), AGENT)


class Reference:
    """RFC 9309 in a few lines, for the group of ``*``: the longest rule wins, of two as long the one that allows."""

    def __init__(self, text: str) -> None:
        self.rules: list[tuple[str, bool]] = []
        agents: set[str] = set()
        open_group = False
        for line in text.splitlines():
            name, colon, value = line.partition("#")[0].partition(":")
            name, value = name.strip().lower(), value.strip()
            if not colon:
                continue
            if name == "user-agent":
                agents = agents if open_group else set()
                agents.add(value.lower())
                open_group = True
            elif name in ("allow", "disallow", "crawl-delay", "noindex", "request-rate", "visit-time", "clean-param"):
                open_group = False
                if "*" in agents and value and name in ("allow", "disallow"):
                    self.rules.append((value, name == "allow"))

    def allows(self, path: str) -> bool:
        found = [(len(rule), allow) for rule, allow in self.rules if self._matches(rule, path)]
        return max(found, default=(0, True))[1]

    @staticmethod
    def _matches(rule: str, path: str) -> bool:
        anchor = rule.endswith("$")
        parts = [re.escape(_plain(part)) for part in rule.removesuffix("$").split("*")]
        return re.match(".*".join(parts) + ("$" if anchor else ""), _plain(path), re.DOTALL) is not None


def _plain(text: str) -> str:
    return quote(unquote(text), safe="/?=&$*")


def test_real_files_give_the_rules_that_the_standard_reads_in_them(files: dict[str, dict[str, Any]]) -> None:
    checked = 0
    for host, row in files.items():
        if {"html-instead-of-robots", "empty", "rules-without-agent", "not-utf8"} & set(row["features"]):
            continue
        reference, ours = Reference(str(row["text"]).removeprefix("\ufeff")), robots(row)
        for rule, _ in [*reference.rules, ("/", True), ("/a/page.html?x=1", True)]:
            for path in (rule.replace("*", "any").removesuffix("$"), rule.replace("*", "").removesuffix("$") + "more"):
                if path.startswith("/") and not path.endswith("index.htmlmore"):
                    assert ours.allows(SITE + path) == reference.allows(path), (host, rule, path)
                    checked += 1
    assert checked > 1500


@pytest.mark.parametrize(
    ("host", "forbidden", "allowed"),
    [
        ("store.usps.com", ["/store/ajax/x", "/store/cart/"], ["/", "/store/products"]),
        ("www.myvue.com", ["/login", "/book-tickets/summary/1"], ["/", "/film"]),
        ("www.turktelekom.com.tr", ["/destek/Sayfalar/gizlilik-guvenlik.aspx"], ["/", "/destek/"]),
        ("mlb.mlb.com", ["/lookup/x"], ["/", "/team/"]),
        ("cdbaby.com", ["/Cart/x", "/PageCode.txt"], ["/", "/cart/"]),
        ("mathworld.wolfram.com", ["/", "/Algebra.html"], []),
        ("uk.ask.com", ["/", "/anything"], []),
        ("whirlpool.net.au", ["/", "/wiki/"], []),
        ("news.google.com", ["/home", "/newspage"], ["/", "/news", "/topics/x", "/search?q=a"]),
        ("www.goldmansachs.com", [], ["/gsam/lat-am/advisors/sicav/"]),
        ("www.liberty.edu", [], ["/images/", "/admin/"]),
        ("www.opentext.com", ["/att%20archive/x", "/att archive/x", "/b2b/"], ["/products"]),
    ],
)
def test_real_oddities(files: dict[str, dict[str, Any]], host: str, forbidden: list[str], allowed: list[str]) -> None:
    ours = robots(files[host])
    assert [path for path in forbidden if ours.allows(SITE + path)] == []
    assert [path for path in allowed if not ours.allows(SITE + path)] == []


def test_pages_and_nothing_in_the_place_of_rules_allow_everything(files: dict[str, dict[str, Any]]) -> None:
    for row in files.values():
        if {"html-instead-of-robots", "empty"} & set(row["features"]):
            ours = robots(row)
            assert ours.allows(f"{SITE}/")
            assert (ours.delay, ours.sitemaps) == (0.0, ())


def test_delays_and_sitemaps_of_real_files(files: dict[str, dict[str, Any]]) -> None:
    delays = {host: delay for host, row in files.items() if (delay := robots(row).delay)}
    assert delays == {
        "9gag.com": 1.0,
        "adage.com": 10.0,
        "alison.com": 5.0,
        "artofmanliness.com": 1.0,
        "bitbucket.org": 120.0,
        "cams.com": 1.0,
        "docs.google.com": 1.0,
        "moodle.org_443": 20.0,
        "www.ablebits.com": 1.0,
        "www.aldi.co.uk": 10.0,
        "www.bni.co.id": 10.0,
        "www.frys.com": 10.0,
    }
    assert robots(files["theweek.com"]).sitemaps == ("/sitemap.xml",)
    assert robots(files["www.myvue.com"]).sitemaps == ("https://www.myvue.com/sitemap.xml",)
    assert len(robots(files["6abc.com"]).sitemaps) == 4


def test_our_own_group_goes_before_that_of_all() -> None:
    text = (
        b"User-agent: *\nDisallow: /\n\nUser-agent: otherbot\nUser-agent: Harry-MCP\nDisallow: /x\nRequest-rate: 1/4\n"
    )
    ours = parse_robots(text, AGENT)
    assert ours.allows(f"{SITE}/")
    assert not ours.allows(f"{SITE}/x")
    assert ours.delay == 4.0
    assert not parse_robots(text, "another/1").allows(f"{SITE}/")


def test_a_huge_file_is_read_to_its_last_whole_line_that_fits() -> None:
    line = b"Disallow: /%09d\n"
    text = b"User-agent: *\n" + b"".join(line % number for number in range(60_000))
    ours = parse_robots(text, AGENT)
    assert not ours.allows(f"{SITE}/000000000")
    assert ours.allows(f"{SITE}/{LARGEST // len(line % 0) + 1:09d}")
    assert ours.allows(f"{SITE}/"), "no half rule"
    assert parse_robots(b"x" * 2 * LARGEST, AGENT).allows(f"{SITE}/")


@pytest.mark.parametrize(
    ("agent", "token"), [(AGENT, "harry-mcp"), ("Foo_Bar", "foo_bar"), ("A-b 1.2", "a-b"), ("1x", "1x")]
)
def test_product_token(agent: str, token: str) -> None:
    assert product_token(agent) == token
