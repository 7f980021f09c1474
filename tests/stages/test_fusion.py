"""RET-4: reciprocal rank fusion."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harry_mcp.stages.retrieve.fusion import reciprocal_rank_fusion


@pytest.mark.promise("RET-4")
def test_ranks_add_up_and_ties_go_by_id() -> None:
    fused = reciprocal_rank_fusion([[7, 8], [8, 9]], k=60)
    assert list(fused) == [8, 7, 9]
    assert fused == {8: 1 / 62 + 1 / 61, 7: 1 / 61, 9: 1 / 62}


@given(st.lists(st.lists(st.integers(0, 50), unique=True, max_size=20), max_size=4))
def test_every_item_once_best_first(rankings: list[list[int]]) -> None:
    fused = reciprocal_rank_fusion(rankings)
    assert set(fused) == {item for ranking in rankings for item in ranking}
    assert list(fused.values()) == sorted(fused.values(), reverse=True)
