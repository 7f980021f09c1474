"""CUR-11: superseded facts are told from rewordings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harry_mcp.domain.alignment import changed_statements
from harry_mcp.domain.edits import bare, superseded
from harry_mcp.domain.edits.measured import measured

SUPERSEDED = [
    ("API keys have a limit of 1000 requests an hour.", "API keys have a limit of 600 requests an hour."),
    ('Click "**Import**" to begin.', 'Click "**Continue**" to begin.'),
    ("Deleted contacts do not count.", "Deleted contacts count."),
    ("Deleted contacts count.", "Deleted contacts do not count."),
    ("Use Looker Studio for dashboards.", "Use Data Studio for dashboards."),
    ("If you use WordPress, take the WordPress plugin.", "If you use Drupal, take the WordPress plugin."),
    (
        "Sessions end 5 minutes before the 5 minutes of the reset.",
        "Sessions end 9 minutes before the 5 minutes of the reset.",
    ),
    ("A file may hold at most 500 rows.", "A file may hold at least 500 rows."),
    ("The value must be < 10.", "The value must be > 10."),
    ("The value may be 10.", "The value may be -10."),
    ("You can add unlimited sites.", "You can add up to 50 sites."),
    ("Webhooks are part of all plans.", "Webhooks are only part of all plans."),
    ("The report is sent on Monday.", "The report is sent on Friday."),
    ("| Basic | yes | ✓ |", "| Basic | yes | ✗ |"),
    ("It costs $49 a month.", "It costs €49 a month."),
    ("Die Daten werden in HubSpot gespeichert.", "Die Daten werden in SalesForce gespeichert."),
    ("Shipping is free.", "Shipping is free for orders over 50 euros."),
    ("The sync includes archived deals.", "The sync excludes archived deals."),
]
REWORDED = [
    ("Step 2: Update your Nginx config", "Step 3: Update your Nginx config"),
    ('Click on "**Settings**".', "Click on `Settings`."),
    ("You can export goals.", "You can export goals and funnels."),
    ("See [the guide](old.md) for details.", "See [the guide](new.md) for details."),
    ("Remove a site from your account.", "Delete a site from your account."),
    ("See [the guide][4] for details.[^2]", "See [the guide][7] for details.[^3]"),
    ("You can pick a _date_&nbsp;range.", "You can pick a date range."),
    ("Files may hold 10MB.", "Files may hold 10 MB."),
    ("It starts at 2 PM, within 24 hours.", "It starts at 14:00, within one day."),
    ("Archived deals are excluded.", "Archived deals are not included."),
    ("For instance, Anna has 12 visits.", "For instance, Anna has 9 visits."),
    ("**Accept that some visitors won't be counted.**", "**Accept that some visitors will not be counted.**"),
    ("[![The menu][28]][28]", "[![The menu][30]][30]"),
    ("| Page | 0.09g |", "| Page | 0,09 g |"),
    ("Ein Hinweis wird auf der Website angezeigt.", "Ein Hinweis wird auf der Seite angezeigt."),
    ("`mode` is `a b c d`.", "`mode` is `a b c d e`."),
    ("The filter has the option **is not**.", "The filter has the options **is not** and **does not contain**."),
]


@pytest.mark.promise("CUR-11")
@pytest.mark.parametrize(("before", "after"), SUPERSEDED)
def test_a_changed_number_label_name_or_denial_supersedes(before: str, after: str) -> None:
    assert superseded(before, after) > 0.5


@pytest.mark.promise("CUR-11")
@pytest.mark.parametrize(("before", "after"), REWORDED)
def test_other_words_markup_numbering_and_additions_do_not(before: str, after: str) -> None:
    assert superseded(before, after) < 0.4


@pytest.mark.promise("CUR-11")
def test_labelled_edits_of_real_documentation_are_told_apart(shared_data: Path) -> None:
    lines = (shared_data / "changed_facts" / "gold.jsonl").read_text(encoding="utf-8").splitlines()
    edits = [json.loads(line) for line in lines]
    scores: dict[int, list[float]] = {0: [], 1: []}
    for edit in edits:
        scores[int(edit["label"])].append(superseded(str(edit["old"]), str(edit["new"])))
    assert area(scores[1], scores[0]) >= 0.90


def area(superseded_ones: Sequence[float], reworded: Sequence[float]) -> float:
    """Under the ROC curve: how often a superseded fact scores above a rewording, ties counted half."""
    return mean((one > other) + (one == other) / 2 for one in superseded_ones for other in reworded)


@pytest.mark.promise("CUR-11")
def test_every_kind_of_change_is_told_from_rewordings() -> None:
    """Our own edits, of kinds that the labelled ones have few of: units, dates, limits, values, conditions and more."""
    lines = (Path(__file__).parents[1] / "evals" / "data" / "edits.jsonl").read_text(encoding="utf-8").splitlines()
    edits = [json.loads(line) for line in lines]
    reworded = [superseded(edit["old"], edit["new"]) for edit in edits if not edit["label"]]
    assert sum(score >= 0.75 for score in reworded) <= 2
    found: dict[str, list[float]] = {}
    for edit in edits:
        if edit["label"]:
            found.setdefault(edit["kind"], []).append(superseded(edit["old"], edit["new"]))
    areas = {kind: area(scores, reworded) for kind, scores in found.items()}
    assert areas.pop("condition") >= 0.80, "the hardest: an added condition looks like any other addition"
    assert min(areas.values()) >= 0.90, areas


@pytest.mark.promise("CUR-11")
def test_what_is_markup_says_nothing_and_code_stays() -> None:
    assert bare("Step 2: See [the `x < y` guide](a(b).md)[^1] {: .wide }<br/>\u00ad").split() == [
        "See",
        "the",
        "`x",
        "<",
        "y`",
        "guide",
    ]
    assert bare("`[a](b)` and __c__ and d_e_f") == "`[a](b)` and c and d_e_f"
    assert measured("10K rows in 10MB, 90 minutes or 120 minutes") == "10000 rows in 10 MB, 90 minutes or 2 hours"


@pytest.mark.promise("CUR-11")
def test_long_and_odd_statements_are_compared_around_the_edit() -> None:
    words = " ".join(f"word{number}" for number in range(40_000))
    assert superseded(f"{words} takes 10 rows {words}", f"{words} takes 90 rows {words}") >= 0.75
    for odd in ("[", "`", "<a ", "[a](", "{: ", ":a", "**a", "| "):
        assert 0 <= superseded(odd * 50_000, odd * 50_000 + "b 1") <= 1


@pytest.mark.promise("CUR-11")
def test_a_long_table_is_changed_row_by_row() -> None:
    old = "\n".join(f"| Part {number} | costs {number + 10_000} euros |" for number in range(3000))
    new = "\n".join(f"| Part {number} | costs {number + 20_000} euros |" for number in range(3000))
    pairs = changed_statements(old, new)
    assert len(pairs) == 3000
    assert all(pair.before.split(" costs ")[0] == pair.after.split(" costs ")[0] for pair in pairs)


@settings(deadline=None)
@given(st.text(max_size=200), st.text(max_size=200))
def test_any_edit_has_a_score(before: str, after: str) -> None:
    assert 0 <= superseded(before, after) <= 1
    assert superseded(before, before) < 0.05
