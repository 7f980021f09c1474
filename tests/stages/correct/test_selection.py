"""COR-3: few corrections or none, the newer one first where two conflict, within the budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harry_mcp.domain.corrections import Correction, CorrectionStatus, Lesson, Relevant
from harry_mcp.stages.correct.selection import bearing, conflict, relevance, select

pytestmark = pytest.mark.promise("COR-3")

START = datetime(2026, 1, 1, tzinfo=UTC)
LIMITS = [f"The API takes {number} requests a minute." for number in (600, 900, 1200)]
OTHERS = [
    "Invoices go out on the first day of each month.",
    "Merged contacts cannot be separated again.",
    "An export is a ZIP with CSV files.",
    "Passwords need 14 characters.",
]


def correction(lesson: str, *, day: int = 0, topic: str = "", wrong: str = "x", truth: str = "y") -> Correction:
    at = START + timedelta(days=day)
    return Correction(
        id=Lesson(wrong=wrong, truth=truth, line=lesson, topic=topic).id,
        topic=topic,
        wrong=wrong,
        truth=truth,
        lesson=lesson,
        source_url="",
        status=CorrectionStatus.ACTIVE,
        status_reason="",
        author="stdio:me",
        decided_by="",
        document_id="",
        created_at=at,
        updated_at=at,
        reports=1,
        reporters=1,
    )


def relevant(lesson: str, value: float, day: int = 0) -> Relevant:
    return Relevant(correction=correction(lesson, day=day), relevance=value)


def chosen(scored: Sequence[Relevant], *, floor: float = 0.4, most: int = 3, tokens: int = 800) -> tuple[Relevant, ...]:
    return select(scored, floor=floor, most=most, tokens=tokens, cost=lambda each: len(each.correction.lesson) // 4)


def lessons(items: Sequence[Relevant]) -> list[str]:
    return [item.correction.lesson for item in items]


def test_none_over_the_floor_is_none() -> None:
    assert chosen([relevant(lesson, 0.39) for lesson in OTHERS]) == ()
    assert chosen([]) == ()


def test_the_best_come_first_and_no_more_than_wanted() -> None:
    scored = [relevant(lesson, 0.5 + number / 100) for number, lesson in enumerate(OTHERS)]
    assert lessons(chosen(scored)) == OTHERS[:0:-1]
    assert lessons(chosen(scored, most=1)) == OTHERS[-1:]
    assert chosen(scored, most=0) == ()


def test_what_lies_far_behind_the_best_is_left_out() -> None:
    scored = [relevant(OTHERS[0], 0.9), relevant(OTHERS[1], 0.7), relevant(OTHERS[2], 0.6)]
    assert lessons(chosen(scored)) == OTHERS[:2]


def test_one_that_does_not_fit_is_passed_over_for_a_smaller_one() -> None:
    scored = [relevant(OTHERS[0], 0.8), relevant(OTHERS[3], 0.7)]
    budget = len(OTHERS[3]) // 4
    assert lessons(chosen(scored, tokens=budget)) == OTHERS[3:]


def test_where_two_conflict_the_newer_one_stands_first_and_the_older_names_it() -> None:
    old, new = relevant(LIMITS[0], 0.8, day=1), relevant(LIMITS[1], 0.7, day=2)
    between = relevant(OTHERS[0], 0.75, day=9)
    first, second, third = chosen([old, between, new])
    assert (first.correction.lesson, first.contradicts) == (LIMITS[1], "")
    assert (second.correction.lesson, second.contradicts) == (OTHERS[0], "")
    assert (third.correction.lesson, third.contradicts) == (LIMITS[0], new.correction.id)


def test_an_older_one_never_goes_out_without_the_newer_one_that_outdates_it() -> None:
    old, new = relevant(LIMITS[0], 0.9, day=1), relevant(LIMITS[1], 0.5, day=2)
    # Few places: the newer one takes the older one's.
    assert lessons(chosen([old, new], most=1)) == [LIMITS[1]]
    # Far behind the best, and yet it outdates it.
    assert lessons(chosen([old, new])) == [LIMITS[1], LIMITS[0]]
    # No room for the newer one: neither.
    long = relevant(LIMITS[1] + " It was raised for all of the customers in the spring of this year.", 0.8, day=2)
    assert conflict(long.correction, old.correction)
    assert chosen([old, long], tokens=len(LIMITS[0]) // 4) == ()


def test_two_of_one_day_that_conflict_are_both_given_without_a_winner() -> None:
    pair = chosen([relevant(LIMITS[0], 0.8), relevant(LIMITS[1], 0.7)])
    assert [item.contradicts for item in pair] == ["", ""]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Invoices go out on the first day of each month.", "Invoices go out on the 15th day of each month."),
        ("The public API takes 600 requests a minute, not 1,000.", "The limit of the API is 900 requests per minute."),
        ("Merged contacts cannot be separated again.", "Merged contacts can be separated for 30 days."),
        ("There is no dark mode in the mobile app.", "The mobile app has a dark mode now."),
        ("Single sign-on is only in the Enterprise plan.", "Single sign-on is in the Pro plan too."),
        ("Customer data is stored in Frankfurt.", "Customer data is stored in Dublin."),
        ("Two-factor sign-in works with an app, not with SMS.", "Two-factor sign-in works with SMS again."),
    ],
)
def test_what_conflicts(one: str, other: str) -> None:
    assert conflict(correction(one), correction(other))
    assert conflict(correction(other), correction(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Recordings are deleted after 60 days.", "Recordings can be shared with guests."),
        ("Exports expire after 48 hours.", "Exports are CSV files."),
        ("The API takes 600 requests a minute.", "The API returns 100 records a page."),
        ("Single sign-on needs the Enterprise plan.", "Single sign-on with Okta needs the Enterprise plan."),
        ("Merged contacts cannot be separated again.", "Contacts that were merged can't be separated again."),
        ("Passwords need 14 characters.", ""),
    ],
)
def test_what_does_not(one: str, other: str) -> None:
    assert not conflict(correction(one), correction(other))
    assert not conflict(correction(other), correction(one))


@given(
    st.lists(
        st.tuples(
            st.sampled_from([*LIMITS, *OTHERS]), st.integers(0, 100).map(lambda each: each / 100), st.integers(0, 5)
        ),
        max_size=7,
        unique_by=lambda item: item[0],
    ),
    st.integers(0, 5),
    st.integers(0, 60),
)
def test_it_keeps_its_promises_whatever_comes(rows: list[tuple[str, float, int]], most: int, tokens: int) -> None:
    scored = [relevant(*row) for row in rows]
    kept = chosen(scored, most=most, tokens=tokens)
    assert len(kept) <= most
    assert sum(len(item.correction.lesson) // 4 for item in kept) <= tokens
    assert all(item.relevance >= 0.4 for item in kept)
    assert len({item.correction.id for item in kept}) == len(kept)
    for place, item in enumerate(kept):
        older_before = [
            other
            for other in kept[:place]
            if conflict(other.correction, item.correction) and other.correction.created_at < item.correction.created_at
        ]
        assert not older_before
        newer = [
            other
            for other in scored
            if other.relevance >= 0.4
            and conflict(other.correction, item.correction)
            and other.correction.created_at > item.correction.created_at
        ]
        if newer:
            assert item.contradicts in {other.correction.id for other in kept}


def test_relevance_is_meaning_first_and_words_second() -> None:
    bike = correction("Error E07 is the speed sensor: check the magnet on the spoke.", topic="E-bike")
    assert relevance("what is E07", bike, 0.5) > relevance("what is E12", bike, 0.5)
    assert relevance("the", bike, 0.5) == pytest.approx(0.45)
    assert relevance("magnet", bike, -1.0) == 0.0
    assert relevance("magnet spoke", bike, 1.0) == pytest.approx(1.0)


BARE = replace(correction("It doesn't.", truth="It doesn't.", wrong="It does."), questions=("Has Solo an API?",))


def test_a_bare_judgement_bears_on_its_own_question_only() -> None:
    for question, own in (("has solo an API", True), ("Has Solo an export?", False), ("It does, doesn't it?", False)):
        found = bearing(question, BARE, 0.95, {}, floor=0.4, same=0.8)
        assert (found is not None and found.same_question) is own, question
        assert (found is not None) is own, question


def test_of_those_made_on_one_question_the_newer_one_is_first_and_a_bare_judgement_last() -> None:
    def own(lesson: str, value: float, day: int) -> Relevant:
        return replace(relevant(lesson, value, day), same_question=True)

    bare = Relevant(correction=replace(BARE, created_at=START + timedelta(days=9)), relevance=1.0, same_question=True)
    older, newer = own("Solo reads with keys.", 0.95, 1), own("An API came to all plans in May.", 0.9, 2)
    beside = relevant(OTHERS[0], 0.97)
    assert lessons(chosen([bare, older, newer, beside], most=4)) == [
        newer.correction.lesson,
        beside.correction.lesson,
        older.correction.lesson,
        bare.correction.lesson,
    ]
