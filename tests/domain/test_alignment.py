"""CUR-2, CUR-11: two versions of a text side by side."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harry_mcp.domain.alignment import Aligned, changed_statements, distance, statements

pytestmark = pytest.mark.promise("CUR-11")

PAGE = """# Limits

The API takes 1,000 requests an hour, e.g. for a nightly import. Ask us for more.

* Keys are made under **Settings**.
* A key that is not used for a year is
  deleted.

| Plan | Seats |
|------|-------|
| Team | 10 |

```
curl https://api.example.com/v1 # ask
retries=3
```
"""


def test_a_text_is_cut_into_what_it_states() -> None:
    assert list(statements(PAGE)) == [
        "Limits",
        "The API takes 1,000 requests an hour, e.g. for a nightly import.",
        "Ask us for more.",
        "Keys are made under **Settings**.",
        "A key that is not used for a year is deleted.",
        "| Plan | Seats |",
        "| Team | 10 |",
        "curl https://api.example.com/v1 # ask",
        "retries=3",
    ]


@pytest.mark.parametrize(
    ("old", "new", "before", "after"),
    [
        ("1,000", "600", "The API takes 1,000 requests an hour, e.g. for a nightly import.", "The API takes 600 req"),
        ("**Settings**", "**Account**", "Keys are made under **Settings**.", "Keys are made under **Account**."),
        ("| Team | 10 |", "| Team | 25 |", "| Team | 10 |", "| Team | 25 |"),
        ("retries=3", "retries=5", "retries=3", "retries=5"),
    ],
)
def test_a_statement_stands_beside_the_one_that_took_its_place(old: str, new: str, before: str, after: str) -> None:
    (pair,) = changed_statements(PAGE, PAGE.replace(old, new))
    assert pair.before == before
    assert pair.after.startswith(after)


def test_what_only_moved_or_is_laid_out_otherwise_did_not_change() -> None:
    parts = PAGE.split("\n\n")
    assert changed_statements(PAGE, "\n\n".join(reversed(parts))) == []
    laid_out = PAGE.replace("Ask us for more.", "<div>Ask us for more.</div> <img alt='a picture' src='x.png'>")
    assert changed_statements(PAGE, laid_out) == []
    links = "See [the guide](old.md) for details of it."
    assert changed_statements(links, links.replace("old", "new")) == []


def test_what_is_gone_and_what_is_new_stand_alone() -> None:
    new = PAGE.replace("Ask us for more.", "Invoices come on the first of a month.")
    assert changed_statements(PAGE, new) == [
        Aligned("", "Invoices come on the first of a month."),
        Aligned("Ask us for more.", ""),
    ]


def test_a_sentence_that_was_split_stands_beside_both_halves() -> None:
    before = "Exports are sent by mail within an hour, and they cannot be larger than two gigabytes in all."
    after = "Exports are sent by mail within an hour. They cannot be larger than two gigabytes in all."
    assert changed_statements(before, after) == [Aligned(before, after)]


def test_scripts_without_spaces_are_compared_too() -> None:
    assert 0 < distance("每小时最多一千个请求。", "每小时最多六百个请求。") < 1
    (pair,) = changed_statements("每小时最多一千个请求。请联系支持。", "每小时最多六百个请求。请联系支持。")
    assert pair == Aligned("每小时最多一千个请求。", "每小时最多六百个请求。")


@pytest.mark.promise("CUR-2")
def test_the_distance_is_jaccards_over_words() -> None:
    assert distance("a b c", "B  c, A!") == 0
    assert distance("a b", "b c") == pytest.approx(2 / 3)
    assert distance("a", "b") == 1
    assert distance("", "") == 0


@settings(deadline=None)
@given(st.text(max_size=300), st.text(max_size=300))
def test_every_text_can_be_compared(before: str, after: str) -> None:
    assert 0 <= distance(before, after) <= 1
    assert distance(before, after) == distance(after, before)
    assert changed_statements(before, before) == []
    pairs = changed_statements(before, after)
    assert all(pair.before or pair.after for pair in pairs)
    assert {pair.before for pair in pairs if pair.before} <= set(statements(before))
