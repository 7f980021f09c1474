"""The panels of a curve's page, beside those that it shares with a run's."""

# pyright: reportUnknownMemberType=false
# matplotlib leaves the types of its keyword arguments open.
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from harry_mcp.domain.search import Band
from harry_mcp.evals.calibrating import Fitted
from harry_mcp.evals.drawing import BANDS, FAINT, INK, NO, YES, quiet, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def curve(axes: Axes, fitted: Fitted) -> None:
    """What a raw score is worth; the ticks are the questions, answered above and not answered below."""
    calibration, truths = fitted.calibration, [answer.answered for answer in fitted.answers]
    titled(axes, "What a raw score is worth", f"AUROC {calibration.auroc:.3f}")
    for truth, place, colour in ((True, 1.03, YES), (False, -0.03, NO)):
        own = [score for score, other in zip(fitted.raw, truths, strict=True) if other is truth]
        axes.plot(own, [place] * len(own), linestyle="", marker="|", markersize=9, color=colour, alpha=0.45, zorder=2)
    for bound, band in zip(fitted.bounds, (Band.STRONG, Band.MODERATE), strict=True):
        axes.axhline(bound, color=BANDS[band], linewidth=0.9, linestyle=(0, (4, 4)), zorder=1)
    ends = [0.0, *calibration.raw, 1.0], [calibration.chance[0], *calibration.chance, calibration.chance[-1]]
    axes.plot(*ends, color=INK, linewidth=2, zorder=3)
    if calibration.method == "isotonic":
        axes.plot(calibration.raw, calibration.chance, linestyle="", marker="o", markersize=5, color=INK, zorder=4)
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.08, 1.08)
    axes.set_xlabel("raw score of the first hit")
    axes.set_ylabel("chance that it answers")
    quiet(axes, grid="both")


def bands(axes: Axes, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Which share of each band can be answered, by raw scores and by the curve, and how many questions fall in it."""
    titled(axes, "What the bands hold", "share that can be answered")
    for column, band in enumerate(BANDS):
        for side, (values, alpha) in enumerate(((before, 0.35), (after, 1.0))):
            inside = values[band.value]
            place, share = column + (side - 0.5) * 0.36, inside["answerable"]
            axes.bar(place, share, width=0.33, color=BANDS[band], alpha=alpha, zorder=3)
            words = f"{share:.0%}\nof {inside['questions']}" if inside["questions"] else "none"
            axes.text(place, share + 0.015, words, ha="center", va="bottom", fontsize=8.5, color=INK)
            axes.text(place, -0.02, ("raw", "curve")[side], ha="center", va="top", fontsize=8, color=FAINT)
    axes.set_ylim(0, 1.16)
    axes.set_xlim(-0.55, 2.55)
    axes.set_xticks(range(3), [f"\n{band.value}" for band in BANDS])
    quiet(axes, grid="y")
