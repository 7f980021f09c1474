"""AGT-1, AGT-2, AGT-4: the pure rules of the agent: what the contract asks for, what is code, and what is quoted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harry_mcp.agent.contract import (
    CorrectionNote,
    Hit,
    NextAction,
    Official,
    SearchResult,
    Verdict,
    WebPage,
    WebResult,
)
from harry_mcp.agent.course import Course, code_heavy, course_of, may_ask_web, wants_web
from harry_mcp.agent.quoting import passage, uncovered

HIT = Hit(title="Keys", url="https://docs.example.com/keys", text="Press Rotate.", band="strong", score=0.9)
PAGES = WebResult(next_action="answer_from_web_with_care", results=(WebPage(url="https://w.example/", text="Wine."),))
NOTHING = WebResult()
NOTE = CorrectionNote(lesson="It is so.")


def search(
    action: NextAction,
    *,
    hits: bool = True,
    exact: bool = False,
    corrected: bool = False,
    answers: bool = True,
    band: str = "weak",
) -> SearchResult:
    return SearchResult(
        verdict=Verdict(next_action=action, band=band),
        hits=(HIT,) if hits else (),
        verified=Official(match="exact", answer="So.") if exact else Official(),
        corrections=(NOTE.model_copy(update={"answers": answers}),) if corrected else (),
    )


@pytest.mark.promise("AGT-1")
@pytest.mark.parametrize(
    ("found", "web", "course"),
    [
        (search("answer"), None, Course.ANSWER),
        (search("answer_with_care"), None, Course.CARE),
        (search("answer_with_care", band="strong"), None, Course.DISPUTED),
        (search("call_web_fallback"), PAGES, Course.WEB),
        (search("call_web_fallback"), NOTHING, Course.NOTHING),
        (search("call_web_fallback"), None, Course.NOTHING),
        (search("call_web_fallback", corrected=True), NOTHING, Course.CORRECTIONS),
        (search("call_web_fallback", corrected=True, answers=False), NOTHING, Course.NOTHING),
        (search("call_web_fallback", corrected=True), PAGES, Course.WEB),
        (search("call_web_fallback", exact=True), None, Course.OFFICIAL),
        (search("answer", hits=False, exact=True), None, Course.OFFICIAL),
        (search("answer", hits=False), None, Course.NOTHING),
        (search("reply", hits=False), None, Course.REPLY),
        (search("answer_with_care", hits=False), PAGES, Course.WEB),
    ],
)
def test_the_contract_decides_the_course(found: SearchResult, web: WebResult | None, course: Course) -> None:
    assert course_of(found, web) is course


@pytest.mark.promise("AGT-1")
def test_the_web_is_asked_where_the_contract_says_so() -> None:
    asked = {
        action: (wants_web(search(action)), may_ask_web(search(action))) for action in ("answer", "answer_with_care")
    }
    assert asked == {"answer": (False, False), "answer_with_care": (False, True)}
    assert wants_web(search("call_web_fallback"))
    assert wants_web(search("answer", hits=False))
    assert not wants_web(search("call_web_fallback", exact=True))
    assert not wants_web(search("reply", hits=False))
    assert not may_ask_web(search("reply", hits=False))


CODE = Hit(text="Do this:\n\n```py\nx = 1\n```")


@pytest.mark.promise("AGT-2")
@pytest.mark.parametrize(
    ("question", "hit", "heavy"),
    [
        ("How do I rotate an API key?", HIT, False),
        ("Which plan do I need for single sign-on?", CODE, False),
        ("Who approves invoices in the class of 2024?", HIT, False),
        ("Why does `client.fetch` hang?", CODE, True),
        ("Why does client.fetch() raise ValueError?", HIT, True),
        ("```\nprint(1)\n```\nWhat does it print?", HIT, True),
        ("Write a Python function that lists contacts", HIT, True),
        ("Can you show me code for it?", CODE, True),
        ("Can you show me code for it?", HIT, False),
        ("What is wrong with `SELECT * FROM t;` in max_retries?", HIT, True),
    ],
)
def test_questions_about_code_are_told_from_others(question: str, hit: Hit, heavy: bool) -> None:
    assert code_heavy(question, SearchResult(verdict=Verdict(), hits=(hit,))) is heavy


LONG = "# Title\n\n" + "\n\n".join(f"Paragraph {n} speaks of nothing much at all here." for n in range(20))


@pytest.mark.promise("AGT-4")
def test_the_part_that_fits_the_question_is_quoted_whole() -> None:
    text = f"{LONG}\n\nThe key is rotated so:\n\n```sh\nkeys rotate\n\nkeys list\n```\n\n{LONG}"
    shown = passage(text, "How is a key rotated?", 120)
    assert "The key is rotated so:" in shown
    assert "keys rotate\n\nkeys list\n```" in shown
    assert passage("# Keys\n\n## Rotate\n\nPress it.", "rotate", 600) == "Press it."
    assert passage("# Only a heading", "heading", 600) == "# Only a heading"


@pytest.mark.promise("AGT-4")
@given(st.text(max_size=400), st.text(max_size=40), st.integers(80, 300))
def test_a_quote_keeps_to_its_length(text: str, question: str, characters: int) -> None:
    assert len(passage(text, question, characters)) <= characters + len(" …\n```")


@pytest.mark.promise("AGT-4")
def test_what_no_passage_speaks_of_is_named_in_the_words_of_the_question() -> None:
    assert uncovered("How do I rotate keys on a Zeppelin?", ["Rotating a key is easy."]) == ["Zeppelin"]
    assert uncovered("How do I rotate it?", ["rotate"]) == []
