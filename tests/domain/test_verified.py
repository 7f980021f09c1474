"""VER-2, VER-3: when complaints degrade, retire and raise the bar of an official answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harry_mcp.domain.verified import (
    CacheRules,
    ServedHit,
    degraded,
    learnt_threshold,
    mismatches,
    negative_share,
    retired,
    verified_id,
)

RULES = CacheRules(exact=0.85, partial=0.70, degrade=0.30, retire=0.50, retire_negatives=2, wrong_bound=0.02)
HITS = st.lists(
    st.builds(ServedHit, cosine=st.floats(0.80, 1.0).map(lambda value: round(value, 4)), wrong=st.booleans()),
    max_size=120,
)


@pytest.mark.promise("VER-2")
@pytest.mark.parametrize(
    ("uses", "negatives", "is_degraded", "is_retired"),
    [
        (0, 0, False, False),
        (1, 0, False, False),
        (1, 1, True, False),  # half of all, but one vote
        (2, 1, True, False),
        (3, 1, False, False),
        (7, 3, True, False),
        (8, 3, False, False),
        (10, 1, False, False),
        (2, 2, True, True),
        (3, 2, True, False),
        (3, 3, True, True),
        (1000, 300, False, False),
        (1000, 429, True, False),
    ],
)
def test_the_share_of_complaints_decides(uses: int, negatives: int, is_degraded: bool, is_retired: bool) -> None:
    assert degraded(uses, negatives, RULES) is is_degraded
    assert retired(uses, negatives, RULES) is is_retired


@pytest.mark.promise("VER-2")
@given(uses=st.integers(10, 10_000))
def test_one_bad_vote_does_nothing_to_an_entry_that_served_ten_times(uses: int) -> None:
    assert not degraded(uses, 1, RULES)
    assert not retired(uses, 1, RULES)


@given(uses=st.integers(0, 500), negatives=st.integers(0, 500))
def test_what_retires_is_degraded_and_one_use_more_never_makes_it_worse(uses: int, negatives: int) -> None:
    assert degraded(uses, negatives, RULES) or not retired(uses, negatives, RULES)
    assert negative_share(uses + 1, negatives) <= negative_share(uses, negatives) <= 1
    assert negative_share(uses, negatives) <= negative_share(uses, negatives + 1)


@pytest.mark.promise("VER-3")
@pytest.mark.parametrize(
    ("seen", "threshold"),
    [
        ([], 0.85),
        ([(0.90, False)] * 3, 0.85),
        ([(0.90, True)], 0.901),
        ([(0.90, True), (0.95, False)], 0.901),
        ([(0.95, True), (0.90, False)], 0.951),
        ([(0.86, True), (0.97, True)], 0.971),
        # One wrong of fifty is within the bound of 2 %, one of forty-nine is not.
        ([(0.90, True)] + [(0.95, False)] * 49, 0.85),
        ([(0.90, True)] + [(0.95, False)] * 48, 0.901),
        # Right servings that lie under the raised bar do not count for what is above it.
        ([(0.90, True), (0.95, True)] + [(0.9005, False)] * 49, 0.951),
        # Under the setting nothing is served as exact, so nothing is learnt from it.
        ([(0.80, True)], 0.85),
    ],
)
def test_a_wrong_hit_raises_the_bar_just_above_itself(seen: list[tuple[float, bool]], threshold: float) -> None:
    hits = [ServedHit(cosine, wrong) for cosine, wrong in seen]
    assert learnt_threshold(hits, RULES) == pytest.approx(threshold)


@pytest.mark.promise("VER-3")
@given(seen=HITS, bound=st.sampled_from([0.0, 0.02, 0.1, 0.5]))
def test_wrong_servings_above_the_bar_stay_within_the_bound_whatever_came(seen: list[ServedHit], bound: float) -> None:
    rules = CacheRules(exact=0.85, partial=0.70, degrade=0.30, retire=0.50, retire_negatives=2, wrong_bound=bound)
    threshold = learnt_threshold(seen, rules)
    served = [hit for hit in seen if hit.cosine >= threshold]
    assert sum(hit.wrong for hit in served) <= bound * len(served)
    assert threshold >= rules.exact
    if not any(hit.wrong for hit in seen):
        assert threshold == rules.exact


@pytest.mark.promise("VER-3")
@given(seen=HITS)
def test_the_bar_does_not_depend_on_the_order_and_falls_with_what_is_taken_back(seen: list[ServedHit]) -> None:
    threshold = learnt_threshold(seen, RULES)
    assert learnt_threshold(seen[::-1], RULES) == threshold
    forgiven = [ServedHit(hit.cosine, wrong=False) for hit in seen]
    assert learnt_threshold(forgiven, RULES) <= threshold


@pytest.mark.promise("VER-3")
@given(st.lists(st.tuples(st.floats(0.85, 0.979), st.booleans()), max_size=60))
def test_an_entry_that_learns_after_each_serving_is_served_wrongly_once_at_each_height(
    asked: list[tuple[float, bool]],
) -> None:
    """The entry as it lives: a question is only served at or above the bar of its moment."""
    seen: list[ServedHit] = []
    bar = RULES.exact
    for cosine, would_be_wrong in asked:
        if cosine >= bar:
            seen.append(ServedHit(cosine, would_be_wrong))
            bar = learnt_threshold(seen, RULES)
    wrong = sorted(hit.cosine for hit in seen if hit.wrong)
    rights = sum(not hit.wrong for hit in seen)
    # Without the credit of right servings, no wrong one may lie at or under an earlier one.
    if rights < 49:
        assert wrong == [hit.cosine for hit in seen if hit.wrong]
        assert len(set(wrong)) == len(wrong)


@pytest.mark.promise("VER-3")
@pytest.mark.parametrize(
    ("reason", "cosine", "mismatch"),
    [
        ("irrelevant", 0.90, True),
        ("wrong", 0.90, True),
        ("other", 0.90, True),
        ("outdated", 0.90, False),
        ("incomplete", 0.90, False),
        ("bad_source", 0.90, False),
        ("irrelevant", 0.99, False),  # the very question: the answer is at fault, not the match
    ],
)
def test_which_complaints_speak_against_the_match(reason: str, cosine: float, mismatch: bool) -> None:
    assert (reason in mismatches(cosine)) is mismatch


def test_the_id_of_an_entry_is_that_of_its_words() -> None:
    one = verified_id("How do I rotate a key?", "Press Rotate.")
    assert one == verified_id("how do I  rotate a KEY?", "Press Rotate. ")
    assert one != verified_id("How do I rotate a key?", "Press Delete.")
