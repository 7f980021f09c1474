"""What a fitted curve is worth, and what a person should know before trusting it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harry_mcp.domain.search import Band
from harry_mcp.evals import figures, metrics
from harry_mcp.evals.answers import Answer
from harry_mcp.evals.fitting import Sample, log_loss
from harry_mcp.settings import RankSection
from harry_mcp.stages.rank.bands import band_of

# Under this the figures move by a tenth or more when other questions are asked.
_FEW = 50
# What the bands promise: the share of answered questions inside strong at least, inside weak at most.
STRONG_SHARE, WEAK_SHARE = 0.85, 0.25


def worth(
    samples: Sequence[Sample], answers: Sequence[Answer], chances: Sequence[float], bands: RankSection
) -> dict[str, Any]:
    """What the curve is worth on questions that it had not seen, beside the raw scores taken as chances."""
    answered = [sample.answered for sample in samples]
    weights = metrics.balanced([sample.answerable for sample in samples])
    raw = [sample.raw for sample in samples]

    def error(scores: Sequence[float]) -> float:
        return figures.finite(metrics.expected_calibration_error(scores, answered, weights=weights))

    def verdict(scores: Sequence[float]) -> dict[str, Any]:
        found = figures.verdict(scores, [band_of(score, bands) for score in scores], answers)
        bins = metrics.reliability(scores, answered, weights=weights)
        return {**found, "reliability_answered": [figures.rounded(item._asdict()) for item in bins]}

    return {
        "questions": len(samples),
        "answerable": sum(sample.answerable for sample in samples),
        "answered": sum(answered),
        "distinct_scores": len(set(raw)),
        "auroc": figures.finite(metrics.auroc(raw, [sample.answerable for sample in samples])),
        "auroc_answered": figures.finite(metrics.auroc(raw, answered)),
        "calibration_error": error(chances),
        "calibration_error_before": error(raw),
        "log_loss": round(log_loss(chances, samples), 4),
        "before": verdict(raw),
        "after": verdict(chances),
        "strong_from": _strong_from(samples, chances, bands),
    }


def _strong_from(samples: Sequence[Sample], chances: Sequence[float], bands: RankSection) -> float:
    """The lowest bound, in hundredths, from which strong keeps its promise on these questions; -1 when none does."""
    for bound in range(round(bands.strong * 100), 100):
        inside = [sample.answerable for sample, chance in zip(samples, chances, strict=True) if chance >= bound / 100]
        if inside and sum(inside) / len(inside) >= STRONG_SHARE:
            return bound / 100
    return figures.NONE


def warnings(measured: Mapping[str, Any], unscored: int) -> list[str]:
    """What a person should know before trusting the curve, in whole sentences."""
    found: list[str] = []
    answerable, unanswerable = measured["answerable"], measured["questions"] - measured["answerable"]
    if min(answerable, unanswerable) < _FEW:
        found.append(f"With {answerable} answerable and {unanswerable} unanswerable questions all figures are rough.")
    if unscored:
        found.append(f"{unscored} questions have no score of this ranker and were left out.")
    after = measured["after"]["bands"]
    strong, weak = after[Band.STRONG.value], after[Band.WEAK.value]
    if not strong["questions"]:
        found.append("No question came out strong: this ranker never tells a right passage from a near miss that well.")
    elif strong["answerable"] < STRONG_SHARE:
        bound = measured["strong_from"]
        advice = f" HARRY_RANK__STRONG={bound:g} would keep it." if bound > 0 else ""
        found.append(
            f"Inside strong {strong['answerable']:.0%} can be answered, less than the {STRONG_SHARE:.0%} that the band "
            f"promises.{advice}"
        )
    if weak["answerable"] > WEAK_SHARE:
        found.append(
            f"Inside weak {weak['answerable']:.0%} can be answered, more than {WEAK_SHARE:.0%}: the ranker or the "
            "retrieval misses right passages."
        )
    return found
