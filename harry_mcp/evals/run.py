"""harry eval run: a golden set through the real pipeline, and what it scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harry_mcp.domain.calibration import Calibration
from harry_mcp.evals import figures
from harry_mcp.evals.answers import Answer, Stage
from harry_mcp.evals.asking import Asked, Laboratory, Report
from harry_mcp.evals.golden import GoldenSet
from harry_mcp.evals.models import patient
from harry_mcp.settings import Settings
from harry_mcp.storage.scratch import scratch_database

_LOST_NAMED = 3


async def evaluate(
    settings: Settings,
    golden: GoldenSet,
    report: Report | None = None,
    *,
    plain: bool = True,
    curves: Sequence[Calibration] = (),
) -> dict[str, Any]:
    """The figures of a golden set, from a database of its own.

    ``plain`` also indexes the bare text of every chunk and asks all questions of it first, for the rungs of the ladder
    under "+ context"; it nearly doubles the time. ``curves`` are the calibrations that hold, as the database of its own
    has none. The budgets are lifted: figures are of what the parts know, and not of how busy this machine is.

    Raises:
        EvalError: the corpus cannot be stored as it is to be measured.
        DatabaseUnavailable: PostgreSQL cannot be reached, or does not let us create a database.
        ProviderError: the embedding model failed.
    """
    async with scratch_database(patient(settings)) as own:
        laboratory = Laboratory(own, golden, report or _silent)
        bare = await laboratory.plain() if plain else None
        whole, facts = await laboratory.whole(curves)
    answers = _ladder(whole, bare)
    legs = {stage: figures.retrieval(whole.answers, stage) for stage in (Stage.KEYWORD, Stage.VECTOR)}
    return {
        "documents": len({row.doc_id or row.id for row in golden.corpus}),
        "chunks": facts.chunks,
        "questions": len(answers),
        "answerable": sum(answer.answerable for answer in answers),
        "findable": golden.findable,
        "embeddings": facts.embeddings,
        "chunking": settings.ingest.chunking,
        "contexts": facts.contexts,
        "relevance_source": whole.relevance_source,
        "postgres": facts.postgres,
        "warnings": _warnings(golden),
        "retrieval": {stage: figures.retrieval(answers, stage) for stage in figures.stages(answers)},
        "legs_with_context": {stage.value: values for stage, values in legs.items()},
        "verdict": figures.verdict([a.score for a in answers], [a.band for a in answers], answers),
        "degraded": figures.degraded(answers),
        "latency_ms": figures.latency(whole.timings_ms),
        "per_question": [answer.model_dump(mode="json") for answer in answers],
    }


def _silent(_: str) -> None:
    """Nobody is watching."""


def _ladder(whole: Asked, bare: Asked | None) -> list[Answer]:
    """The answers with the rungs in their order: what the bare text gave, then what was put on top of it."""
    nothing: dict[str, tuple[int, ...]] = {}
    under = [answer.ranks for answer in bare.answers] if bare else [nothing] * len(whole.answers)
    found: list[Answer] = []
    for answer, below in zip(whole.answers, under, strict=True):
        ranks = {stage.value: below[stage] for stage in (Stage.KEYWORD, Stage.VECTOR, Stage.HYBRID) if stage in below}
        ranks[Stage.CONTEXT.value] = answer.ranks[Stage.HYBRID]
        for stage in (Stage.RANK, Stage.RERANK):
            if stage in answer.ranks:
                ranks[stage.value] = answer.ranks[stage]
        found.append(answer.model_copy(update={"ranks": ranks}))
    return _filled(found)


def _filled(answers: Sequence[Answer]) -> list[Answer]:
    """Where a model read only some of the answers, the others reach its rung in the local order: so they were given."""
    if not any(Stage.RERANK in answer.ranks for answer in answers):
        return list(answers)
    return [
        answer
        if Stage.RERANK in answer.ranks
        else answer.model_copy(update={"ranks": {**answer.ranks, Stage.RERANK.value: answer.ranks[Stage.RANK]}})
        for answer in answers
    ]


def _warnings(golden: GoldenSet) -> list[str]:
    found: list[str] = []
    if golden.lost:
        named = ", ".join(golden.lost[:_LOST_NAMED]) + (", …" if len(golden.lost) > _LOST_NAMED else "")
        found.append(
            f"{len(golden.lost)} answerable questions have no golden row in the corpus and count as missed ({named}). "
            "If their documents were taken away, say so: `answerable: false`, or `now_unanswerable` in the holdout."
        )
    unanswerable = sum(not question.answerable for question in golden.questions)
    if not unanswerable:
        found.append("There is no unanswerable question, so nothing tells whether the verdict can be trusted.")
    return found
