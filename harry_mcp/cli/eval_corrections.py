"""harry eval corrections: whether the corrections that bear on a question are found, and no others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from harry_mcp.cli import eval_options as options
from harry_mcp.cli.console import ExitCode, print_json, run, terminal
from harry_mcp.settings import load_settings

_SHOWN = 10
_GATE_HELP = """What must hold, else the exit code is 6, as recall@3>=1: an expression on recall@3, mrr, \
nothing_right or wrong, or a file of them. May be given several times."""


def eval_corrections(
    golden: Annotated[
        Path,
        typer.Option(
            help='JSONL of corrections {"id", "lesson", "wrong", "truth", "topic"?, "asked"?} and of questions '
            '{"id", "text", "relevant"}; relevant is empty for a question that no correction bears on.'
        ),
    ],
    live: Annotated[
        bool,
        typer.Option(
            "--live", help="Ask the knowledge base itself: does each correction still come back with its question?"
        ),
    ] = False,
    gate: Annotated[list[str] | None, typer.Option(help=_GATE_HELP)] = None,
    as_json: options.AsJson = False,
) -> None:
    """Store the corrections in a database of their own, ask every question, and see what each one brings.

    It prints recall@3 and MRR of the corrections that were wanted, how often nothing was rightly brought, and what
    other floors of relevance (HARRY_CORRECT__RELEVANCE) would give. headed is how often a wanted one would stand at the
    head of an answer (HARRY_CORRECT__ANSWERS), headed wrong how often another one would. With --live nothing is stored:
    the corrections are those of the knowledge base, and the rows that `harry eval grow --corrections` wrote are its
    regression tests.
    """
    from harry_mcp.evals import corrections, gates
    from harry_mcp.evals.live_corrections import evaluate_live

    settings = load_settings()
    wanted = gates.parse(gate or [], corrections.KNOWN)
    evaluate = evaluate_live if live else corrections.evaluate
    figures = run(evaluate(settings, corrections.load(golden)))
    held = gates.check_named(wanted, {name: figures[name] for name in corrections.KNOWN})
    if as_json:
        print_json({**figures, "gates": [each.as_json() for each in held]})
    else:
        _print(figures)
    if options.broken(held):
        raise typer.Exit(ExitCode.GATE)


def _print(figures: dict[str, Any]) -> None:
    from rich.table import Table

    console = terminal()
    console.print(
        f"{figures['corrections']} corrections, {figures['questions']} questions; floor {figures['floor']:.2f}\n"
        f"[dim]{figures['embeddings']}[/]",
        soft_wrap=True,
    )
    table = Table()
    columns = ("recall@3", "mrr", "nothing_right", "wrong", "headed", "headed_wrong")
    for column in ("floor", *columns):
        table.add_column(column.replace("_", " "), justify="right")

    def said(of: dict[str, Any]) -> list[str]:
        return [f"{of[name]:.3f}" if of[name] >= 0 else "-" for name in columns]

    table.add_row(f"{figures['floor']:.2f}", *said(figures), style="bold")
    table.add_section()
    for point in figures.get("curve", ()):
        table.add_row(f"{point['floor']:.2f}", *said(point))
    console.print(table)
    _print_questions(figures["missed"], "Missed")
    _print_questions(figures["brought_in_vain"], "Brought in vain")


def _print_questions(rows: list[dict[str, Any]], says: str) -> None:
    from rich.markup import escape

    console = terminal()
    if rows:
        console.print(f"[bold]{says}[/] ({len(rows)} questions)")
    for row in rows[:_SHOWN]:
        got = ", ".join(f"{item['id']} {item['relevance']:.2f}" for item in row["brought"]) or "nothing"
        wanted = ", ".join(row["relevant"]) or "nothing"
        why = f": {escape(row['why'])}" if row.get("why") else ""
        console.print(f"  {row['id']} {escape(row['text'])}: wanted {wanted}, got {got}{why}", soft_wrap=True)
    if len(rows) > _SHOWN:
        console.print(f"  [dim]and {len(rows) - _SHOWN} more; --json has all[/]")
