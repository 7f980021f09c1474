"""harry eval list and show: the runs and curves that are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from harry_mcp.cli import eval_options as options
from harry_mcp.cli.console import print_json, run, terminal
from harry_mcp.settings import load_settings

if TYPE_CHECKING:
    from harry_mcp.domain.calibration import Calibration
    from harry_mcp.settings import Settings
    from harry_mcp.storage.eval_runs import EvalRun


def eval_list(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Runs to show, the newest first.")] = 20,
    as_json: options.AsJson = False,
) -> None:
    """The last runs, and the curves with the ranker that each belongs to."""
    runs, curves = run(_kept(load_settings(), limit))
    if as_json:
        print_json({"runs": [_run_json(item) for item in runs], "calibrations": [_curve_json(item) for item in curves]})
        return
    _print_runs(runs)
    _print_curves(curves)


def eval_show(
    run_id: Annotated[str, typer.Argument(help="The id of a run, as `harry eval list` prints it.")],
    as_json: options.AsJson = False,
) -> None:
    """The figures of one kept run."""
    from harry_mcp.cli.eval_report import print_figures

    found = run(_one(load_settings(), run_id))
    if as_json:
        print_json({**found.figures, "run": _run_json(found, figures=False)})
    else:
        print_figures(found)


async def _kept(settings: Settings, limit: int) -> tuple[list[EvalRun], list[Calibration]]:
    from harry_mcp.evals.keeping import shelf

    async with shelf(settings) as kept:
        return await kept.recent(limit), await kept.all_curves()


async def _one(settings: Settings, run_id: str) -> EvalRun:
    from harry_mcp.evals.keeping import shelf

    async with shelf(settings) as kept:
        return await kept.get(run_id)


def _run_json(item: EvalRun, *, figures: bool = True) -> dict[str, Any]:
    about = {
        "id": item.id,
        "name": item.name,
        "golden": item.golden,
        "accepted": item.accepted,
        "created_at": item.created_at.isoformat(),
        "settings": item.settings,
    }
    return {**about, "figures": item.figures} if figures else about


def _curve_json(item: Calibration) -> dict[str, Any]:
    from dataclasses import asdict

    return {**asdict(item), "fitted_at": item.fitted_at.isoformat()}


def _print_runs(runs: list[EvalRun]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from harry_mcp.evals.gates import names

    table = Table(title="Runs", title_justify="left")
    for column in ("id", "when", "golden set", "hit@1", "pass@5", "ndcg@10", "auroc", "ece", "gates"):
        table.add_column(column, justify="left" if column in ("id", "when", "golden set", "gates") else "right")
    for item in runs:
        there = names(item.figures)
        cells = [
            f"{there[name]:.3f}" if there.get(name, -1) >= 0 else "-"
            for name in ("hit@1", "pass@5", "ndcg@10", "auroc", "ece")
        ]
        gates = "held" if item.accepted else "[red]did not hold[/]"
        table.add_row(item.id, f"{item.created_at:%Y-%m-%d %H:%M}", escape(item.name), *cells, gates)
    terminal().print(table)


def _print_curves(curves: list[Calibration]) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(title="Curves", title_justify="left")
    for column in ("id", "when", "ranker", "golden set", "method", "auroc", "error", "holds"):
        table.add_column(column, justify="right" if column in ("auroc", "error") else "left")
    seen: set[str] = set()
    for item in curves:
        holds = item.ranker not in seen
        seen.add(item.ranker)
        figures = f"{item.auroc:.3f}", f"{item.calibration_error:.3f}"
        when = f"{item.fitted_at:%Y-%m-%d %H:%M}"
        table.add_row(
            item.id, when, escape(item.ranker), escape(item.corpus), item.method, *figures, "yes" if holds else "no"
        )
    terminal().print(table)
