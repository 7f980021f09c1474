"""From the answers to the figures of a run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from statistics import fmean, median
from typing import Any

from harry_mcp.domain.search import Band
from harry_mcp.evals import metrics
from harry_mcp.evals.answers import Answer, Stage

# A figure that these questions do not give: JSON has no nan.
NONE = -1.0
MEASURES = ("hit@1", "hit@5", "mrr", "ndcg@10", "pass@5", "pass@10", "pass@20")


def retrieval(answers: Sequence[Answer], stage: str) -> dict[str, float]:
    """The means of each question's figures at one stage, over the questions that have something to be found."""
    rows = [measured(answer, stage) for answer in answers if answer.findable]
    return {name: round(fmean(row[name] for row in rows), 4) for name in rows[0]} if rows else {}


def measured(answer: Answer, stage: str) -> dict[str, float]:
    """One question's retrieval figures."""
    ranks, relevant = answer.ranks.get(stage, ()), answer.relevant
    values = (
        metrics.hit_at(ranks, 1),
        metrics.hit_at(ranks, 5),
        metrics.reciprocal_rank(ranks),
        metrics.ndcg_at(ranks, relevant, 10),
        *(metrics.recall_at(ranks, relevant, k) for k in (5, 10, 20)),
    )
    return dict(zip(MEASURES, values, strict=True))


def stages(answers: Sequence[Answer]) -> list[str]:
    """The stages that were measured, in the order of the ladder."""
    there = {name for answer in answers for name in answer.ranks}
    return [stage.value for stage in Stage if stage in there]


def verdict(scores: Sequence[float], bands: Sequence[Band], answers: Sequence[Answer]) -> dict[str, Any]:
    """How far scores tell answerable from unanswerable, and whether they mean what they say.

    ``expected_calibration_error`` is over the questions as they come, ``balanced_calibration_error`` as if half of
    them could be answered, which is what the curves assume. Without both kinds of question there is neither.
    """
    truths = [answer.answerable for answer in answers]
    both = 0 < sum(truths) < len(truths)
    return {
        "auroc": finite(metrics.auroc(scores, truths)),
        "expected_calibration_error": finite(metrics.expected_calibration_error(scores, truths) if both else math.nan),
        "balanced_calibration_error": finite(
            metrics.expected_calibration_error(scores, truths, weights=metrics.balanced(truths)) if both else math.nan
        ),
        "bands": {band.value: _band(answers, bands, band) for band in Band},
        "escalation": _escalation(bands, truths),
        "reliability": [rounded(item._asdict()) for item in metrics.reliability(scores, truths)] if both else [],
    }


def _band(answers: Sequence[Answer], bands: Sequence[Band], band: Band) -> dict[str, float]:
    """How many questions, the share that can be answered, and the share that the first hit answers."""
    inside = [answer for answer, own in zip(answers, bands, strict=True) if own is band]
    shares = {
        "answerable": fmean(answer.answerable for answer in inside) if inside else 0.0,
        "answered": fmean(answer.answered for answer in inside) if inside else 0.0,
    }
    return {"questions": len(inside), **rounded(shares)}


def _escalation(bands: Sequence[Band], truths: Sequence[bool]) -> dict[str, dict[str, int]]:
    """The confusion: questions that can and cannot be answered against the bands, weak being the escalated ones."""
    counts = Counter(zip(truths, bands, strict=True))
    return {
        name: {band.value: counts[(truth, band)] for band in Band}
        for name, truth in (("answerable", True), ("unanswerable", False))
    }


def latency(timings: Sequence[dict[str, float]]) -> dict[str, float]:
    """The median milliseconds of each step."""
    names = list(dict.fromkeys(name for timing in timings for name in timing))
    return {name: round(median(timing.get(name, 0.0) for timing in timings), 2) for name in names}


def degraded(answers: Sequence[Answer]) -> dict[str, int]:
    """How many questions went without something, by its name."""
    return dict(Counter(name for answer in answers for name in answer.degraded))


def finite(value: float) -> float:
    return round(value, 4) if math.isfinite(value) else NONE


def rounded(values: dict[str, Any]) -> dict[str, Any]:
    """Four digits are more than any golden set can tell."""
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in values.items()}
