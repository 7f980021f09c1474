"""What a screen reports: one finding for each thing that a person should look at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

_EXCERPT = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """``name`` is stable and for counting, ``says`` is a sentence for a person, ``excerpt`` the words it rests on.

    ``weight`` in (0, 1] is how likely the finding alone makes an attack.
    """

    name: str
    says: str
    weight: float
    excerpt: str = ""


def excerpt(text: str, start: int, end: int) -> str:
    """The words from ``start`` to ``end`` on one line, at most 80 characters."""
    words = " ".join(text[start:end].split())
    return words if len(words) <= _EXCERPT else words[: _EXCERPT - 1] + "…"


def combined(findings: Iterable[Finding]) -> float:
    """The chance that at least one finding is right, were they independent: 1 - product of (1 - weight)."""
    innocent = 1.0
    for finding in findings:
        innocent *= 1 - finding.weight
    return 1 - innocent
