"""A whole ``harry eval loop``: play the weeks, take the figures, check the gates, keep."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harry_mcp.evals import gates as gating
from harry_mcp.evals import golden, keeping
from harry_mcp.evals.gates import Gate, Held
from harry_mcp.evals.golden import GoldenSet
from harry_mcp.evals.learning.figures import figures, named
from harry_mcp.evals.learning.library import Library
from harry_mcp.evals.learning.schedule import Habits
from harry_mcp.evals.learning.weeks import Note, Played, play
from harry_mcp.settings import Settings
from harry_mcp.storage.eval_runs import EvalRun

KIND = "loop"
# What decides how the loop learns, beside what decides a search.
_SECTIONS = ("correct", "verify")


@dataclass(frozen=True, slots=True)
class LoopSet:
    """A golden set with all of its pages, and the same as the weeks begin with it."""

    whole: GoldenSet
    start: GoldenSet

    @property
    def fingerprint(self) -> str:
        """Another one than either has as a golden set: a run of weeks is compared with no run of `harry eval run`."""
        return hashlib.sha256(f"{KIND} {self.whole.fingerprint} {self.start.fingerprint}".encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopPlan:
    """What is wanted of a run."""

    name: str
    habits: Habits
    seed: int = 1
    gates: Sequence[Gate] = ()
    save: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopOutcome:
    """A run and what became of its gates."""

    run: EvalRun
    saved: bool
    gates: list[Held]

    def as_json(self) -> dict[str, Any]:
        """Everything, for a script."""
        run = self.run
        about = {"id": run.id, "name": run.name, "golden": run.golden, "settings": run.settings, "saved": self.saved}
        return {
            **run.figures,
            "run": {**about, "created_at": run.created_at.isoformat()},
            "gates": [gate.as_json() for gate in self.gates],
        }


def load(corpus: Path, queries: Path, holdout: Path | None = None) -> LoopSet:
    """Read a golden set.

    Raises:
        EvalError: a file is missing, or a line does not fit.
    """
    whole = golden.load(corpus, queries)
    return LoopSet(whole, golden.load(corpus, queries, holdout) if holdout else whole)


async def measure(settings: Settings, given: LoopSet, plan: LoopPlan, note: Note = lambda _: None) -> LoopOutcome:
    """Play the weeks and keep the run in the user's database.

    Raises:
        EvalError: the golden set cannot be measured so.
        HarryError: the database or a model failed.
    """
    library = Library(given.whole, given.start)
    held = len(library.held)
    async with keeping.shelf(settings) as shelf:
        played = await play(settings, library, plan.habits, seed=plan.seed, curves=await shelf.curves(), note=note)
        measured = _about(given, library, played, held, plan) | figures(played, library)
        gates = gating.check_named(plan.gates, named(measured))
        accepted = all(gate.held for gate in gates)
        run = keeping.new_run(plan.name, given.fingerprint, settings, measured, accepted=accepted, also=_SECTIONS)
        if plan.save:
            await shelf.save(run)
    return LoopOutcome(run=run, saved=plan.save, gates=gates)


def _about(given: LoopSet, library: Library, played: Played, held: int, plan: LoopPlan) -> dict[str, Any]:
    return {
        "kind": KIND,
        "seed": plan.seed,
        "habits": asdict(plan.habits),
        "pages": len(library.pages),
        "held_out": held,
        "questions": len(library.questions),
        "left_out": len(given.whole.questions) - len(library.questions),
        "answered_by_a_page": sum(bool(library.gold(each)) for each in library.questions),
        "contexts": "template",
        **played.parts,
    }
