"""What is redacted and where: kinds, spans of text, and how overlapping spans are settled."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

import regex


class Kind(StrEnum):
    """A kind of personal data or secret; its value is the word in the placeholder."""

    SECRET = "SECRET"  # noqa: S105 - the name of a kind
    EMAIL = "EMAIL"
    IBAN = "IBAN"
    CARD = "CARD"
    SSN = "SSN"
    IP = "IP"
    PHONE = "PHONE"

    @property
    def placeholder(self) -> str:
        return f"[{self.value}]"


PLACEHOLDER = regex.compile(r"\[(?:" + "|".join(kind.value for kind in Kind) + r")\]")
_PRIORITY = {kind: number for number, kind in enumerate(Kind)}


class Span(NamedTuple):
    """A half-open range of characters that holds something of ``kind``."""

    start: int
    end: int
    kind: Kind


def settled(spans: Iterable[Span]) -> list[Span]:
    """Spans in order without overlaps: the kind that stands first in ``Kind`` wins, then the longer span."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (_PRIORITY[span.kind], span.start - span.end, span.start)):
        if all(span.end <= other.start or other.end <= span.start for other in kept):
            kept.append(span)
    return sorted(kept)
