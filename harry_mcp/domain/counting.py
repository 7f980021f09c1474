"""Numbers with the word for what they count."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """``1 document``, ``2 documents``; ``many`` where the plural is not ``one`` with an s."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"
