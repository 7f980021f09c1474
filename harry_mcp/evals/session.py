"""A whole ``harry eval run``: measure, compare with the last run, check the gates, keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harry_mcp.evals import gates as gating
from harry_mcp.evals import keeping
from harry_mcp.evals.asking import Report
from harry_mcp.evals.comparing import Change, compare, differing
from harry_mcp.evals.gates import Gate, Held
from harry_mcp.evals.golden import GoldenSet
from harry_mcp.evals.run import evaluate
from harry_mcp.settings import Settings
from harry_mcp.storage.eval_runs import EvalRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is wanted of a run beside its figures. ``plain`` measures the rungs under "+ context" too."""

    name: str
    plain: bool = True
    save: bool = True
    gates: Sequence[Gate] = ()
    baseline: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A run, what it was compared with (None when there is nothing), and what became of its gates."""

    run: EvalRun
    saved: bool
    before: EvalRun | None
    changes: list[Change]
    gates: list[Held]

    @property
    def settings_changed(self) -> dict[str, tuple[Any, Any]]:
        return differing(self.before.settings, self.run.settings) if self.before else {}

    def as_json(self) -> dict[str, Any]:
        """Everything, for a script; it also serves as the baseline of a later run."""
        run, before = self.run, self.before
        return {
            **run.figures,
            "run": {
                "id": run.id,
                "name": run.name,
                "golden": run.golden,
                "settings": run.settings,
                "saved": self.saved,
                "created_at": run.created_at.isoformat(),
            },
            "compared_with": {
                "id": before.id,
                "created_at": before.created_at.isoformat(),
                "settings": {name: {"before": a, "now": b} for name, (a, b) in self.settings_changed.items()},
                "changes": [change.as_json() for change in self.changes],
            }
            if before
            else None,
            "gates": [gate.as_json() for gate in self.gates],
        }


async def measure(settings: Settings, golden: GoldenSet, plan: Plan, report: Report | None = None) -> Outcome:
    """Measure a golden set and keep the run in the user's database.

    Raises:
        EvalError: the golden set cannot be measured, or the baseline is of another one.
        InputError: the baseline cannot be read.
        HarryError: the database or a model failed.
    """
    fingerprint = golden.fingerprint
    before = keeping.read_baseline(plan.baseline) if plan.baseline else None
    if before is not None:
        keeping.same_set(before, fingerprint)
    async with keeping.shelf(settings) as shelf:
        figures = await evaluate(settings, golden, report, plain=plan.plain, curves=await shelf.curves())
        before = before or await shelf.last(fingerprint)
        changes = compare(keeping.answers(before.figures), keeping.answers(figures)) if before else []
        held = gating.check(plan.gates, figures, changes if before else None)
        run = keeping.new_run(plan.name, fingerprint, settings, figures, accepted=all(gate.held for gate in held))
        if plan.save:
            await shelf.save(run)
    return Outcome(run=run, saved=plan.save, before=before, changes=changes, gates=held)
