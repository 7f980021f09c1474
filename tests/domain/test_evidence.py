"""CUR-6: a curator is told in a sentence what speaks against a document, and sees the passages side by side."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from harry_mcp.domain.curation import PassagePair, Signal
from harry_mcp.domain.evidence import passage_pairs, why

pytestmark = pytest.mark.promise("CUR-6")
PASSAGE = {"before": "1000 requests", "after": "600 requests", "score": 0.9, "differences": ["1000, 600"]}
OTHER = {"document_id": "doc_1", "title": "Limits", "url": "", "version": 2}


def signal(name: str, detail: dict[str, Any], *, settled: bool = False) -> Signal:
    return Signal(signal=name, actor="job:rot", at=datetime.now(UTC), detail=detail, settled=settled)


@pytest.mark.parametrize(
    ("name", "detail", "words"),
    [
        (
            "contradiction",
            {"kind": "version", "before_version": 1, "facts": 2, "distance": 0.4, "passages": [PASSAGE]},
            "it changed at its source, from version 1: 2 facts changed, the words differ by 0.4 (1000, 600)",
        ),
        ("contradiction", {"kind": "address", "other": OTHER}, "it disagrees with Limits (doc_1)"),
        (
            "dead_source",
            {"url": "https://e.com/a", "status": 404, "since": "2026-01-02", "location": ""},
            "https://e.com/a answers 404 since 2026-01-02",
        ),
        (
            "dead_source",
            {"url": "https://e.com/a", "status": 301, "since": "2026-01-02", "location": "https://x.org/"},
            "https://e.com/a answers 301 and leads to https://x.org/ since 2026-01-02",
        ),
        ("negative_feedback", {"correction_id": "cor_1", "comment": "Not so."}, "a correction says otherwise: Not so."),
        ("negative_feedback", {"reason": "wrong", "comment": "No.", "feedback_id": "fb_1"}, "“wrong”: No. (fb_1)"),
        (
            "stale",
            {"unchanged_since": "2025-01-01", "questions": [{"question": "How?"}, {"question": "When?"}]},
            "unchanged since 2025-01-01, and asked in vain: How?; When?",
        ),
        ("draft", {"correction_id": "cor_1", "reporters": 3}, "drafted from cor_1, reported by 3 people"),
        ("draft", {"web_id": "web_1", "question": "How?"}, "drafted from a web page that answered: How?"),
        ("something_new", {"a": 1, "b": "two"}, "a: 1; b: two"),
        ("something_new", {}, "something_new"),
    ],
)
def test_every_signal_is_told(name: str, detail: dict[str, Any], words: str) -> None:
    assert words in why(signal(name, detail))


@pytest.mark.parametrize("name", ["contradiction", "dead_source", "negative_feedback", "stale", "draft"])
def test_what_lacks_its_detail_is_told_too(name: str) -> None:
    assert why(signal(name, {}))
    assert why(signal(name, {"passages": "?", "questions": 7, "other": []}))
    assert passage_pairs([signal(name, {"passages": "?"})]) == []


def test_it_is_short_and_plain() -> None:
    told = why(signal("negative_feedback", {"reason": "wrong", "comment": "a\u202eb " * 900}), limit=120)
    assert len(told) <= 120
    assert "\u202e" not in told


def test_passages_of_open_signals_come_first_and_this_document_stands_after() -> None:
    mine_is_before = {"side": "before", "other": OTHER, "passages": [PASSAGE]}
    settled = signal("contradiction", {"before_version": 1, "passages": [PASSAGE]}, settled=True)
    assert passage_pairs([settled, signal("contradiction", mine_is_before), settled]) == [
        PassagePair("600 requests", "1000 requests", "Limits (doc_1)"),
        PassagePair("1000 requests", "600 requests", "version 1"),
    ]
