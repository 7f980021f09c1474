"""harry eval facts: whether superseded facts are told from rewordings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harry_mcp.cli import eval_options as options
from harry_mcp.cli.console import print_json, run, terminal
from harry_mcp.settings import Settings, load_settings

if TYPE_CHECKING:
    from rich.table import Table

_SHOWN = 10


def eval_facts(
    gold: Annotated[
        Path,
        typer.Option(
            help='JSONL of edits {"id"?, "old", "new", "label"}: label 1 where a fact was superseded, 0 where it was '
            "only worded otherwise."
        ),
    ],
    models: Annotated[
        bool, typer.Option("--models", help="Let Claude judge, where there is ANTHROPIC_API_KEY. It costs.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Score every edit as the contradiction check does, and compare with the labels.

    It prints how well the scores order the edits (AUROC; that of plain Jaccard distance beside it), and precision and
    recall at HARRY_CURATE__FACT and around it. It needs no database.
    """
    figures = run(_figures(load_settings(), gold, models=models))
    if as_json:
        print_json(figures)
    else:
        _print(figures)


async def _figures(settings: Settings, gold: Path, *, models: bool) -> dict[str, Any]:
    from harry_mcp.evals import facts
    from harry_mcp.providers.factory import build_language_model
    from harry_mcp.stages.curate.judging import FactJudge

    edits = facts.load(gold)
    model = build_language_model(settings) if models else None
    try:
        return await facts.evaluate(edits, FactJudge(model, settings.curate), settings.curate.fact)
    finally:
        if model is not None:
            await model.close()


def _print(figures: dict[str, Any]) -> None:
    from rich.markup import escape
    from rich.table import Table

    console = terminal()
    console.print(
        f"{figures['edits']} edits, {figures['superseded']} superseded a fact; judged by "
        f"{', '.join(figures['judged_by'])}\nAUROC [bold]{figures['auroc']:.3f}[/] (plain Jaccard distance "
        f"{figures['auroc_of_jaccard']:.3f})",
        soft_wrap=True,
    )
    table = Table()
    for column in ("from", "precision", "recall"):
        table.add_column(column, justify="right")
    for point, style in ((figures["at"], "bold"), *((each, "") for each in figures["curve"])):
        told = f"{point['precision']:.3f}" if point["precision"] >= 0 else "-"
        table.add_row(f"{point['from']:.2f}", told, f"{point['recall']:.3f}", style=style)
    console.print(table)
    if figures["kinds"]:
        console.print(_kinds(figures["kinds"]))
    for row in figures["wrong"][:_SHOWN]:
        says = "missed" if row["label"] else "flagged in vain"
        console.print(f"[bold]{says}[/] {row['score']:.2f} {row['id']}", soft_wrap=True)
        console.print(f"  - {escape(row['old'])}\n  + {escape(row['new'])}", soft_wrap=True)
    if len(figures["wrong"]) > _SHOWN:
        console.print(f"[dim]and {len(figures['wrong']) - _SHOWN} more; --json has all[/]")


def _kinds(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Found of the superseded facts of a kind, flagged of its rewordings, and AUROC against the rewordings of all."""
    from rich.markup import escape
    from rich.table import Table

    table = Table()
    table.add_column("kind")
    for column in ("found", "in vain", "AUROC"):
        table.add_column(column, justify="right")
    for row in rows:
        area = f"{row['auroc']:.3f}" if row["auroc"] >= 0 else "-"
        found, vain = f"{row['found']}/{row['superseded']}", f"{row['flagged_in_vain']}/{row['reworded']}"
        table.add_row(escape(row["kind"]), found, vain, area)
    return table
