"""Long lists kept short enough for a reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel

T = TypeVar("T", bound=BaseModel)


def fitting(items: Sequence[T], budget: int) -> list[T]:
    """The first of some replies, as many as fit into ``budget`` characters of JSON; the first one always does."""
    shown: list[T] = []
    left = budget
    for item in items:
        left -= len(item.model_dump_json())
        if shown and left < 0:
            break
        shown.append(item)
    return shown


def following(shown: int, found: int, offset: int) -> int:
    """The offset of the page after one, -1 after the last. ``found`` counts one row more than a page where there is."""
    return offset + shown if shown < found else -1


def more(next_offset: int) -> str:
    """How to ask for what was not shown, as the end of a sentence; empty when that was all."""
    return f" There are more: offset {next_offset}." if next_offset >= 0 else ""
