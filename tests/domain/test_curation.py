"""CUR-6: the state machine of review, as a table; CUR-12: what orders the queue."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harry_mcp.domain.curation import ReviewAction, becomes, refusal
from harry_mcp.domain.documents import DocumentStatus
from harry_mcp.domain.harm import HarmWeights, harm

A, S = ReviewAction, DocumentStatus
WEIGHTS = HarmWeights(use=1.0, signal=2.0, age=2.0, full_age_days=365)

# action: {from: to}; what is not here is refused.
TABLE: dict[ReviewAction, dict[DocumentStatus, DocumentStatus]] = {
    A.APPROVE: {S.PENDING: S.LIVE, S.FLAGGED: S.LIVE},
    A.ARCHIVE: {S.PENDING: S.ARCHIVED, S.LIVE: S.ARCHIVED, S.FLAGGED: S.ARCHIVED},
    A.RESTORE: {S.ARCHIVED: S.LIVE, S.REJECTED: S.PENDING},
    A.KEEP: {S.FLAGGED: S.FLAGGED},
    A.REWRITE: {S.PENDING: S.PENDING, S.LIVE: S.LIVE, S.FLAGGED: S.FLAGGED},
    A.REJECT: {S.PENDING: S.REJECTED},
    A.UNDO: {},
}


@pytest.mark.promise("CUR-6")
@pytest.mark.parametrize(("action", "status"), list(itertools.product(A, S)))
def test_every_action_on_every_status(action: ReviewAction, status: DocumentStatus) -> None:
    why = refusal(action, status)
    after = TABLE[action].get(status)
    assert (why == "") == (after is not None)
    if after is not None:
        assert becomes(action, status) is after
    else:
        assert why.startswith(f"It is {status.value}, and {action.value} is not for such a document; it takes ")
        assert why.count(".") == 1


@pytest.mark.promise("CUR-6")
@pytest.mark.parametrize("was", list(S))
def test_what_is_restored_goes_back_to_where_it_was(was: DocumentStatus) -> None:
    assert becomes(A.RESTORE, S.ARCHIVED, was) is was
    assert becomes(A.RESTORE, S.REJECTED, was) is was
    assert becomes(A.APPROVE, S.PENDING, was) is S.LIVE, "only a restoring looks at it"


@pytest.mark.promise("CUR-12")
@given(uses=st.integers(0, 10_000), age=st.integers(0, 5_000), signals=st.integers(0, 4))
def test_more_use_age_or_signals_never_make_it_less_urgent(uses: int, age: int, signals: int) -> None:
    measured = harm(uses=uses, age_days=age, signals=signals, weights=WEIGHTS)
    assert harm(uses=uses + 1, age_days=age, signals=signals, weights=WEIGHTS).score >= measured.score
    assert harm(uses=uses, age_days=age + 1, signals=signals, weights=WEIGHTS).score >= measured.score
    assert harm(uses=uses, age_days=age, signals=signals + 1, weights=WEIGHTS).score > measured.score
    assert f"for {uses} recent answer{'' if uses == 1 else 's'} that" in measured.why
    assert ("1 open signal," if signals == 1 else f"{signals} different open signals,") in measured.why
    assert f"for {age} day{'' if age == 1 else 's'} since" in measured.why


@pytest.mark.promise("CUR-12")
def test_the_number_explains_itself() -> None:
    measured = harm(uses=7, age_days=365, signals=2, weights=WEIGHTS)
    assert measured.score == 9.0
    assert measured.why.startswith("9.0 = 3.0 for 7 recent answers that it was among the first of, 4.0 for 2 ")
    settled = harm(uses=7, age_days=365, signals=0, weights=WEIGHTS, settled=True)
    assert settled.why.endswith("; a curator looked since, so it comes after the others")
