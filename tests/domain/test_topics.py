"""VER-7: the topic breadcrumb of a question."""

from __future__ import annotations

from pathlib import Path

import pytest

import harry_mcp
from harry_mcp.domain.topics import breadcrumb
from harry_mcp.profile import load_profile

TOPICS = load_profile(Path(harry_mcp.__file__).parent / "profiles" / "hubspot.toml").topics


@pytest.mark.promise("VER-7")
@pytest.mark.parametrize(
    ("text", "crumb"),
    [
        ("How do I merge two contacts?", "CRM > Contacts"),
        ("Can a CONTACT be deleted", "CRM > Contacts"),
        ("Limits of custom objects in deals", "CRM > Custom objects"),
        ("What is new in marketing?", "Marketing"),
        ("Marketing: which email types are there", "Marketing > Email"),
        ("Workflows", "Automation > Workflows"),
        ("Which wine goes with fish?", ""),
        ("", ""),
    ],
)
def test_the_topic_that_a_question_names(text: str, crumb: str) -> None:
    assert breadcrumb(text, TOPICS) == crumb


@pytest.mark.promise("VER-7")
def test_no_topics_and_topics_without_words_name_nothing() -> None:
    assert breadcrumb("Contacts", {}) == ""
    assert breadcrumb("the of", {"The": ["of", "?"]}) == ""
