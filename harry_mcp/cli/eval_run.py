"""harry eval run: the figures of a golden set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from harry_mcp.cli.console import print_json, run, terminal
from harry_mcp.settings import load_settings


def eval_run(
    corpus: Annotated[Path, typer.Option(help="Documents or ready-made chunks, JSONL.")],
    queries: Annotated[Path, typer.Option(help="Questions with the ids that answer them, JSONL.")],
    holdout: Annotated[Path | None, typer.Option(help="JSON with removed_documents and now_unanswerable.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures for a script.")] = False,
) -> None:
    """Put a corpus through the real pipeline in a database of its own, and ask every question."""
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from harry_mcp.evals import golden
    from harry_mcp.evals.run import evaluate

    settings = load_settings()
    if settings.ingest.context == "auto":  # a key alone must not make a measurement cost money: say `claude` for that
        ingest = settings.ingest.model_copy(update={"context": "template"})
        settings = settings.model_copy(update={"ingest": ingest})
    wanted = golden.load(corpus, queries, holdout)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    console = terminal(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("starting")
        figures = run(evaluate(settings, wanted, lambda step: progress.update(task, description=step[:80])))
    if as_json:
        print_json(figures)
    else:
        _print(figures)


def _print(figures: dict[str, Any]) -> None:
    from rich.table import Table

    console = terminal()
    console.print(
        f"{figures['documents']} documents in {figures['chunks']} chunks, {figures['questions']} questions, "
        f"{figures['answerable']} of them answerable"
    )
    table = Table(title="Retrieval by stage (answerable questions)", title_justify="left")
    table.add_column("stage")
    names = list(figures["retrieval"]["rank"])
    for name in names:
        table.add_column(name, justify="right")
    for stage, values in figures["retrieval"].items():
        table.add_row(stage, *(f"{values[name]:.3f}" for name in names))
    console.print(table)
    verdict = figures["verdict"]
    console.print(
        f"Verdict: AUROC {verdict['auroc']:.3f}, expected calibration error {verdict['expected_calibration_error']:.3f}"
    )
    for band, values in verdict["bands"].items():
        console.print(f"  {band}: {values['questions']} questions, {values['answerable']:.0%} truly answerable")
    timings = ", ".join(f"{name} {value:.1f}" for name, value in figures["latency_ms"].items())
    console.print(f"Median ms: {timings}")
    console.print(f"Chunks cut by {figures['chunking']}, contexts by {figures['contexts']}")
    console.print(f"Scored by {figures['relevance_source']}")
