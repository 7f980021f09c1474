"""A measured run for a person: the ladder, the verdict, and what changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harry_mcp.cli.console import terminal

if TYPE_CHECKING:
    from rich.console import Console

    from harry_mcp.evals.learning.run import LoopOutcome
    from harry_mcp.evals.session import Outcome
    from harry_mcp.storage.eval_runs import EvalRun

_RUNGS = {
    "keyword": "keyword",
    "vector": "vector",
    "hybrid": "hybrid",
    "context": "+ context",
    "rank": "+ rank",
    "rerank": "+ rerank",
}
_COLOURS = {"better": "green", "worse": "red", "same": "dim"}


def print_outcome(outcome: Outcome, pictures: Sequence[Path]) -> None:
    """Everything that a run gave."""
    console = terminal()
    print_figures(outcome.run)
    _print_changes(console, outcome)
    print_kept(outcome, pictures)


def print_kept(outcome: Outcome | LoopOutcome, pictures: Sequence[Path]) -> None:
    """Which gates hold, where the pictures are, and the id of the run."""
    console = terminal()
    for held in outcome.gates:
        mark = "[green]holds[/]" if held.held else "[bold red]does not hold[/]"
        console.print(f"Gate {held.gate}: {mark} ({held.measured})")
    for path in pictures:
        console.print(f"[dim]Picture: {path}[/]", soft_wrap=True)
    console.print(f"[dim]{'Kept as' if outcome.saved else 'Not kept:'} {outcome.run.id}[/]")


def print_figures(run: EvalRun) -> None:
    """The figures of one run."""
    from rich.markup import escape

    console, figures = terminal(), run.figures
    console.print(
        f"[bold]{escape(run.name)}[/]  {figures['documents']} documents in {figures['chunks']} chunks, "
        f"{figures['questions']} questions, {figures['answerable']} of them answerable"
    )
    _print_ladder(console, figures)
    _print_verdict(console, figures["verdict"])
    timings = ", ".join(f"{name} {value:.1f}" for name, value in figures["latency_ms"].items())
    console.print(f"Median ms: {timings}")
    console.print(
        f"[dim]{figures['embeddings']}; chunks by {figures['chunking']}, contexts by {figures['contexts']}[/]"
    )
    console.print(f"[dim]Scored by {figures['relevance_source']}[/]", soft_wrap=True)
    for name, count in figures["degraded"].items():
        console.print(f"[yellow]{count} questions were answered without a part that was down: {name}[/]")
    for warning in figures["warnings"]:
        console.print(f"[yellow]{warning}[/]")


def _print_ladder(console: Console, figures: Mapping[str, Any]) -> None:
    from rich.table import Table

    rungs = {stage: values for stage, values in figures["retrieval"].items() if values}
    if not rungs:
        return
    table = Table(
        title=f"What each stage adds ({figures['findable']} questions with something to be found)",
        title_justify="left",
        caption="Up to hybrid over the bare text of each chunk; + context: hybrid, with title and headings in front."
        if "hybrid" in rungs
        else None,
        caption_justify="left",
    )
    table.add_column("stage")
    names = list(next(iter(rungs.values())))
    for name in names:
        table.add_column(name, justify="right")
    for stage, values in rungs.items():
        table.add_row(_RUNGS[stage], *(f"{values[name]:.3f}" for name in names))
    console.print(table)


def _print_verdict(console: Console, verdict: Mapping[str, Any]) -> None:
    from rich.table import Table

    def said(name: str) -> str:
        return f"{verdict[name]:.3f}" if verdict[name] >= 0 else "not to be had"

    if verdict["auroc"] < 0:
        return
    console.print(
        f"Verdict: AUROC {said('auroc')}, expected calibration error {said('expected_calibration_error')} "
        f"({said('balanced_calibration_error')} if half could be answered)"
    )
    table = Table(box=None, padding=(0, 2))
    for column in ("band", "questions", "answerable", "first hit right", "of the answerable", "of the others"):
        table.add_column(column, justify="left" if column == "band" else "right")
    confusion = verdict["escalation"]
    totals = {kind: sum(counts.values()) for kind, counts in confusion.items()}
    for band, values in verdict["bands"].items():
        shares = [
            f"{confusion[kind][band] / totals[kind]:.0%}" if totals[kind] else "-"
            for kind in ("answerable", "unanswerable")
        ]
        inside = [f"{values[name]:.0%}" if values["questions"] else "-" for name in ("answerable", "answered")]
        table.add_row(band, str(values["questions"]), *inside, *shares)
    console.print(table)


def _print_changes(console: Console, outcome: Outcome) -> None:
    from rich.table import Table

    before = outcome.before
    if before is None:
        console.print("[dim]No earlier run of this golden set to compare with.[/]")
        return
    table = Table(
        title=f"Since {before.id} of {before.created_at:%Y-%m-%d %H:%M}",
        title_justify="left",
        caption="Range: 99 in 100 paired bootstraps of the questions. What holds 0 may be chance.",
        caption_justify="left",
    )
    for column in ("figure", "before", "now", "change", "range", ""):
        table.add_column(column, justify="left" if column in ("figure", "") else "right")
    for change in outcome.changes:
        span = f"{change.low:+.3f} to {change.high:+.3f}"
        cells = (f"{change.before:.3f}", f"{change.now:.3f}", f"{change.now - change.before:+.3f}", span)
        table.add_row(change.figure, *cells, change.verdict, style=_COLOURS[change.verdict])
    console.print(table)
    for name, (old, new) in outcome.settings_changed.items():
        console.print(f"  {name}: {old} to {new}", markup=False, soft_wrap=True)
