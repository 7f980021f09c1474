"""MCP-11: whether a sentence supports a claim, contradicts it, or neither."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harry_mcp.domain.claims import ClaimRules, Stance, weigh
from harry_mcp.domain.differences import Vocabulary

pytestmark = pytest.mark.promise("MCP-11")

RULES = ClaimRules(support_words=0.85, support_cosine=0.75, contradict_words=0.85, contradict_cosine=0.7)

SUPPORTED = [
    ("The API takes 600 requests a minute.", "The API takes 600 requests a minute, on every plan."),
    ("The API takes 600 requests per minute.", "By default, the public API takes 600 requests a minute."),
    ("You can delete a site in its settings.", "A site can be removed in its settings."),
    ("Plausible sets no cookies.", "Plausible does not set any cookies."),
    ("SSO isn't available on the Pro plan.", "SSO is not available on the Pro plan."),
    ("Funnels are built from goals rather than raw events.", "Funnels are built from goals, not raw events."),
    ("The export link can no longer be opened.", "After two days the export link can no longer be opened."),
    ("Invoices are sent on March 1st.", "Invoices are sent on 1 March."),
    ("Exports hold two files.", "Exports hold 2 files."),
    ("Refunds are not only given to members.", "Refunds are not only given to members of the club."),
    ("You can turn it off in the settings.", "If you do not want it, you can turn it off in the settings."),
    ("Data is kept for 30 days.", "Data is kept for 30 days and can be exported for 7 days more."),
]

CONTRADICTED = [
    ("The API takes 1,000 requests a minute.", "The API takes 600 requests a minute."),
    ("Phone support ends at 20:00.", "Phone support ends at 17:30."),
    ("Data is kept for 60 days.", "Data is kept for 30 days and can be exported for 7 days more."),
    ("TIP 2.1 must be upgraded to TIP 2.2.", "TIP 2.1 must be upgraded to TIP 2.3."),
    ("Invoices are sent on March 15th.", "Invoices are sent on March 1st."),
    ("Merged contacts can be separated again.", "Merged contacts cannot be separated again."),
    ("Merged contacts cannot be separated again.", "Merged contacts can be separated again within 30 days."),
    ("Caching is enabled by default.", "Caching is disabled by default."),
    ("Keys must be deleted before the upgrade.", "Keys must be deleted after the upgrade."),
    ("Funnels are built from raw events, not goals.", "Funnels are built from goals, not raw events."),
    ("Plausible uses cookies and requires a banner.", "Plausible doesn't use cookies and doesn't require a banner."),
    ("A user may belong to four teams.", "A user may belong to one team."),
]

NEITHER = [
    # Something of it is not said.
    ("The API takes 600 requests a minute for Enterprise.", "The API takes 600 requests a minute."),
    ("The API takes 600 requests a minute since 2024.", "The API takes 600 requests a minute."),
    ("Contacts can be exported to Excel.", "Contacts can be exported."),
    ("Probes can be written in Go.", "Probes can be written."),
    # Another thing is spoken of.
    ("Okta needs the Enterprise plan.", "Auth0 needs the Enterprise plan."),
    ("A page can be deleted in the settings.", "A portal can be deleted in the settings."),
    # A number of something else.
    ("Exports hold 30 files.", "Exports are kept for 60 days."),
    ("At most twenty steps fit into a funnel.", "In the funnel, 1,000 people enter a step."),
    # A denial of something else, and two denials.
    ("Caching is not enabled.", "Caching is disabled."),
    # The words, and nothing of the meaning.
    ("The IBM release supports 10.8, 10.7 and 10.8.", "The IBM release supports 10.6, 10.7 and 10.8."),
]


@pytest.mark.parametrize(("claim", "sentence"), SUPPORTED)
def test_what_supports(claim: str, sentence: str) -> None:
    assert weigh(claim, sentence, 0.9, RULES).stance is Stance.SUPPORTS


@pytest.mark.parametrize(("claim", "sentence"), CONTRADICTED)
def test_what_contradicts_and_says_why(claim: str, sentence: str) -> None:
    weighed = weigh(claim, sentence, 0.9, RULES)
    assert weighed.stance is Stance.CONTRADICTS
    assert weighed.differs


@pytest.mark.parametrize(("claim", "sentence"), NEITHER)
def test_what_settles_nothing(claim: str, sentence: str) -> None:
    assert weigh(claim, sentence, 0.9, RULES).stance is Stance.NEAR


def test_title_and_headings_say_what_the_sentence_is_about() -> None:
    claim, sentence = "The Okta connector takes 600 requests a minute.", "It takes 600 requests a minute."
    assert weigh(claim, sentence, 0.9, RULES).stance is Stance.NEAR
    assert weigh(claim, sentence, 0.9, RULES, context="Connectors > Okta").stance is Stance.SUPPORTS


def test_far_sentences_settle_nothing() -> None:
    for claim, sentence in (*SUPPORTED, *CONTRADICTED):
        assert weigh(claim, sentence, 0.5, RULES).stance is Stance.NEAR


def test_a_name_that_begins_a_sentence_is_known_from_the_documents() -> None:
    claim = "Claude updates the stage when a deal closes, associates or moves."
    sentence = "HubSpot updates the stage when a deal closes, associates or moves."
    known = Vocabulary(named=frozenset({"claude", "hubspot"}))
    assert weigh(claim, sentence, 0.9, RULES, vocabulary=known).stance is Stance.NEAR


@pytest.mark.parametrize("text", [sentence for _, sentence in (*SUPPORTED, *CONTRADICTED)])
def test_every_sentence_supports_itself(text: str) -> None:
    assert weigh(text, text, 1.0, RULES).stance is Stance.SUPPORTS


@given(st.text(max_size=120), st.text(max_size=120), st.text(max_size=40), st.floats(-1, 1))
def test_any_texts_can_be_weighed(claim: str, sentence: str, context: str, cosine: float) -> None:
    weighed = weigh(claim, sentence, cosine, RULES, context=context)
    assert 0 <= weighed.covered <= 1
    if weighed.stance is Stance.CONTRADICTS:
        assert weighed.differs
        assert cosine >= RULES.contradict_cosine
    if weighed.stance is Stance.SUPPORTS:
        assert weighed.differs == ""
        assert cosine >= RULES.support_cosine
