"""CUR-3: what the answers of an address over days come to."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harry_mcp.domain.sources import Answered, SourceState, leads_home, same_site, state_of, verdict

pytestmark = pytest.mark.promise("CUR-3")
URL = "https://docs.example.com/page"
FIRST = date(2026, 3, 2)
STATES = {"a": SourceState.ALIVE, "d": SourceState.DEAD, "?": SourceState.UNCLEAR, "-": SourceState.SKIPPED}


def days(letters: str) -> list[Answered]:
    """One answer a day, the first letter first; the newest first, as they are stored."""
    found: list[Answered] = []
    for number, letter in enumerate(letters):
        day = FIRST + timedelta(days=number)
        at = datetime(day.year, day.month, day.day, tzinfo=UTC)
        found.append(Answered(URL, day, at, STATES[letter].value, "GET", 404, "", ""))
    return found[::-1]


@pytest.mark.parametrize(
    ("letters", "kind", "since"),
    [
        ("", "", 0),
        ("a", "", 0),
        ("d", "gone", 0),
        ("ad", "gone", 1),
        ("add", "gone", 1),
        ("ad?", "gone", 1),
        ("a?d?", "gone", 2),
        ("da", "", 0),
        ("dda??", "", 0),
        ("?", "", 0),
        ("??", "", 0),
        ("???", "unreachable", 0),
        ("a???", "unreachable", 1),
        ("??a?", "", 0),
        ("??a??", "", 0),
        ("?-?-?", "unreachable", 0),
        ("-----", "", 0),
        ("a--d", "gone", 3),
    ],
)
def test_a_clear_answer_flags_at_once_and_unclear_ones_on_three_days(letters: str, kind: str, since: int) -> None:
    found = verdict(days(letters), 3)
    assert (found.kind if found else "") == kind
    if found:
        assert found.since == FIRST + timedelta(days=since)


def test_several_answers_of_one_day_are_one_day() -> None:
    (one,) = days("?")
    assert verdict([one, one, one], 3) is None


@given(st.text(alphabet="ad?-", max_size=12))
def test_nothing_before_it_was_alive_counts(letters: str) -> None:
    alone = verdict(days(letters), 3)
    since = verdict(days("a" + letters), 3)
    assert (alone is None) == (since is None)
    assert verdict(days(letters + "a"), 3) is None
    if "d" not in letters and letters.count("?") < 3:
        assert alone is None


@given(st.text(alphabet="d?", min_size=1, max_size=10))
def test_the_evidence_of_one_absence_stays_the_same(letters: str) -> None:
    named = {found.evidence for n in range(len(letters)) if (found := verdict(days("a" + letters[: n + 1]), 3))}
    assert len({name for name in named if name.startswith("dead")}) <= 1
    assert len({name for name in named if name.startswith("unreachable")}) <= 1


SITES = [
    ("https://example.com/a", "https://example.com/b?c#d", True),
    ("http://example.com/", "https://example.com/", True),
    ("https://www.example.com/", "https://example.com/x", True),
    ("http://www.example.com:80/", "https://EXAMPLE.com:443/", True),
    ("https://docs.example.com/", "https://example.com/", False),
    ("https://example.com/", "https://example.org/", False),
    ("https://example.com/", "https://example.com.evil.example/", False),
    ("https://example.com/", "https://example.com:8443/", False),
    ("https://www.example.com/", "https://www2.example.com/", False),
]


@pytest.mark.parametrize(("one", "other", "same"), SITES)
def test_www_and_scheme_do_not_make_another_site(one: str, other: str, same: bool) -> None:
    assert same_site(one, other) == same_site(other, one) == same


@pytest.mark.parametrize(
    ("statuses", "state"),
    [
        ((200, 203, 204, 206, 304, 416), SourceState.ALIVE),
        ((404, 410), SourceState.DEAD),
        ((300, 400, 401, 403, 405, 408, 418, 429, 451, 500, 501, 502, 503, 504, 520), SourceState.UNCLEAR),
    ],
)
def test_what_a_status_says(statuses: tuple[int, ...], state: SourceState) -> None:
    assert {state_of(status) for status in statuses} == {state}


@pytest.mark.parametrize(
    ("start", "end", "home"),
    [
        ("https://a.example/docs/page", "https://a.example/", True),
        ("https://a.example/docs/page", "https://www.a.example/en-us/", True),
        ("https://a.example/docs/page", "https://a.example/index.html", True),
        ("https://a.example/docs/page", "https://a.example/page-not-found", True),
        ("https://a.example/docs/page", "https://a.example/errors/404.html", True),
        ("https://a.example/docs/page", "https://a.example/docs/", False),
        ("https://a.example/docs/page", "https://a.example/docs/page/", False),
        ("https://a.example/docs/page", "https://a.example/?page=12", False),
        ("https://a.example/docs/page", "https://a.example/errors", False),
        ("https://a.example/", "https://a.example/en/", False),
        ("https://a.example/home", "https://a.example/", False),
        ("https://a.example/docs/404", "https://a.example/docs/404.html", False),
    ],
)
def test_a_redirect_to_the_home_page_gives_a_page_up(start: str, end: str, home: bool) -> None:
    assert leads_home(start, end) == home
