"""MCP-11: passages cut into the statements that they make."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harry_mcp.domain.sentences import plain, sentences

PAGE = """\
# Limits

The API takes **600 requests** a minute. See [the
guide](https://e.com/a_b) for v1.2 of it, e.g. the part on quotas. It ends there.

- Exports are CSV files
- Links expire after 48 hours. Ask again then!
1. Open *Settings*.

| Plan | Seats |
|------|-------|
| Pro  | 10    |

```python
print("Not. A. Statement.")
```
> Quoted text counts too.
"""


def test_each_statement_stands_alone_without_its_markup() -> None:
    found = sentences(PAGE)
    assert [each.plain for each in found] == [
        "The API takes 600 requests a minute.",
        "See the guide for v1.2 of it, e.g. the part on quotas.",
        "It ends there.",
        "Exports are CSV files",
        "Links expire after 48 hours.",
        "Ask again then!",
        "Open Settings.",
        "Plan, Seats",
        "Pro, 10",
        "Quoted text counts too.",
    ]
    assert found[0].text == "The API takes **600 requests** a minute."


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Dr. Smith of the U.S. office costs approx. 5 dollars.", 1),
        ("Support ends at 5 p.m. on Fridays.", 1),
        ("The file is at example.com. Open it!", 2),
        ("请使用新的密钥。旧的已失效。", 2),
        ("Is it so? Yes.", 2),
        ("no end here\nnor here", 1),
        ("", 0),
        ("---\n\n***\n12.5", 0),
        ("```\nnever closed. Never said.", 0),
    ],
)
def test_where_a_statement_ends(text: str, number: int) -> None:
    assert len(sentences(text)) == number


@given(st.text(max_size=300))
def test_every_statement_stands_in_its_text(text: str) -> None:
    for each in sentences(text):
        # Line ends may be of any kind.
        assert "".join(each.text.split()) in "".join(text.split())
        assert any(character.isalpha() for character in each.plain)
        assert plain(each.plain) or each.plain
