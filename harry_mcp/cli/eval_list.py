"""harry eval list and show: the runs and curves that are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from harry_mcp.cli import eval_options as options
from harry_mcp.cli.console import print_json, run, terminal
from harry_mcp.settings import load_settings

if TYPE_CHECKING:
    from rich.table import Table

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
    _print_runs([item for item in runs if not _is_loop(item)])
    _print_loops([item for item in runs if _is_loop(item)])
    _print_curves(curves)


def eval_show(
    run_id: Annotated[str, typer.Argument(help="The id of a run, as `harry eval list` prints it.")],
    as_json: options.AsJson = False,
) -> None:
    """The figures of one kept run."""
    from harry_mcp.cli.eval_loop_report import print_loop
    from harry_mcp.cli.eval_report import print_figures

    found = run(_one(load_settings(), run_id))
    if as_json:
        print_json({**found.figures, "run": _run_json(found, figures=False)})
    elif _is_loop(found):
        print_loop(found)
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

    table = Table(title="Runs", title_justify="left", box=None, padding=(0, 1))
    _columns(table, ("id", "when", "golden set", "hit@1", "pass@5", "auroc", "ece", "gates"))
    for item in runs:
        there = names(item.figures)
        cells = [
            f"{there[name]:.3f}" if there.get(name, -1) >= 0 else "-" for name in ("hit@1", "pass@5", "auroc", "ece")
        ]
        gates = "held" if item.accepted else "[red]no[/]"
        table.add_row(item.id, f"{item.created_at:%y-%m-%d %H:%M}", escape(item.name), *cells, gates)
    terminal().print(table)


def _is_loop(item: EvalRun) -> bool:
    from harry_mcp.evals.learning.run import KIND

    return item.figures.get("kind") == KIND


def _print_loops(runs: list[EvalRun]) -> None:
    """Runs of `harry eval loop`, with both rates of repeat errors and of escalations."""
    from rich.markup import escape
    from rich.table import Table

    if not runs:
        return
    table = Table(title="Weeks of use, without the loop and with it", title_justify="left", box=None, padding=(0, 1))
    _columns(table, ("id", "when", "golden set", "repeat errors", "escalated", "gates"))
    for item in runs:
        rates = item.figures["rates"]["all"]
        cells = [
            " → ".join(f"{rates[name][course]['rate']:.3f}" for course in ("without", "with_loop"))
            for name in ("repeat_error", "escalated")
        ]
        gates = "held" if item.accepted else "[red]no[/]"
        table.add_row(item.id, f"{item.created_at:%y-%m-%d %H:%M}", escape(item.name), *cells, gates)
    terminal().print(table)


def _print_curves(curves: list[Calibration]) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(title="Curves", title_justify="left", box=None, padding=(0, 1))
    _columns(table, ("id", "when", "ranker", "golden set", "auroc", "error", "holds"))
    seen: set[str] = set()
    for item in curves:
        holds = item.ranker not in seen
        seen.add(item.ranker)
        name = item.corpus.partition(" (")[0]  # the fingerprint behind it is for scripts
        about = (item.id, f"{item.fitted_at:%y-%m-%d %H:%M}", escape(item.ranker), escape(name))
        table.add_row(*about, f"{item.auroc:.3f}", f"{item.calibration_error:.3f}", "yes" if holds else "no")
    terminal().print(table)


def _columns(table: Table, names: tuple[str, ...]) -> None:
    for name in names:
        wide = name in ("ranker", "golden set")
        number = name in ("hit@1", "pass@5", "auroc", "ece", "error")
        table.add_column(name, justify="right" if number else "left", no_wrap=not wide, overflow="fold")
