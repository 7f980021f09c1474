"""CUR-11: documents that deny each other, told from those that only are alike."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from harry_mcp.domain.disagreeing import denied, disagreements, siblings

pytestmark = pytest.mark.promise("CUR-11")

DENY = [
    ("API keys have a limit of 1,000 requests an hour.", "API keys have a limit of 600 requests an hour."),
    ("The trial lasts 30 days from the first visit on.", "The trial lasts 14 days from the first visit on."),
    ("Deleted contacts count against your quota.", "Deleted contacts do not count against your quota."),
    ("You can export the stats as a guest.", "You cannot export the stats as a guest."),
    ("A file may have at most 2 MB in all.", "A file may have at most 2 GB in all."),
]
ALIKE = [
    ("Open the export page in Shopify and press Start.", "Open the export page in Magento and press Start."),
    ("This fix also includes those listed in section 2.6.", "This fix also includes those listed in section 2.4."),
    ("Copyright Example Corporation and others 2016.", "Copyright Example Corporation and others 2018."),
    ("It was disclosed with the updates of January 2017.", "It was disclosed with the updates of July 2018."),
    ("Step 2: Adjust the script that you deployed.", "Step 3: Adjust the script that you deployed."),
    ("Tracking 404 error pages is essential for sites.", "Tracking file downloads is essential for sites."),
    ("In this example there are 27 users in all.", "In this example there are 34 users in all."),
    ("Windows 10 shows the icon in the task bar.", "Windows 11 shows the icon in the task bar."),
    ("The API takes 600 requests in an hour.", "The API takes 600 requests in an hour."),
    ("The proxy listens on port 8080 by default.", "The proxy listens on port 9090 by default."),
    (
        "*Related pull requests on the site of the project:* #1193.",
        "*Related pull requests on the site of the project:* #57.",
    ),
    ("A slow query does not hold up others any more (#591).", "A slow query does not hold up others any more (#602)."),
    ("See the beta releases for all changes since 2.11.", "See the beta releases for all changes since 2.12."),
    ("The server of the test suite answers with 2.1 now.", "The server of the test suite answers with 2.2 now."),
    ("print(pattern.match(first_line, other_line, rest)) None", "print(pattern.match(first_line, other_line, rest))"),
    (">>> client.fetch_every_row(limit=10, start=20)", ">>> client.fetch_every_row(limit=50, start=20)"),
]


@pytest.mark.parametrize(("here", "there"), DENY)
def test_another_count_or_a_denial_of_the_same_is_a_contradiction(here: str, there: str) -> None:
    assert denied(here, there)
    assert len(disagreements(f"Intro.\n\n{here} More.", f"Other words. {there}")) == 1


@pytest.mark.parametrize(("here", "there"), ALIKE)
def test_names_versions_dates_references_and_examples_are_none(here: str, there: str) -> None:
    assert disagreements(here, there) == []
    assert disagreements(there, here) == []


def test_titles_that_differ_in_a_version_name_siblings() -> None:
    assert siblings(("Limits in v1", "Limits in v2"))
    assert siblings(("Release notes 2024", "Release notes 2025"))
    assert not siblings(("API limits", "Limits of the API"))


def test_real_versions_show_it_and_real_neighbours_do_not(shared_data: Path) -> None:
    with gzip.open(shared_data / "plausible" / "page_pairs.jsonl.gz", "rt", encoding="utf-8") as lines:
        pairs = [json.loads(line) for line in lines]
    texts = {pair["page"]: pair["new"] for pair in pairs if pair["relation"] == "same_page_older"}
    versions = [pair for pair in pairs if pair["relation"] == "same_page_older"]
    others = [
        pair for pair in pairs if pair["relation"] != "same_page_older" and {pair["page"], pair["other"]} <= set(texts)
    ]
    assert len(others) > 100
    assert sum(bool(disagreements(pair["old"], pair["new"])) for pair in versions) >= 4
    assert [pair["id"] for pair in others if disagreements(texts[pair["page"]], texts[pair["other"]])] == []
