"""COR-5, OPS-7: personal data and secrets taken out of a text before it is stored, embedded, logged or sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from harry_mcp.stages.correct.credentials import secrets
from harry_mcp.stages.correct.emails import emails
from harry_mcp.stages.correct.network import ip_addresses
from harry_mcp.stages.correct.payment import cards, ibans, social_security_numbers
from harry_mcp.stages.correct.phones import phones
from harry_mcp.stages.correct.spans import PLACEHOLDER, Kind, Span, settled

_DETECTORS = (secrets, emails, ibans, cards, social_security_numbers, ip_addresses, phones)


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """``text`` holds ``[EMAIL]`` and the like where something was; ``counts`` says how many of each kind were found."""

    text: str
    counts: Mapping[Kind, int] = field(default_factory=dict[Kind, int])

    @property
    def changed(self) -> bool:
        return bool(self.counts)


def redact(text: str) -> Redacted:
    """The text with a placeholder for each secret or personal datum; redacting the result finds nothing more."""
    counts: Counter[Kind] = Counter()
    while spans := _found(text):
        counts.update(span.kind for span in spans)
        text = _replaced(text, spans)
    return Redacted(text=text, counts=dict(counts))


def _found(text: str) -> list[Span]:
    """What a placeholder of an earlier pass already hides is never touched again, so each pass has less to find."""
    hidden = [match.span() for match in PLACEHOLDER.finditer(text)]
    spans = (span for detector in _DETECTORS for span in detector(text) if span.start < span.end)
    return settled(span for span in spans if all(span.end <= start or end <= span.start for start, end in hidden))


def _replaced(text: str, spans: list[Span]) -> str:
    pieces: list[str] = []
    last = 0
    for span in spans:
        pieces.extend((text[last : span.start], span.kind.placeholder))
        last = span.end
    return "".join((*pieces, text[last:]))
