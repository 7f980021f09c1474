"""VER-1, VER-2, VER-3, VER-4, VER-9: which official answer serves a question, and the reason when none does."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harry_mcp.domain.differences import Vocabulary
from harry_mcp.domain.verified import Match, VerifiedMatch, VerifiedStatus
from harry_mcp.settings import VerifySection
from harry_mcp.stages.verify.cache import Near, choose
from harry_mcp.storage.verified import NearResponse

QUESTION = "How do I rotate an API key?"
NOW = datetime(2026, 1, 31, tzinfo=UTC)
ENTRY = NearResponse(
    id="ver_1",
    question=QUESTION,
    answer="Press Rotate.",
    sources=(),
    status=VerifiedStatus.ACTIVE,
    origin="feedback",
    result_id="",
    submitted_by="stdio:ann",
    approved_by="stdio:bob",
    approved_at=NOW,
    uses=0,
    negatives=0,
    threshold=0.0,
    created_at=NOW,
    updated_at=NOW,
    held="",
    refused_cosine=-1.0,
    refused_question="",
)
KEYS = "doc_keys"


def near(cosine: float, documents: frozenset[str] = frozenset({KEYS}), **changes: Any) -> Near:
    return Near(response=replace(ENTRY, **changes), cosine=cosine, documents=documents)


def chosen(question: str, *items: Near, found: tuple[str, ...] = (KEYS, "doc_other"), **settings: Any) -> VerifiedMatch:
    return choose(question, items, found, VerifySection(**settings), Vocabulary())


@pytest.mark.promise("VER-1")
@pytest.mark.parametrize(
    ("cosine", "match", "reason"),
    [
        (0.85, Match.EXACT, ""),
        (0.999, Match.EXACT, ""),
        (0.849, Match.PARTIAL, "near, not the same (cosine 0.849, needed 0.850)"),
        (0.70, Match.PARTIAL, "near, not the same"),
        (0.699, Match.NONE, "No verified response is near"),
    ],
)
def test_the_cosine_proposes(cosine: float, match: Match, reason: str) -> None:
    found = chosen("How can I rotate the API key?", near(cosine))
    assert found.match is match
    assert reason in found.reason
    assert (found.response is None) == (match is Match.NONE)
    assert found.cosine == (0.0 if match is Match.NONE else cosine)


def test_nothing_near_is_none() -> None:
    assert chosen(QUESTION) == VerifiedMatch(match=Match.NONE, reason="No verified response is near to this question.")


@pytest.mark.promise("VER-4")
@pytest.mark.parametrize(
    ("question", "entry"),
    [
        ("How do I delete an API key?", "How do I create an API key?"),
        ("How do I turn on notifications?", "How do I turn off notifications?"),
        ("How do I migrate to v1 of the API?", "How do I migrate to v3 of the API?"),
        ("Is there a limit of 100 requests?", "Is there a limit of 1,000 requests?"),
        ("How do I connect Slack to Salesforce?", "How do I connect Slack to HubSpot?"),
        ("How do I move contacts from Gmail to Outlook?", "How do I move contacts from Outlook to Gmail?"),
        ("Can an admin delete an owner?", "Can an owner delete an admin?"),
        ("Which plans include single sign-on?", "Which plans do not include single sign-on?"),
    ],
)
@pytest.mark.parametrize("cosine", [0.86, 0.95, 0.9999, 1.0])
def test_another_object_direction_or_number_is_never_exact(question: str, entry: str, cosine: float) -> None:
    found = chosen(question, near(cosine, question=entry))
    assert found.match is Match.PARTIAL
    assert "It answers another question: " in found.reason
    assert chosen(entry, near(cosine, question=question)).match is Match.PARTIAL


@pytest.mark.promise("VER-1")
def test_the_same_words_are_exact_without_evidence_and_over_any_bar() -> None:
    item = near(0.9991, threshold=0.999)
    assert chosen("how do i  ROTATE an api key", item, found=()).match is Match.EXACT


@pytest.mark.promise("VER-2")
def test_complaints_make_it_partial_even_for_its_own_words() -> None:
    found = chosen(QUESTION, near(1.0, uses=7, negatives=3))
    assert (found.match, found.reason) == (Match.PARTIAL, "3 complaints about it stand against 7 uses.")
    assert chosen(QUESTION, near(1.0, uses=10, negatives=1)).match is Match.EXACT


@pytest.mark.promise("VER-3")
def test_its_own_bar_counts_where_it_is_higher() -> None:
    paraphrase = "How can I rotate the API key?"
    found = chosen(paraphrase, near(0.93, threshold=0.941))
    assert found.match is Match.PARTIAL
    assert "cosine 0.930, needed 0.941" in found.reason
    assert chosen(paraphrase, near(0.95, threshold=0.941)).match is Match.EXACT
    assert chosen(paraphrase, near(0.93, threshold=0.5)).match is Match.EXACT


@pytest.mark.promise("VER-9")
def test_a_held_entry_is_context_with_the_reason() -> None:
    found = chosen(QUESTION, near(1.0, held="a cited document changed since it was approved: Keys"))
    assert found.match is Match.PARTIAL
    assert "held back for review: a cited document changed" in found.reason


@pytest.mark.promise("VER-4")
@pytest.mark.parametrize(
    ("question", "cosine", "refused", "refused_cosine", "serves"),
    [
        # That very question, whatever the cosine to the entry.
        ("How do I rotate a signing key", 0.99, "How do I rotate a signing key?", 1.0, False),
        # In other words: nearer to what was refused.
        ("How can I rotate my signing key?", 0.86, "How do I rotate a signing key?", 0.93, False),
        ("What rotates a signing key?", 0.71, "How do I rotate a signing key?", 0.72, False),
        # Nearer to the entry, but it differs from what was refused in nothing.
        ("How can I rotate the API keys?", 0.97, "How do I rotate the API keys?", 0.96, False),
        # Another question altogether, and the entry's own words, are served.
        ("How can I rotate the API key?", 0.97, "How do I rotate a signing key?", 0.88, True),
        (QUESTION, 1.0, "How do I rotate a signing key?", 0.9, True),
        ("How can I rotate the API key?", 0.97, "How do I pay an invoice?", 0.2, True),
    ],
)
def test_never_this_for_that_holds_in_other_words(
    question: str, cosine: float, refused: str, refused_cosine: float, serves: bool
) -> None:
    found = chosen(question, near(cosine, refused_question=refused, refused_cosine=refused_cosine))
    if serves:
        assert found.match is Match.EXACT
    else:
        assert (found.match, found.response) == (Match.NONE, None)
        assert found.reason == f"A curator said that ver_1 must never be served for “{refused}”."


@pytest.mark.promise("VER-4")
def test_behind_a_refused_one_the_next_is_looked_at() -> None:
    refused = near(0.97, refused_question="How can I rotate the API key?", refused_cosine=1.0)
    other = near(0.96, id="ver_2", question="How to rotate an API key")
    found = chosen("How can I rotate the API key?", refused, other)
    assert (found.match, found.response) == (Match.EXACT, other.response)
    context = near(0.80, id="ver_3", question="Where are API keys?")
    found = chosen("How can I rotate the API key?", refused, context)
    assert (found.match, found.response) == (Match.PARTIAL, context.response)


@pytest.mark.promise("VER-1")
def test_the_first_exact_one_wins_over_a_nearer_partial_one() -> None:
    blocked = near(0.99, id="ver_2", question="How do I rotate a signing key for v2?")
    good = near(0.90, id="ver_3", question="How can I rotate an API key?")
    found = chosen("How should I rotate an API key?", blocked, good)
    assert (found.match, found.response) == (Match.EXACT, good.response)
    found = chosen("How should I rotate an API key?", blocked, near(0.84, id="ver_4"))
    assert (found.match, found.response) == (Match.PARTIAL, blocked.response)


@pytest.mark.promise("VER-4")
def test_the_search_must_find_what_the_answer_rests_on() -> None:
    paraphrase = "How can I rotate the API key?"
    missing = chosen(paraphrase, near(0.95), found=("doc_other",))
    assert missing.match is Match.PARTIAL
    assert "does not find the documents" in missing.reason
    late = (*(f"doc_{n}" for n in range(5)), KEYS)
    assert chosen(paraphrase, near(0.95), found=late).match is Match.PARTIAL
    assert chosen(paraphrase, near(0.95), found=late, evidence_hits=6).match is Match.EXACT
    assert chosen(paraphrase, near(0.95), found=("doc_other",), evidence_hits=0).match is Match.EXACT
    # What rests on no document of ours has no such evidence.
    assert chosen(paraphrase, near(0.95, documents=frozenset()), found=("doc_other",)).match is Match.EXACT


@pytest.mark.promise("VER-4")
def test_words_that_may_mean_another_thing_need_the_first_document() -> None:
    doubtful = "How do I export all my contacts to a file?"
    entry = near(0.90, question="How can contacts be exported?")
    assert chosen(doubtful, entry, found=(KEYS,)).match is Match.EXACT
    for found in (
        chosen(doubtful, entry, found=("doc_other", KEYS)),
        chosen(doubtful, entry, evidence_hits=0),
        chosen(doubtful, near(0.90, frozenset(), question="How can contacts be exported?")),
    ):
        assert found.match is Match.PARTIAL
        assert "It may answer another question: another thing: “file” in one of them only" in found.reason


@given(
    cosine=st.floats(-1, 1),
    threshold=st.floats(0, 1),
    uses=st.integers(0, 50),
    negatives=st.integers(0, 50),
    held=st.sampled_from(["", "a cited document is gone: doc_1"]),
    refused_cosine=st.floats(-1, 1),
    found=st.lists(st.sampled_from([KEYS, "doc_a", "doc_b"]), unique=True),
)
def test_whatever_comes_a_worse_match_has_a_reason_and_an_exact_one_has_none(
    cosine: float,
    threshold: float,
    uses: int,
    negatives: int,
    held: str,
    refused_cosine: float,
    found: list[str],
) -> None:
    item = near(
        cosine,
        threshold=threshold,
        uses=uses,
        negatives=negatives,
        held=held,
        refused_cosine=refused_cosine,
        refused_question="How do I rotate a signing key?",
    )
    match = chosen("How can I rotate the API key?", item, found=tuple(found))
    assert bool(match.reason) == (match.match is not Match.EXACT)
    if match.match is Match.EXACT:
        assert cosine >= max(0.85, threshold)
        assert not held
        assert cosine > refused_cosine or refused_cosine < 0.7
        assert KEYS in found
