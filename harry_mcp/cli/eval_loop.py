"""harry eval loop: weeks of use, with the loop and without it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harry_mcp.cli import eval_options as options
from harry_mcp.cli.console import ExitCode, print_json, run
from harry_mcp.settings import load_settings

if TYPE_CHECKING:
    from harry_mcp.evals.learning.run import LoopOutcome

_GATE_HELP = """What must hold, else the exit code is 6: expressions (repeat_error.fall>=0.2,harm<=0.02) or a file of \
them. Figures: repeat_error repeat_error_exact repeat_error_reworded repeat_error_sibling repeat_error_corrected wrong \
escalated surely_wrong official by_correction stray, each with .without .with_loop .fall .fall_at_least, and with \
late. in front for the second half of the weeks; harm asked.harm never_asked.harm. May be given several times."""


def eval_loop(
    corpus: options.Corpus,
    queries: options.Queries,
    holdout: options.Holdout = None,
    name: options.Name = "",
    weeks: Annotated[int, typer.Option(min=2, max=52, help="Weeks of use.")] = 8,
    askings: Annotated[int, typer.Option(min=1, max=5000, help="Questions asked in a week.")] = 120,
    decisions: Annotated[int, typer.Option(min=0, max=5000, help="What the curator gets done in a week.")] = 15,
    seed: Annotated[int, typer.Option(help="Another seed is another course of events; the same is the same.")] = 1,
    gate: Annotated[list[str] | None, typer.Option(help=_GATE_HELP)] = None,
    plot: options.Plot = None,
    save: Annotated[bool, typer.Option(help="Keep the run; `harry eval list` shows it.")] = True,
    as_json: options.AsJson = False,
) -> None:
    """Play weeks of use with a golden set: does the knowledge base learn from what is said of its answers?

    People ask, some again and some in other words; some complain, correct or praise; a curator gets through so many
    decisions a week. Held-out pages are what the curator may bring in when he sees the gap. The same weeks without all
    that are measured beside it, from the same seed. It runs in a database of its own, with the local models.
    """
    from harry_mcp.cli.eval_loop_report import print_loop_outcome
    from harry_mcp.evals import gates
    from harry_mcp.evals.learning import run as loop_run
    from harry_mcp.evals.learning.figures import KNOWN
    from harry_mcp.evals.learning.schedule import Habits

    plan = loop_run.LoopPlan(
        name=options.named(name, queries, holdout),
        habits=Habits(weeks=weeks, askings=askings, decisions=decisions),
        seed=seed,
        gates=gates.parse(gate or [], KNOWN),
        save=save,
    )
    given = loop_run.load(corpus, queries, holdout)
    with options.watched() as note:
        outcome = run(loop_run.measure(load_settings(), given, plan, note))
    pictures = _draw(outcome, plot) if plot else []
    if as_json:
        print_json({**outcome.as_json(), "plots": [str(path) for path in pictures]})
    else:
        print_loop_outcome(outcome, pictures)
    if options.broken(outcome.gates):
        raise typer.Exit(ExitCode.GATE)


def _draw(outcome: LoopOutcome, folder: Path) -> list[Path]:
    from harry_mcp.evals.learning.page import loop_page

    kept = outcome.run
    return loop_page(kept.figures, f"{kept.name}   {kept.created_at:%Y-%m-%d %H:%M} UTC", folder)
