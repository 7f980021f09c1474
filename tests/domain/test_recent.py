"""Recent: a bounded memory of the values used last."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harry_mcp.domain.recent import Recent

KEYS = st.integers(0, 5)
# A get of a key, or a put of a key with a value.
ACTS = st.lists(st.tuples(KEYS, st.none() | st.text(max_size=2)), max_size=60)


@given(st.integers(0, 4), ACTS)
def test_it_holds_exactly_the_keys_used_last(size: int, acts: list[tuple[int, str | None]]) -> None:
    recent: Recent[int, str] = Recent(size)
    used: list[tuple[int, str]] = []  # the one used last stands last
    for key, value in acts:
        held = dict(used)
        if value is None:
            assert recent.get(key) == held.get(key)
            if key in held:
                used = [*((other, text) for other, text in used if other != key), (key, held[key])]
        else:
            recent.put(key, value)
            used = [*((other, text) for other, text in used if other != key), (key, value)]
            used = used[len(used) - min(size, len(used)) :]
    held = dict(used)
    assert len(held) <= size
    for key in range(6):
        assert recent.get(key) == held.get(key)


def test_of_size_0_it_keeps_none() -> None:
    recent: Recent[str, int] = Recent(0)
    recent.put("a", 1)
    assert recent.get("a") is None


def test_what_was_asked_for_outlives_what_was_only_put() -> None:
    recent: Recent[str, int] = Recent(2)
    recent.put("old", 1)
    recent.put("new", 2)
    assert recent.get("old") == 1
    recent.put("newest", 3)
    assert (recent.get("old"), recent.get("new"), recent.get("newest")) == (1, None, 3)


def test_an_empty_value_is_a_value() -> None:
    recent: Recent[str, str] = Recent(1)
    recent.put("a", "")
    assert recent.get("a") == ""
