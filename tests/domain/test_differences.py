"""VER-4, COR-2: what differs between two short texts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harry_mcp.domain.differences import (
    Differences,
    Grade,
    Kind,
    Thresholds,
    Vocabulary,
    differences,
    mergeable,
    same_question,
)

DIFFERENT = [
    # Numbers, units, versions, dates
    (Kind.NUMBER, "Wait two minutes", "Wait three minutes"),
    (Kind.NUMBER, "API requests are limited to 1000 per hour", "API requests are limited to 600 per hour"),
    (Kind.NUMBER, "Comment supprimer 3 contacts ?", "Comment supprimer 5 contacts ?"),
    (Kind.NUMBER, "SQLCODE 1585", "SQLCODE -1585"),
    (Kind.UNIT, "The limit is 5 MB", "The limit is 5 GB"),
    (Kind.UNIT, "set timeout to 30 seconds", "set timeout to 30 minutes"),
    (Kind.UNIT, "price is $20", "price is €20"),
    (Kind.VERSION, "Does the API v1 support webhooks?", "Does the API v3 support webhooks?"),
    (Kind.VERSION, "Upgrade to 8.5.5.6", "Upgrade to 8.5.5.9"),
    (Kind.NUMBER, "Portal 8.5 fails", "Portal 85 fails"),
    (Kind.NUMBER, "What is new in 2.0?", "What is new in 2.1?"),
    (Kind.DATE, "The event is on October 15th", "The event is on October 16th"),
    (Kind.DATE, "The event is on October 15th", "The event is on November 15th"),
    (Kind.DATE, "Prices of 2023", "Prices of 2024"),
    # Names, in any case and place, and one where the other text has none
    (Kind.NAME, "What does error E1001 mean?", "What does error E1002 mean?"),
    (Kind.NAME, "call get_user", "call get_team"),
    (Kind.NAME, "open /etc/hosts", "open /etc/passwd"),
    (Kind.NAME, 'Click "Save" to finish', 'Click "Publish" to finish'),
    (Kind.NAME, "How do I connect Slack to my account?", "What is the way to connect Zoom to my account?"),
    (Kind.NAME, "How do I export contacts from HubSpot?", "How do I export contacts?"),
    (Kind.OBJECT, "Slack integration is not working", "Zoom integration is not working"),
    (Kind.OBJECT, "how to connect hubspot to gmail", "how to connect hubspot to outlook"),
    # Another thing
    (Kind.OBJECT, "How do I delete a contact?", "Hi, how can I delete a company? Thanks"),
    (Kind.OBJECT, "how do i create a workflow for deals", "how do i create a workflow for tickets"),
    (Kind.OBJECT, "How do I export a list?", "How do I export a contact list?"),
    (Kind.OBJECT, "How do I reset my password?", "How do I change my email?"),
    (Kind.OBJECT, "如何删除联系人", "如何删除公司"),
    # Negation
    (Kind.NEGATION, "I can log in", "I can't log in"),
    (Kind.NEGATION, "Admins can see all deals", "Admins can no longer see all deals"),
    (Kind.NEGATION, "Lessons never expire", "Lessons expire"),
    (Kind.NEGATION, "Run the update without a backup", "Run the update with a backup"),
    # Opposites
    (Kind.OPPOSITE, "How do I turn on notifications?", "How do I turn off notifications?"),
    (Kind.OPPOSITE, "switch on dark mode", "switch dark mode off"),
    (Kind.OPPOSITE, "How do I enable tracking?", "What is the way to turn tracking off?"),
    (Kind.OPPOSITE, "How do I delete a contact?", "How do I create a contact?"),
    (Kind.OPPOSITE, "back up before the upgrade", "back up after the upgrade"),
    (Kind.OPPOSITE, "the page is published", "the page is unpublished"),
    (Kind.OPPOSITE, "Installing the agent fails", "Uninstalling the agent fails"),
    (Kind.OPPOSITE, "What is the maximum file size?", "What is the minimum file size?"),
    (Kind.OPPOSITE, "is it allowed to share links", "is it forbidden to share links"),
    # Who does what to whom
    (Kind.DIRECTION, "import from Salesforce to HubSpot", "import from HubSpot to Salesforce"),
    (Kind.DIRECTION, "link contacts to companies", "link companies to contacts"),
    (Kind.DIRECTION, "Can Plausible replace Matomo?", "Can Matomo replace Plausible?"),
    (Kind.DIRECTION, "How much is shipping to Canada?", "How much is shipping from Canada?"),
    (Kind.DIRECTION, "Upgrade from 8.5 to 9.0", "Upgrade from 9.0 to 8.5"),
    # Platforms, editions, formats
    (Kind.VARIANT, "How to install on Windows?", "How to install on Linux?"),
    (Kind.VARIANT, "How to install the agent?", "How to install the agent on linux?"),
    (Kind.VARIANT, "Is the free plan limited?", "Is the pro plan limited?"),
    (Kind.VARIANT, "send the weekly report", "send the monthly report"),
]

SAME = [
    ("How do I delete a contact?", "How can I remove a contact?"),
    ("How do I turn notifications off?", "disable notifications"),
    ("Wait 2 minutes", "Wait two minutes"),
    ("1,000 requests", "1000 requests"),
    ("5GB", "5 GB"),
    ("October 15th", "15 October"),
    ("2023-10-15", "October 15, 2023"),
    ("version 2.0", "v2.0"),
    ("30-day trial", "30 day trial"),
    ("utf-8 file", "UTF8 file"),
    ("hubspot api limits", "HubSpot API limits"),
    ("hub spot import", "HubSpot import"),
    ("HF Spaces", "Hugging Face Spaces"),
    ("e-mail address", "email address"),
    ("The feature isn't supported", "The feature is unsupported"),
    ("It is not enabled", "It is disabled"),
    ("I can't log in", "I am unable to log in"),
    ("I cannot login", "I can not log in"),
    ("The install fails with E1001", "The install does not work with E1001"),
    ("In HubSpot, how do I create a list?", "How do I create a list in HubSpot?"),
    ("Hi! Could you please tell me how to export contacts? Thanks", "How do I export contacts?"),
    ("Good morning, how do I export contacts?", "How do I export contacts?"),
    ("websphere aplication server crash", "WebSphere Application Server crash"),
    ("colour of the button", "color of the button"),
    ("Contacts are deleted after 90 days", "After 90 days contacts are deleted"),
]


@pytest.mark.promise("VER-4")
@pytest.mark.parametrize(("kind", "a", "b"), DIFFERENT)
def test_a_difference_that_changes_the_answer_is_named(kind: Kind, a: str, b: str) -> None:
    found = differences(a, b)
    assert kind in {each.kind for each in found.blocking}
    assert same_question(a, b, 0.99, Thresholds()).grade is Grade.PARTIAL
    assert not mergeable(a, b, 0.99)


@pytest.mark.promise("VER-4")
@pytest.mark.parametrize(("a", "b"), SAME)
def test_other_words_for_the_same_are_no_difference(a: str, b: str) -> None:
    assert differences(a, b).blocking == ()
    assert same_question(a, b, 0.9, Thresholds()).grade is Grade.EXACT


def test_a_reason_shows_both_fragments_to_a_person() -> None:
    (version,) = differences("the API v1", "the API v3").blocking
    assert str(version) == "another version: “v1” and “v3”"
    (alone,) = differences("Install the agent", "Install the agent on Linux").blocking
    assert str(alone) == "another platform, edition or format: “Linux” in one of them only"


@pytest.mark.parametrize(
    ("cosine", "grade"),
    [(0.849, Grade.PARTIAL), (0.85, Grade.EXACT), (0.70, Grade.PARTIAL), (0.699, Grade.NONE)],
)
def test_grades_begin_at_their_thresholds(cosine: float, grade: Grade) -> None:
    assert same_question("How do I delete a contact?", "How to delete a contact", cosine, Thresholds()).grade is grade


def test_a_doubtful_pair_may_need_a_higher_cosine() -> None:
    a = "Please, how can I export my contacts from hubspot?"
    b = "What's the way to get companies exported out of hubspot?"
    assert differences(a, b).uncertain
    assert same_question(a, b, 0.9, Thresholds()).grade is Grade.EXACT
    assert same_question(a, b, 0.9, Thresholds(doubtful=0.95)).grade is Grade.PARTIAL


@pytest.mark.promise("COR-2")
def test_lessons_merge_only_when_near_and_without_a_difference() -> None:
    lesson = "The webinar takes place on October 15th"
    assert mergeable(lesson, "the webinar takes place on 15 October.", 0.92)
    assert not mergeable(lesson, "the webinar takes place on 15 October.", 0.919)
    assert not mergeable(lesson, "The webinar takes place on October 16th", 0.99)


def test_the_knowledge_base_tells_names_in_lower_case_and_slips_from_words() -> None:
    a, b = "how can i get kaggle data into the hub", "what is the way to load zenodo data into the hub"
    pages = ["Data from Kaggle and Zenodo is loaded by name. Zenodo and Kaggle are free."]
    assert differences(a, b).blocking == ()
    assert {each.kind for each in differences(a, b, vocabulary=Vocabulary.of(pages)).blocking} == {Kind.NAME}
    words = Vocabulary.of(["A contact signs a contract.", "Each contract has a contact and an instance, an instance."])
    assert differences("new contact for Ann", "new contract for Ann", vocabulary=words).blocking
    assert not differences("restart the instance", "restart the insttance").blocking
    assert not differences("restart the instance", "restart the insance", vocabulary=words).blocking


VOCABULARY = """how do I delete create the contact in HubSpot not 5 GB v2.1 from to Windows E1001 turn on off two
    get_user export before after without October 15th WebSphere Server don't 8.5 85 -5"""
