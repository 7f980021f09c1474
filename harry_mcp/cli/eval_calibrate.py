"""harry eval calibrate: what a ranker's scores mean."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harry_mcp.cli import eval_options as options
from harry_mcp.cli.console import print_json, run, terminal
from harry_mcp.settings import Settings, load_settings

if TYPE_CHECKING:
    from harry_mcp.evals.asking import Report
    from harry_mcp.evals.calibrating import Fitted
    from harry_mcp.evals.golden import GoldenSet


class FitMethod(StrEnum):
    """How the curve is fitted."""

    AUTO = "auto"
    ISOTONIC = "isotonic"
    PLATT = "platt"


def eval_calibrate(
    corpus: options.Corpus,
    queries: options.Queries,
    holdout: options.Holdout = None,
    name: options.Name = "",
    method: Annotated[
        FitMethod,
        typer.Option(help="isotonic follows the data, platt is a smooth S; auto takes what foresees unseen questions."),
    ] = FitMethod.AUTO,
    plot: options.Plot = None,
    save: Annotated[bool, typer.Option(help="Keep the curve; from then on it holds for this ranker.")] = True,
    yes: options.Yes = False,
    as_json: options.AsJson = False,
) -> None:
    """Fit what the scores of the ranker in use mean, on a golden set with unanswerable questions.

    The ranker is the one that the settings and keys name (HARRY_RANK__RERANKER). The curve says with which chance a
    first hit of this score answers its question, if every other question can be answered; it is kept in your database
    under the ranker's name and used for no other. All figures are of questions that their curve had not seen.
    """
    from harry_mcp.evals import golden

    settings = load_settings()
    if settings.ingest.context == "auto":  # a key alone must not make contexts cost money: say `claude` for that
        ingest = settings.ingest.model_copy(update={"context": "template"})
        settings = settings.model_copy(update={"ingest": ingest})
    wanted = golden.load(corpus, queries, holdout)
    options.affordable(settings, wanted, yes=yes)
    title = options.named(name, queries, holdout)
    with options.watched() as note:
        fitted = run(_calibrate(settings, wanted, title, method, save=save, note=note))
    pictures = _draw(fitted, title, plot) if plot else []
    if as_json:
        print_json(_as_json(fitted, saved=save, pictures=pictures))
    else:
        _print(fitted, saved=save, pictures=pictures)


async def _calibrate(
    settings: Settings, golden: GoldenSet, name: str, method: FitMethod, *, save: bool, note: Report
) -> Fitted:
    from harry_mcp.evals.calibrating import calibrate
    from harry_mcp.evals.keeping import shelf

    async with shelf(settings) as kept:
        fitted = await calibrate(settings, golden, name, method=method.value, report=note)
        if save:
            await kept.save_curve(fitted.calibration)
    return fitted


def _draw(fitted: Fitted, title: str, folder: Path) -> list[Path]:
    from harry_mcp.evals.plots import curve_page

    return curve_page(fitted, f"{fitted.calibration.ranker} on {title}", folder)


def _as_json(fitted: Fitted, *, saved: bool, pictures: list[Path]) -> dict[str, Any]:
    curve = fitted.calibration
    rows = zip(fitted.answers, fitted.raw, fitted.chances, strict=True)
    return {
        "calibration": {
            "id": curve.id,
            "ranker": curve.ranker,
            "method": curve.method,
            "raw": list(curve.raw),
            "chance": list(curve.chance),
            "corpus": curve.corpus,
            "fitted_at": curve.fitted_at.isoformat(),
            "saved": saved,
        },
        **fitted.figures,
        "per_question": [
            {
                "id": answer.id,
                "answerable": answer.answerable,
                "answered": answer.answered,
                "raw": round(raw, 6),
                "chance": round(chance, 4),
            }
            for answer, raw, chance in rows
        ],
        "plots": [str(path) for path in pictures],
    }


def _print(fitted: Fitted, *, saved: bool, pictures: list[Path]) -> None:
    from rich.table import Table

    console, curve, figures = terminal(), fitted.calibration, fitted.figures
    console.print(curve.ranker, style="bold", markup=False, soft_wrap=True)
    console.print(
        f"{figures['questions']} questions, {figures['answerable']} answerable, {figures['answered']} answered by the "
        f"first hit; {curve.method}. A chance reads: if every other question can be answered."
    )
    console.print(
        f"AUROC {figures['auroc']:.3f}. Calibration error {figures['calibration_error_before']:.3f} with raw scores "
        f"taken as chances, {figures['calibration_error']:.3f} with the curve, on questions that it had not seen."
    )
    table = Table(title="Inside each band", title_justify="left")
    for column in ("band", "raw: questions", "answerable", "curve: questions", "answerable", "first hit right"):
        table.add_column(column, justify="left" if column == "band" else "right")
    for band, after in figures["after"]["bands"].items():
        before = figures["before"]["bands"][band]
        cells = [str(before["questions"]), f"{before['answerable']:.0%}", str(after["questions"])]
        table.add_row(band, *cells, f"{after['answerable']:.0%}", f"{after['answered']:.0%}")
    console.print(table)
    points = [curve.raw[i] for i in range(0, len(curve.raw), max(1, len(curve.raw) // 8))]
    console.print("Curve: " + ", ".join(f"{raw:.2f} is {curve.of(raw):.2f}" for raw in points))
    for warning in figures["warnings"]:
        console.print(f"[yellow]{warning}[/]")
    for path in pictures:
        console.print(f"[dim]Picture: {path}[/]", soft_wrap=True)
    console.print(
        f"[dim]{curve.id} {'holds for this ranker from now on' if saved else 'was not kept'}. "
        "Running servers see it within a minute.[/]"
    )
