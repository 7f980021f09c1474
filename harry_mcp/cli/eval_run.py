"""harry eval run: the figures of a golden set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harry_mcp.cli import eval_options as options
from harry_mcp.cli.console import ExitCode, print_json, run
from harry_mcp.settings import load_settings

if TYPE_CHECKING:
    from harry_mcp.evals.session import Outcome

_GATE_HELP = """What must hold, else the exit code is 6: an expression (pass@5>=0.85,auroc>=0.84,ece<=0.09), a file of \
them, or `last` (nothing is worse than in the last run by more than chance). Figures: hit@1 hit@5 mrr ndcg@10 pass@5 \
pass@10 pass@20 of the last stage, or of another (hybrid.mrr); auroc ece balanced_ece; strong.answerable \
weak.answered moderate.questions; latency.total. May be given several times."""


def eval_run(
    corpus: options.Corpus,
    queries: options.Queries,
    holdout: options.Holdout = None,
    name: options.Name = "",
    quick: Annotated[
        bool, typer.Option("--quick", help="Leave out the stages on bare text, which take about as long again.")
    ] = False,
    models: Annotated[
        bool,
        typer.Option(
            "--models",
            help="Let the models that a key gives take part (HyDE, re-ranking, contexts), as in service. It costs.",
        ),
    ] = False,
    gate: Annotated[list[str] | None, typer.Option(help=_GATE_HELP)] = None,
    baseline: Annotated[
        Path | None, typer.Option(help="Compare with this --json output and not with the last run in the database.")
    ] = None,
    plot: options.Plot = None,
    save: Annotated[bool, typer.Option(help="Keep the run, so that the next is compared with it.")] = True,
    yes: options.Yes = False,
    as_json: options.AsJson = False,
) -> None:
    """Put a corpus through the real pipeline in a database of its own, and ask every question.

    It prints what each stage adds, and how far the verdict can be trusted. The run is kept in your database and
    compared with the last one over the same golden set. What a file of a golden set holds is in the README.
    """
    from harry_mcp.cli.eval_report import print_outcome
    from harry_mcp.evals import gates, golden
    from harry_mcp.evals.models import named_only
    from harry_mcp.evals.session import Plan, measure

    settings = load_settings() if models else named_only(load_settings())
    wanted = golden.load(corpus, queries, holdout)
    plan = Plan(
        name=options.named(name, queries, holdout),
        plain=not quick,
        save=save,
        gates=gates.parse(gate or []),
        baseline=baseline,
    )
    options.affordable(settings, wanted, yes=yes)
    with options.watched() as note:
        outcome = run(measure(settings, wanted, plan, note))
    pictures = _draw(outcome, plot) if plot else []
    if as_json:
        print_json({**outcome.as_json(), "plots": [str(path) for path in pictures]})
    else:
        print_outcome(outcome, pictures)
    if options.broken(outcome.gates):
        raise typer.Exit(ExitCode.GATE)


def _draw(outcome: Outcome, folder: Path) -> list[Path]:
    from harry_mcp.evals.keeping import answers
    from harry_mcp.evals.plots import run_page

    kept = outcome.run
    title = f"{kept.name}   {kept.created_at:%Y-%m-%d %H:%M} UTC"
    return run_page(kept.figures, answers(kept.figures), title, folder)