WORDS = st.lists(st.sampled_from(VOCABULARY.split()), max_size=14)


@settings(deadline=None)
@given(WORDS, WORDS)
def test_the_order_of_the_two_texts_does_not_matter(a: list[str], b: list[str]) -> None:
    one, other = differences(" ".join(a), " ".join(b)), differences(" ".join(b), " ".join(a))
    assert one == Differences(tuple(each.turned for each in other.found))


@settings(deadline=None)
@given(st.text(max_size=300))
def test_a_text_equals_itself(text: str) -> None:
    assert not differences(text, text)


@settings(deadline=None)
@given(st.text(max_size=120), st.text(max_size=120))
def test_any_two_texts_can_be_compared(a: str, b: str) -> None:
    found = differences(a, b)
    assert len(found.blocking) + len(found.uncertain) == len(found.found)
    assert found == Differences(tuple(each.turned for each in differences(b, a).found))


@settings(deadline=None)
@given(WORDS, st.sampled_from(["  ", "\t", " ", ", ", "! "]), st.sampled_from(["", "?", "...", "!"]))
def test_case_spacing_and_punctuation_do_not_matter(words: list[str], between: str, end: str) -> None:
    plain = " ".join(words)
    assert not differences(plain, plain.upper())
    assert not differences(plain, plain.lower())
    assert not differences(plain, between.join(words) + end)
