"""CUR-11: superseded facts are told from rewordings."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harry_mcp.domain.differences import superseded

SUPERSEDED = [
    ("API keys have a limit of 1000 requests an hour.", "API keys have a limit of 600 requests an hour."),
    ('Click "**Import**" to begin.', 'Click "**Continue**" to begin.'),
    ("Deleted contacts do not count.", "Deleted contacts count."),
    ("Use Looker Studio for dashboards.", "Use Data Studio for dashboards."),
]
REWORDED = [
    ("Step 2: Update your Nginx config", "Step 3: Update your Nginx config"),
    ('Click on "**Settings**".', "Click on `Settings`."),
    ("You can export goals.", "You can export goals and funnels."),
    ("See [the guide](old.md) for details.", "See [the guide](new.md) for details."),
    ("Remove a site from your account.", "Delete a site from your account."),
]


@pytest.mark.promise("CUR-11")
@pytest.mark.parametrize(("before", "after"), SUPERSEDED)
def test_a_changed_number_label_name_or_denial_supersedes(before: str, after: str) -> None:
    assert superseded(before, after) > 0.5


@pytest.mark.promise("CUR-11")
@pytest.mark.parametrize(("before", "after"), REWORDED)
def test_other_words_markup_numbering_and_additions_do_not(before: str, after: str) -> None:
    assert superseded(before, after) < 0.3


@pytest.mark.promise("CUR-11")
def test_labelled_edits_of_real_documentation_are_told_apart(shared_data: Path) -> None:
    lines = (shared_data / "changed_facts" / "gold.jsonl").read_text(encoding="utf-8").splitlines()
    edits = [json.loads(line) for line in lines]
    scores: dict[int, list[float]] = {0: [], 1: []}
    for edit in edits:
        scores[int(edit["label"])].append(superseded(str(edit["old"]), str(edit["new"])))
    # The area under the ROC curve: how often a superseded fact scores above a rewording, ties counted half.
    area = mean((one > other) + (one == other) / 2 for one in scores[1] for other in scores[0])
    assert area >= 0.80


@settings(deadline=None)
@given(st.text(max_size=200), st.text(max_size=200))
def test_any_edit_has_a_score(before: str, after: str) -> None:
    assert 0 <= superseded(before, after) <= 1
    assert superseded(before, before) < 0.05
