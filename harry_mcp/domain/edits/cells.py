"""Rows of a table: a mark that says yes where it said no."""

from __future__ import annotations

_YES = frozenset("yes true on always included ✓ ✔ ✅ ☑ x".split())  # noqa: SIM905
_NO = frozenset("no false off never none n/a ✗ ✘ ✕ ❌ ☐ - – —".split()) | {""}  # noqa: SIM905


def cells_turned(before: str, after: str) -> bool:
    """Whether a cell of a row of Markdown says yes in the one and no in the other."""
    old, new = _cells(before), _cells(after)
    return len(old) == len(new) and any(_turned(one, other) for one, other in zip(old, new, strict=True))


def _cells(row: str) -> list[str]:
    row = row.strip()
    if not row.startswith("|"):
        return []
    return [cell.strip().removesuffix("\ufe0f").casefold() for cell in row.strip("|").split("|")]


def _turned(one: str, other: str) -> bool:
    return (one in _YES and other in _NO) or (one in _NO and other in _YES)
