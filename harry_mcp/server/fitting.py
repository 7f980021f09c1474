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


def more(shown: int, found: int, limit: int, offset: int) -> str:
    """How to ask for what was not shown, as the end of a sentence; empty when that was all."""
    if shown < found:
        return f" {found - shown} more were left out to keep the reply short: offset {offset + shown}."
    return f" There may be more: offset {offset + limit}." if found == limit else ""
