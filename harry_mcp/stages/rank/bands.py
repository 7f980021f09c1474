"""Bands: what a score means for the agent. Where 0.60 is."""

from __future__ import annotations

from harry_mcp.domain.search import Band, NextAction
from harry_mcp.settings import RankSection

_ACTIONS = {
    Band.STRONG: NextAction.ANSWER,
    Band.MODERATE: NextAction.ANSWER_WITH_CARE,
    Band.WEAK: NextAction.CALL_WEB_FALLBACK,
}
_ADVICE = {
    Band.STRONG: "Answer from the hits and cite them.",
    Band.MODERATE: "Use the hits, say what they do not cover, and consider the web for the rest.",
    Band.WEAK: "The hits are near misses at best: call web_fallback if you have it, else say that the knowledge base "
    "does not know. Do not answer from memory.",
}

_ADVICE_WITHOUT_HITS = (
    "Call web_fallback if you have it, else say that the knowledge base does not know. Do not answer from memory."
)


def band_of(score: float, thresholds: RankSection) -> Band:
    """The band of a calibrated score, never of a similarity, a fusion score or one normalised within its query."""
    if score >= thresholds.strong:
        return Band.STRONG
    return Band.MODERATE if score >= thresholds.moderate else Band.WEAK


def next_action(band: Band) -> NextAction:
    """What the agent does next."""
    return _ACTIONS[band]


def reason(band: Band, why: str, *, found: bool) -> str:
    """One sentence of cause, one of advice."""
    return f"{why} {_ADVICE[band] if found else _ADVICE_WITHOUT_HITS}"
