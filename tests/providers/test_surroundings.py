"""RNK-1: the local order counts what stands around a passage, and leaves the order of the pages alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harry_mcp.domain.groups import group_of
from harry_mcp.domain.search import Candidate, CorpusStatistics, QueryTerm
from harry_mcp.domain.terms import pack
from harry_mcp.providers.local.ranker import LocalRanker

STATISTICS = CorpusStatistics(chunks=100, length_sum=5000, title_sum=300, revision=1)
TERMS = [QueryTerm(ids=(number,), df=3, title_df=1) for number in (1, 2, 3)]


def passage(page: str, ordinal: int, terms: Sequence[int] = (9,), cosine: float = 0.3) -> Candidate:
    number = 1000 * sum(page.encode()) + ordinal
    return Candidate(
        chunk_id=number,
        public_id=f"{page}/{ordinal}",
        document_id=page,
        ordinal=ordinal,
        terms=pack(terms),
        title_terms=pack(()),
        cosine=cosine,
    )


def ranked(candidates: Sequence[Candidate]) -> list[str]:
    return [item.public_id for item in LocalRanker().rank(TERMS, candidates, STATISTICS)]


@pytest.mark.promise("RNK-1")
def test_the_other_half_of_an_answer_comes_before_a_stranger() -> None:
    """The words stand in the first half only; the second half is as far from the question as the stranger is."""
    first, second = passage("page", 0, [1, 2, 3], 0.5), passage("page", 1, cosine=0.30)
    stranger, far = passage("other", 0, cosine=0.31), passage("page", 7, cosine=0.1)
    assert ranked([stranger, far, second, first]) == ["page/0", "page/1", "other/0", "page/7"]


def test_a_word_that_a_passage_has_itself_is_not_lent_to_it() -> None:
    alone = LocalRanker().rank(TERMS, [passage("page", 0, [1, 2]), passage("rival", 0, [1, 2, 3])], STATISTICS)
    beside = LocalRanker().rank(
        TERMS, [passage("page", 0, [1, 2]), passage("page", 1, [1, 2]), passage("rival", 0, [1, 2, 3])], STATISTICS
    )
    assert [item.fusion for item in alone] == [item.fusion for item in beside if item.public_id != "page/1"]


@settings(deadline=None)
@given(
    st.lists(
        st.builds(
            passage,
            st.sampled_from(["a", "b", "c"]),
            st.integers(0, 20),
            st.lists(st.integers(1, 5), min_size=1, max_size=6),
            st.floats(-0.2, 0.9),
        ),
        min_size=1,
        max_size=12,
        unique_by=lambda item: item.public_id,
    )
)
def test_the_surroundings_never_change_the_order_of_the_pages(candidates: list[Candidate]) -> None:
    """So how far the first page stands out, which the verdict is read from, stays as well."""
    own = {item.public_id: LocalRanker().rank(TERMS, [item], STATISTICS)[0].fusion for item in candidates}
    ranking = LocalRanker().rank(TERMS, candidates, STATISTICS)
    best: dict[tuple[str, int], float] = {}
    for item in ranking:
        group = group_of(item.document_id, item.ordinal)
        assert item.fusion >= own[item.public_id] - 1e-12
        if group not in best:
            best[group] = item.fusion
            rivals = [own[o.public_id] for o in candidates if group_of(o.document_id, o.ordinal) == group]
            assert math.isclose(item.fusion, max(rivals))
    assert list(best.values()) == sorted(best.values(), reverse=True)


def test_words_count_as_neighbours_in_either_order() -> None:
    """Who asks for the `Timer struct` means ``struct Timer``."""
    apart, turned = passage("apart", 0, [2, 9, 1]), passage("turned", 0, [2, 1, 9])
    assert ranked([apart, turned]) == ["turned/0", "apart/0"]
