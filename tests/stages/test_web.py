"""VER-6: what the web brings is let through only from listed hosts, over the floor, and in its best passages."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from harry_mcp.domain.hosts import AllowList
from harry_mcp.domain.tokens import index_terms
from harry_mcp.domain.web import RefusedPage, WebPage, cache_key, shown_address
from harry_mcp.stages.verify.picking import pick
from harry_mcp.stages.verify.web import sift
from tests.storage.test_keywords import reference_scores

pytestmark = pytest.mark.promise("VER-6")

LISTED = AllowList.of(["example.com"])


def page(url: str, score: float = 0.9) -> WebPage:
    return WebPage(url=url, score=score)


def test_pages_are_kept_best_first_and_each_address_once() -> None:
    kept, refused = sift(
        [
            page("https://docs.example.com/a#one", 0.70),
            page("HTTPS://DOCS.example.com/a#two", 0.95),
            page("https://example.com/b", 0.65),
            page("https://example.com/c", 0.6499),
            page("https://example.com.evil.example/d", 0.99),
        ],
        LISTED,
        0.65,
    )
    assert [(item.address, item.page.score) for item in kept] == [
        ("https://docs.example.com/a", 0.95),
        ("https://example.com/b", 0.65),
    ]
    assert refused == [
        RefusedPage(url="https://example.com.evil.example/d", reason="its host is not on the allow-list"),
        RefusedPage(url="https://example.com/c", reason="its score 0.6499 is under 0.65"),
    ]


def test_a_refused_address_is_shown_so_that_its_disguise_is_seen() -> None:
    assert shown_address("https://exаmple.com/\u202e\n\x00x") == "https://ex\\u0430mple.com/\\u202e??x"
    assert len(shown_address("https://example.com/" + "a" * 9000)) == 120
    assert shown_address("\ud800") == "\\ud800"


PAGES = [
    [
        "Open Settings and press Rotate to rotate the API key.",
        "The API key of a user is shown once.",
        "Our offices are closed on Sunday.",
        "To rotate a key for all users, rotate the API key of the owner.",
        "Rotate an API key every 90 days.",
        "The old API key works for an hour after you rotate it.",
    ],
    ["Cookies help us to give you the best experience.", "Rotate the key."],
    ["Impressum und Datenschutz."],
    [],
]


def test_the_best_passages_of_each_page_are_chosen_and_stay_in_the_order_of_the_page() -> None:
    chosen = pick("How do I rotate an API key?", PAGES, 3)
    scores = reference_scores(
        [index_terms(text) for texts in PAGES for text in texts], index_terms("How do I rotate an API key?")
    )
    best = sorted(sorted(range(6), key=lambda place: (-scores[place], place))[:3])
    assert chosen[0] == tuple(PAGES[0][place] for place in best)
    assert chosen[1:] == [("Rotate the key.",), (), ()]


def test_a_word_that_most_passages_hold_still_counts_for_something() -> None:
    """rank_bm25's own IDF is negative for such a word; the one of the index never is."""
    texts = ["rotate a", "rotate b", "rotate c", "other"]
    plain: Any = BM25Okapi([index_terms(text) for text in texts])
    assert min(plain.get_scores(["rotat"])) <= 0
    assert pick("rotate", [texts], 9) == [("rotate a", "rotate b", "rotate c")]


@given(st.lists(st.lists(st.text(max_size=20), max_size=5), max_size=4), st.text(max_size=20), st.integers(1, 4))
def test_any_text_can_be_picked_from(pages: list[list[str]], question: str, most: int) -> None:
    chosen = pick(question, pages, most)
    assert len(chosen) == len(pages)
    for texts, own in zip(pages, chosen, strict=True):
        assert len(own) <= most
        places = [texts.index(text) for text in own]
        assert places == sorted(places)


def test_the_same_question_in_other_dress_has_the_same_key_and_other_lists_have_others() -> None:
    key = cache_key("How do I  rotate a key?", ["a.com", "b.com"], (0.65, 3))
    assert cache_key("how do i rotate a KEY ??", ["b.com", "a.com"], (0.65, 3)) == key
    others = [
        cache_key("How do I rotate the key?", ["a.com", "b.com"], (0.65, 3)),
        cache_key("How do I rotate a key?", ["a.com"], (0.65, 3)),
        cache_key("How do I rotate a key?", ["a.com", "b.com"], (0.7, 3)),
    ]
    assert len({key, *others}) == 4
