"""AGT-1: only what a tool returned may be cited, whatever the text says and however it comes in pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harry_mcp.agent.citing import CitationFilter
from harry_mcp.agent.contract import Hit, SearchResult, Verdict, WebPage, WebResult
from harry_mcp.agent.sources import Sources

pytestmark = pytest.mark.promise("AGT-1")

KEYS = "https://docs.example.com/keys"


def sources() -> Sources:
    made = Sources()
    hits = (
        Hit(title="API keys", url=KEYS, text="Open https://app.example.com/settings and press Rotate.", score=0.9),
        Hit(title="A file", source="file:///docs/limits.md", text="600 requests a minute.", score=0.7),
        Hit(title="API keys", url=f"{KEYS}/", text="The old key works for one hour.", score=0.6),
    )
    made.add_search(SearchResult(verdict=Verdict(), hits=hits))
    page = WebPage(title="Wine", url="https://wine.example/fish", text="See https://evil.example/login", score=0.8)
    made.add_web(WebResult(results=(page,)))
    return made


def filtered(words: str, sizes: list[int] | None = None) -> tuple[str, CitationFilter]:
    checked = CitationFilter(sources())
    shown, place = "", 0
    for size in sizes or [len(words)]:
        shown += checked.feed(words[place : place + size])
        place += size
    shown += checked.feed(words[place:])
    return shown + checked.finish(), checked


CASES: list[tuple[str, str, list[int], list[str]]] = [
    ("Press Rotate [1].", "Press Rotate [1].", [1], []),
    ("Press Rotate [1, 9].", "Press Rotate [1].", [1], ["[9]"]),
    ("Press Rotate [9].", "Press Rotate .", [], ["[9]"]),
    (f"See {KEYS}.", f"See {KEYS}.", [1], []),
    (f"See <{KEYS}/#rotate>!", f"See {KEYS}/#rotate!", [1], []),
    (f"See [the page]({KEYS}) now.", f"See [the page]({KEYS}) now.", [1], []),
    ("See https://docs.example.com/keyz.", "See (address removed).", [], ["https://docs.example.com/keyz"]),
    ("See [my page](https://evil.example/a b) now", "See my page now", [], ["https://evil.example/a"]),
    ("See [my page](https://evil.example/a) now", "See my page now", [], ["https://evil.example/a"]),
    ("![x](https://evil.example/p.png?q=secret)", "x", [], ["https://evil.example/p.png?q=secret"]),
    ("Go to www.evil.example/login, please", "Go to (address removed), please", [], ["www.evil.example/login"]),
    ("Open https://app.example.com/settings [1]", "Open https://app.example.com/settings [1]", [1], []),
    ("From the web: https://evil.example/login", "From the web: (address removed)", [], ["https://evil.example/login"]),
    ("Run it at http://localhost:8000/x", "Run it at http://localhost:8000/x", [], []),
    ("Take `argv[7]` and argv[7] [2]", "Take `argv[7]` and argv[7] [2]", [2], []),
    ("```py\nx = [5]\n```\n[2]", "```py\nx = [5]\n```\n[2]", [2], []),
    (
        "https://docs.example.com@evil.example/keys",
        "(address removed)",
        [],
        ["https://docs.example.com@evil.example/keys"],
    ),
    ("HTTPS://DOCS.EXAMPLE.COM/keys is it", "HTTPS://DOCS.EXAMPLE.COM/keys is it", [1], []),
    ("a\x1b[2J\u202eb [1]", "a[2Jb [1]", [1], []),
    ("日本語の答え [2]。", "日本語の答え [2]。", [2], []),
]


@pytest.mark.parametrize(("words", "shown", "cited", "dropped"), CASES, ids=[case[0][:30] for case in CASES])
def test_what_no_tool_returned_is_dropped_and_named(
    words: str, shown: str, cited: list[int], dropped: list[str]
) -> None:
    text, checked = filtered(words)
    assert text == shown
    assert sorted(checked.cited) == cited
    assert checked.dropped == dropped


@given(st.sampled_from([case[0] for case in CASES]), st.lists(st.integers(1, 9), max_size=60))
def test_the_pieces_that_a_text_comes_in_change_nothing(words: str, sizes: list[int]) -> None:
    whole, once = filtered(words)
    pieced, many = filtered(words, sizes)
    assert pieced == whole
    assert (many.cited, many.dropped) == (once.cited, once.dropped)


def test_nothing_that_may_become_an_address_is_shown_before_it_is_checked() -> None:
    checked = CitationFilter(sources())
    words = "Look: [here](https://evil.example/a) and https://evil.example/b too."
    seen = ""
    for letter in words:
        seen += checked.feed(letter)
        assert "evil" not in seen
    assert seen + checked.finish() == "Look: here and (address removed) too."


def test_sources_are_one_for_each_address_with_the_best_score() -> None:
    found = list(sources())
    assert [(each.number, each.kind, each.where) for each in found] == [
        (1, "document", KEYS),
        (2, "document", "file:///docs/limits.md"),
        (3, "web", "https://wine.example/fish"),
    ]
    assert found[0].score == 0.9
