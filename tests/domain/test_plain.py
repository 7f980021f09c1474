"""OPS-1: what shows is kept, what does not is gone, and nothing is too long."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harry_mcp.domain.plain import sanitised, visible


@pytest.mark.promise("OPS-1")
@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a\x00b\x1b[31mc\x7f", "ab[31mc"),
        ("left\u202eright\u2066x\u2069", "leftrightx"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("tag\U000e0041\U000e0042s", "tags"),
        ("line\r\nend\u2028here", "line\nend\nhere"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("👩\u200d💻", "👩\u200d💻"),
        ("a\n\n\n\n\nb  \n", "a\n\nb"),
        ("z" + "\u0300" * 40, "z\u0300\u0300\u0300"),
        ("tab\tstays", "tab\tstays"),
    ],
)
def test_what_does_not_show_is_gone(text: str, plain: str) -> None:
    assert sanitised(text, 100) == plain


@pytest.mark.promise("OPS-1")
def test_a_long_text_is_cut_at_a_space_and_says_so() -> None:
    assert sanitised("one two three four", 15) == "one two three…"
    assert sanitised("x" * 50, 10) == "x" * 9 + "…"
    assert sanitised("short", 10) == "short"
    assert sanitised("short", 0) == ""
    assert len(sanitised("\u200b" * 20 + "y" * 50, 10)) == 10


@pytest.mark.promise("OPS-1")
@given(st.text(alphabet=st.characters(), max_size=300), st.integers(1, 120))
def test_bounded_and_settled(text: str, limit: int) -> None:
    plain = sanitised(text, limit)
    assert len(plain) <= limit
    assert sanitised(plain, limit) == plain
    plain.encode("utf-8")
    assert not any(unicodedata.category(character) in ("Cc", "Cs") for character in plain if character not in "\n\t")


@given(st.text(alphabet=st.characters(), max_size=300))
def test_visible_twice_changes_nothing(text: str) -> None:
    assert visible(visible(text)) == visible(text)
