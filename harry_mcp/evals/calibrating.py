"""harry eval calibrate: what a ranker's raw scores mean, learnt from a golden set through the real pipeline."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from harry_mcp.domain.calibration import Calibration
from harry_mcp.errors import EvalError, ProviderError
from harry_mcp.evals import figures
from harry_mcp.evals.answers import Answer
from harry_mcp.evals.asking import Asked, Laboratory, Report
from harry_mcp.evals.curve_report import warnings, worth
from harry_mcp.evals.fitting import Curve, Method, Sample, cross_validated, fit, log_loss
from harry_mcp.evals.golden import GoldenSet
from harry_mcp.evals.models import asks_models, patient
from harry_mcp.settings import RankSection, Settings
from harry_mcp.storage.scratch import scratch_database

# Under this a fold may hold none of a kind, and a curve would be a guess.
_FEWEST = 5
# The share of questions that a model may leave unscored.
_MOST_UNSCORED = 0.2
_UNCALIBRATED = "/uncalibrated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A curve, the questions it was fitted on, and what it gave each of them while it had not seen it.

    ``bounds`` are where strong and moderate begin.
    """

    calibration: Calibration
    answers: Sequence[Answer]
    raw: Sequence[float]
    chances: Sequence[float]
    bounds: tuple[float, float]
    figures: dict[str, Any]


async def calibrate(
    settings: Settings,
    golden: GoldenSet,
    name: str,
    *,
    method: Method | Literal["auto"] = "auto",
    report: Report | None = None,
) -> Fitted:
    """Fit the curve of the ranker that the settings name; nothing is stored.

    Raises:
        EvalError: the golden set has too few questions of a kind, or the ranker's scores tell nothing.
        ProviderError: the model did not score the questions.
        DatabaseUnavailable: PostgreSQL cannot be reached.
    """
    _enough(golden)
    async with scratch_database(patient(settings)) as own:
        asked, _ = await Laboratory(own, golden, report or _silent).whole()
    by_model = asks_models(settings)
    ranker, scored = _scored(asked, by_model=by_model)
    _enough_scored(scored, len(asked.answers), asked)
    samples = [
        Sample(
            id=answer.id,
            raw=answer.raw if by_model else answer.score,
            answerable=answer.answerable,
            answered=answer.answered,
        )
        for answer in scored
    ]
    return _fitted(
        samples, scored, method, settings.rank, _Source(ranker, name, golden.fingerprint, len(asked.answers))
    )


@dataclass(frozen=True, slots=True)
class _Source:
    """Where samples come from."""

    ranker: str
    name: str
    fingerprint: str
    asked: int


def _silent(_: str) -> None:
    """Nobody is watching."""


def _enough(golden: GoldenSet) -> None:
    unanswerable = sum(not question.answerable for question in golden.questions)
    answerable = len(golden.questions) - unanswerable
    if not unanswerable:
        raise EvalError(
            "This golden set has no unanswerable question, so nothing shows how the ranker scores what it cannot "
            "answer. Add some with `answerable: false`, or take documents away with --holdout."
        )
    if min(unanswerable, answerable) < _FEWEST:
        raise EvalError(
            f"A curve needs at least {_FEWEST} questions of either kind; there are {answerable} answerable and "
            f"{unanswerable} unanswerable ones."
        )


def _scored(asked: Asked, *, by_model: bool) -> tuple[str, list[Answer]]:
    """The ranker's name, and the questions whose first hit it scored."""
    if not by_model:
        return asked.relevance_source, [answer for answer in asked.answers if answer.found]
    return asked.relevance_source.partition(_UNCALIBRATED)[0], [a for a in asked.answers if a.reranked and a.raw >= 0]


def _enough_scored(scored: Sequence[Answer], asked: int, found: Asked) -> None:
    if len(scored) >= (1 - _MOST_UNSCORED) * asked:
        return
    why = ", ".join(f"{name} {count}" for name, count in figures.degraded(found.answers).items())
    raise ProviderError(
        f"The ranker scored {len(scored)} of {asked} questions ({why or 'the others found nothing'}). Nothing was "
        "stored; mend that and run it again."
    )


def _fitted(
    samples: Sequence[Sample],
    answers: Sequence[Answer],
    method: Method | Literal["auto"],
    bands: RankSection,
    source: _Source,
) -> Fitted:
    chosen, chances = _judged(samples, method)
    curve = fit(samples, chosen)
    _tells_something(curve, samples, source.ranker)
    raw = [sample.raw for sample in samples]
    unscored = source.asked - len(samples)
    measured = worth(samples, answers, chances, bands)
    calibration = Calibration(
        id=_identity(curve, source),
        ranker=source.ranker,
        method=chosen,
        raw=curve.raw,
        chance=curve.chance,
        corpus=f"{source.name} ({source.fingerprint})",
        questions=len(samples),
        answerable=sum(sample.answerable for sample in samples),
        auroc=measured["auroc"],
        calibration_error=measured["calibration_error"],
        fitted_at=datetime.now(UTC),
    )
    return Fitted(
        calibration=calibration,
        answers=answers,
        raw=raw,
        chances=chances,
        bounds=(bands.strong, bands.moderate),
        figures={**measured, "unscored": unscored, "warnings": warnings(measured, unscored)},
    )


def _judged(samples: Sequence[Sample], method: Method | Literal["auto"]) -> tuple[Method, list[float]]:
    """The method, the one that is less surprised by questions that it has not seen, and the chances it gave them."""
    methods: tuple[Method, ...] = ("platt", "isotonic") if method == "auto" else (method,)
    tried = {name: cross_validated(samples, name) for name in methods}
    best = min(methods, key=lambda name: log_loss(tried[name], samples))
    return best, tried[best]


def _tells_something(curve: Curve, samples: Sequence[Sample], ranker: str) -> None:
    if curve.rises:
        return
    same = len({sample.raw for sample in samples}) == 1
    raise EvalError(
        f"The scores of {ranker} say nothing about these questions: "
        + ("every first hit has the same one." if same else "the higher ones are right no more often than the lower.")
        + " No curve was stored."
    )


def _identity(curve: Curve, source: _Source) -> str:
    """The same curve of the same ranker from the same questions keeps its id."""
    key = repr((source.ranker, source.fingerprint, curve.raw, curve.chance))
    return "cal_" + hashlib.sha256(key.encode()).hexdigest()[:12]
