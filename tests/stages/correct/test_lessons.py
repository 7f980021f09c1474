"""COR-1: one lesson each, as far as the form of a text shows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harry_mcp.stages.correct.lessons import count_lessons

pytestmark = pytest.mark.promise("COR-1")


@pytest.mark.parametrize(
    "text",
    [
        "The API takes 600 requests a minute, not 1,000.",
        "The limit is 600. It was 1,000 before March.",
        "Invoices go out on the first. This holds for all plans.",
        "Merging is final. There is no undo.",
        "Use v1.2. Older versions crash.",
        "See e.g. Settings > API. Keys are listed there.",
        "Refunds take 5 to 10 business days. Not two.",
        "Exports are CSV files; there is no Excel format.",
        "PostgreSQL 12 is out of support; upgrade to 14 or newer.",
        "The display shows E07. The speed sensor is the cause.",
        "Contact Dr. Smith in the U.S. office. She grants access.",
        "Orders over 49 euros ship free. Below that, shipping costs 5 euros.",
        "Refunds are possible. However, fees are kept. This is so since May.",
        "Never wash the bin: it must stay dry! Rinse the tank only.",
        "Die Rechnung kommt am Ersten. Sie kommt nicht am 15.",
        "1. The limit is 600.",
        "请使用新的密钥。旧的已失效。",
        "",
    ],
)
def test_a_statement_with_its_reason_is_one(text: str) -> None:
    assert count_lessons(text) == 1


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("- The limit is 600.\n- Invoices go out on the first.", 2),
        ("1. Refunds take ten days.\n2) Exports are CSV.\n3. Links expire.", 3),
        ("The limit is 600; also, invoices go out on the first.", 2),
        ("Refunds take ten days. Also, exports expire after 48 hours.", 2),
        ("The limit is 600. Invoices go out on the first. Exports are CSV files.", 3),
        ("The limit is 600; invoices go out on the first; exports are CSV.", 3),
        ("Exports are CSV files. Furthermore, links expire after 48 hours. Webhooks are retried.", 3),
        ("Sign-on needs Enterprise. Passwords need 14 characters. Codes come without SMS. Data is in Frankfurt.", 4),
    ],
)
def test_several_are_found_and_counted(text: str, number: int) -> None:
    assert count_lessons(text) == number


@given(st.text(max_size=300))
def test_any_text_makes_at_least_one_statement(text: str) -> None:
    assert count_lessons(text) >= 1


@given(st.lists(st.sampled_from(["Limits are low", "Exports are slow", "Codes expire"]), min_size=2, max_size=6))
def test_a_list_is_counted_by_its_items(items: list[str]) -> None:
    assert count_lessons("\n".join(f"- {item}." for item in items)) == len(items)
