"""What all panels share: colours, titles, quiet axes."""

# pyright: reportUnknownMemberType=false
# matplotlib leaves the types of its keyword arguments open.
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from harry_mcp.domain.search import Band

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, FAINT, PAPER = "#22303c", "#7b8894", "#ffffff"
YES, NO = "#1f7a8c", "#d1603d"
BANDS = {Band.STRONG: "#2f7d5b", Band.MODERATE: "#d9a441", Band.WEAK: "#c0504d"}


def titled(axes: Axes, title: str, note: str = "") -> None:
    """The title at the left, a figure at the right."""
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold", color=INK, pad=9)
    if note:
        axes.set_title(note, loc="right", fontsize=9.5, color=FAINT, pad=9)


def nothing(axes: Axes, words: str) -> None:
    """Say why there is nothing to see."""
    axes.text(0.5, 0.5, words, transform=axes.transAxes, ha="center", color=FAINT)
    axes.set_axis_off()


def quiet(axes: Axes, *, grid: Literal["x", "y", "both"]) -> None:
    """Few lines, pale ones, behind what is shown."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color("#c9d2d9")
    axes.tick_params(colors=INK, labelsize=9, length=0)
    axes.xaxis.label.set_color(FAINT)
    axes.yaxis.label.set_color(FAINT)
    axes.grid(axis=grid, color="#eef2f4", linewidth=0.9, zorder=0)
    axes.set_axisbelow(True)


def wilson(share: float, cases: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson, 1927), which stays inside of 0 and 1 also for few cases."""
    if not cases:
        return 0.0, 1.0
    z = 1.96
    middle = share + z * z / (2 * cases)
    reach = z * math.sqrt(share * (1 - share) / cases + z * z / (4 * cases * cases))
    scale = 1 + z * z / cases
    return max((middle - reach) / scale, 0.0), min((middle + reach) / scale, 1.0)
