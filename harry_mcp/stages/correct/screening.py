"""COR-5: whether a text that is to be kept and shown to models tries to command them.

Signs with reasons, not a trained model: each pattern states what makes it suspicious, and the weights combine as
independent chances. Models trained on known attacks (n-grams, sentence vectors) learned their topics: on a source left
out of the training they did no better than chance.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

import regex

from harry_mcp.stages.correct.findings import Finding, combined, excerpt
from harry_mcp.stages.correct.hidden import invisible, undisguised
from harry_mcp.stages.correct.payloads import payloads
from harry_mcp.stages.correct.shape import shaped
from harry_mcp.stages.correct.signals import signs
from harry_mcp.stages.correct.takeover import takeovers

# One lesson is a few sentences. A longer text hides things from the person who reviews it.
LIMIT = 4000
# From here a text is held back: one clear sign, or two that are each ordinary alone.
SUSPICIOUS = 0.4
_UNSEEN = regex.compile(
    r"[\p{Cf}\p{Co}\p{Cn}\u115f\u1160\u3164\uffa0\ufe00-\ufe0f]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Screening:
    """``score`` in [0, 1] combines the weights of ``findings``, heaviest first."""

    suspicious: bool
    score: float
    findings: tuple[Finding, ...] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """The findings for a person: what it does, and the words."""
        return tuple(f"{found.says} ({found.excerpt})" if found.excerpt else found.says for found in self.findings)


def screen(text: str, *, limit: int = LIMIT, threshold: float = SUSPICIOUS) -> Screening:
    """The verdict on a text. What stands beyond ``limit`` characters is not read: being that long is a finding."""
    head = text[:limit]
    found = [*invisible(head), *_oversize(text, limit), *_wording(_plain(head)), *_disguised(head), *_encoded(head)]
    kept = _heaviest(found)
    score = round(combined(kept), 4)
    return Screening(suspicious=score >= threshold, score=score, findings=kept)


def _plain(text: str) -> str:
    """The text as it is seen, runs of spaces one."""
    return regex.sub(r"[^\S\n]+", " ", _seen(text))


def _seen(text: str) -> str:
    """Compatibility forms folded, the unseen gone."""
    return _UNSEEN.sub("", unicodedata.normalize("NFKC", text))


def _wording(text: str) -> list[Finding]:
    flowing = text.replace("\n", " ")
    attempts = takeovers(text) if flowing == text else [*takeovers(text), *takeovers(flowing)]
    return [*signs(text), *shaped(text), *attempts]


def _oversize(text: str, limit: int) -> list[Finding]:
    if len(text) <= limit:
        return []
    return [Finding(name="oversize", says=f"It is longer than {limit} characters: no single lesson is.", weight=0.6)]


def _disguised(text: str) -> list[Finding]:
    """Attempts that only show when the disguise is taken off."""
    seen = _seen(text)
    open_names = {found.name for found in takeovers(_plain(text))}
    for reading in undisguised(seen):
        for found in takeovers(_plain(reading)):
            if found.name not in open_names:
                says = f"Under a disguise: {found.says[0].lower()}{found.says[1:]}"
                return [Finding(name="disguise", says=says, weight=0.9, excerpt=found.excerpt)]
    return []


def _encoded(text: str) -> list[Finding]:
    found: list[Finding] = []
    for payload in payloads(text):
        worst = max((inner.weight for inner in _wording(_plain(payload.message))), default=0.0)
        says = f"It carries a message in {payload.code}."
        words = excerpt(payload.message, 0, len(payload.message))
        found.append(
            Finding(name="encoded", says=says, weight=0.95 if worst >= SUSPICIOUS else payload.weight, excerpt=words)
        )
    return found


def _heaviest(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    best: dict[str, Finding] = {}
    for found in findings:
        if found.name not in best or best[found.name].weight < found.weight:
            best[found.name] = found
    return tuple(sorted(best.values(), key=lambda found: -found.weight))
