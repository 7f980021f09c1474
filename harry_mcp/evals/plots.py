"""The figures as pictures: one page for a run, one for a curve, as PNG and SVG.

matplotlib is imported when a picture is wanted, and drawn on without its global state.
"""

# pyright: reportUnknownMemberType=false
# matplotlib leaves the types of its keyword arguments open.
from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harry_mcp.errors import EvalError
from harry_mcp.evals import curve_panels, panels
from harry_mcp.evals.answers import Answer
from harry_mcp.evals.calibrating import Fitted
from harry_mcp.evals.drawing import FAINT, INK, PAPER

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def run_page(figures: Mapping[str, Any], answers: Sequence[Answer], title: str, folder: Path) -> list[Path]:
    """The page of a run: the ladder, reliability, scores and escalation, as ``eval.png`` and ``eval.svg``.

    Raises:
        EvalError: matplotlib is missing, or the folder cannot be written.
    """
    figure = page(12.6, 9.2, title, _subtitle(figures))
    axes = figure.subplots(2, 2, gridspec_kw={"hspace": 0.36, "wspace": 0.2})
    figure.subplots_adjust(left=0.07, right=0.965, top=0.87, bottom=0.075)
    verdict = figures["verdict"]
    panels.ladder(axes[0][0], figures["retrieval"], by_chunk=_has_many(answers))
    panels.reliability(
        axes[0][1], verdict["reliability"], f"calibration error {_said(verdict['expected_calibration_error'])}"
    )
    panels.histogram(axes[1][0], answers, f"AUROC {_said(verdict['auroc'])}")
    panels.escalation(axes[1][1], verdict["escalation"])
    return saved(figure, folder, "eval")


def curve_page(fitted: Fitted, title: str, folder: Path) -> list[Path]:
    """The page of a curve: the curve itself, reliability before and after, the bands, as ``calibration.png`` and .svg.

    Raises:
        EvalError: matplotlib is missing, or the folder cannot be written.
    """
    figures, curve = fitted.figures, fitted.calibration
    said = (
        f"{curve.questions} questions, {curve.answerable} answerable and {figures['answered']} answered by the first "
        f"hit · {curve.ranker} · {curve.method}, {curve.id} · all but the curve on questions that it had not seen"
    )
    figure = page(12.6, 9.2, title, said)
    axes = figure.subplots(2, 2, gridspec_kw={"hspace": 0.36, "wspace": 0.2})
    figure.subplots_adjust(left=0.07, right=0.965, top=0.87, bottom=0.075)
    curve_panels.curve(axes[0][0], fitted)
    curve_panels.bands(axes[0][1], figures["before"]["bands"], figures["after"]["bands"])
    for place, when, error in ((0, "before", "calibration_error_before"), (1, "after", "calibration_error")):
        panels.reliability(
            axes[1][place],
            figures[when]["reliability_answered"],
            f"calibration error {_said(figures[error])}",
            title="Raw scores taken as chances" if place == 0 else "Chances of this curve",
        )
    return saved(figure, folder, "calibration")


def _subtitle(figures: Mapping[str, Any]) -> str:
    counts = f"{figures['questions']} questions, {figures['answerable']} of them answerable"
    return f"{counts} · {figures['documents']} documents · {figures['embeddings']} · {figures['relevance_source']}"


def _has_many(answers: Sequence[Answer]) -> bool:
    """Whether questions have several golden ids, so that shares of them say more than the first."""
    return any(answer.relevant > 1 for answer in answers)


def _said(value: float) -> str:
    return "not to be had" if value < 0 else f"{value:.3f}"


def page(width: float, height: float, title: str, subtitle: str) -> Figure:
    """An empty page under a title, inches wide and high.

    Raises:
        EvalError: matplotlib is missing.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise EvalError("Pictures need matplotlib: `pip install matplotlib`, or leave --plot out.") from error
    # It says in a warning that it looks at the machine's fonts, the first time; on stderr that reads like a fault.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    figure = Figure(figsize=(width, height), facecolor=PAPER)
    figure.suptitle(title, x=0.07, y=0.978, ha="left", fontsize=14, fontweight="bold", color=INK)
    figure.text(0.07, 0.932, subtitle, fontsize=9.5, color=FAINT, ha="left")
    return figure


def saved(figure: Figure, folder: Path, name: str) -> list[Path]:
    """The page as PNG and SVG in a folder.

    Raises:
        EvalError: it cannot be written.
    """
    paths = [folder / f"{name}.png", folder / f"{name}.svg"]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in paths:
            figure.savefig(path, dpi=150)
    except OSError as error:
        raise EvalError(f"The pictures cannot be written to {folder}: {error}.") from error
    return paths
