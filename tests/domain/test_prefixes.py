"""OPS-6: an index of whole words finds every source that a filter by prefix lets through."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harry_mcp.domain.prefixes import beginnings, longest_beginning

pytestmark = pytest.mark.promise("OPS-6")

TEXTS = st.text(alphabet="ab/:", max_size=40)


@given(prefix=TEXTS, rest=TEXTS)
def test_what_begins_with_a_prefix_has_its_longest_beginning(prefix: str, rest: str) -> None:
    longest = longest_beginning(prefix)
    assert not longest or longest in beginnings(prefix + rest)
    assert prefix.startswith(longest)


def test_beginnings_end_at_slashes_and_are_few() -> None:
    assert beginnings("https://docs.example.com/a/b.html") == [
        "https:/",
        "https://",
        "https://docs.example.com/",
        "https://docs.example.com/a/",
    ]
    assert beginnings("file:notes.md") == []
    assert len(beginnings("a/" * 500)) == 12
    assert longest_beginning("https://docs.example.com/a") == "https://docs.example.com/"
