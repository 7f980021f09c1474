"""The weeks as a picture: one page, as ``loop.png`` and ``loop.svg``."""

# pyright: reportUnknownMemberType=false
# matplotlib leaves the types of its keyword arguments open.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harry_mcp.evals.drawing import FAINT, INK, NO, YES, nothing, quiet, titled, wilson
from harry_mcp.evals.plots import page, saved

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINES = (("without", "without the loop", NO), ("with_loop", "with the loop", YES))
_KINS = (
    ("repeat_error_exact", "asked again\nword for word"),
    ("repeat_error_reworded", "in other\nwords"),
    ("repeat_error_sibling", "another question,\nsame page"),
)


def loop_page(figures: Mapping[str, Any], title: str, folder: Path) -> list[Path]:
    """Repeat errors, escalations and sure errors week by week, and repeat errors by how akin the asking is.

    Raises:
        EvalError: matplotlib is missing, or the folder cannot be written.
    """
    habits = figures["habits"]
    said = (
        f"{habits['weeks']} weeks of {habits['askings']} askings · {figures['questions']} questions, "
        f"{figures['pages']} pages, {figures['held_out']} of them held out · {habits['decisions']} decisions of the "
        f"curator a week · seed {figures['seed']}"
    )
    drawn = page(12.6, 9.2, title, said)
    axes = drawn.subplots(2, 2, gridspec_kw={"hspace": 0.36, "wspace": 0.2})
    drawn.subplots_adjust(left=0.07, right=0.965, top=0.87, bottom=0.075)
    weeks = figures["weeks"]
    _course(axes[0][0], weeks, "repeat_error", "Wrong again after a complaint")
    _course(axes[0][1], weeks, "escalated", "Sent to the web")
    _course(axes[1][0], weeks, "surely_wrong", "Wrong and sure of it")
    _kins(axes[1][1], figures["rates"]["all"])
    return saved(drawn, folder, "loop")


def _course(axes: Axes, weeks: Sequence[Mapping[str, Any]], name: str, title: str) -> None:
    """A rate by weeks; weeks that give none are left out. The bars are the 95 % interval of a share."""
    titled(axes, title, "percent of askings")
    for side, (course, label, colour) in enumerate(_LINES):
        points = [(week["week"], week[course][name]) for week in weeks if week[course][name]["cases"]]
        places = [number + (side - 0.5) * 0.12 for number, _ in points]
        axes.plot(places, [100 * each["rate"] for _, each in points], color=colour, marker="o", label=label, zorder=3)
        for place, (_, each) in zip(places, points, strict=True):
            low, high = wilson(each["rate"], each["cases"])
            axes.plot([place, place], [100 * low, 100 * high], color=colour, linewidth=1.2, alpha=0.4, zorder=2)
    axes.set_ylim(0, None)
    axes.set_xticks([week["week"] for week in weeks])
    axes.set_xlabel("week")
    axes.legend(frameon=False, fontsize=9, labelcolor=INK)
    quiet(axes, grid="y")


def _kins(axes: Axes, rates: Mapping[str, Mapping[str, Any]]) -> None:
    """Repeat errors of all weeks by how akin the asking is to the one that was complained of."""
    titled(axes, "Wrong again, by what was asked", "percent, all weeks")
    there = [(name, label) for name, label in _KINS if rates[name]["without"]["cases"]]
    if not there:
        nothing(axes, "Nothing was asked again.")
        return
    for column, (name, _) in enumerate(there):
        for side, (course, _, colour) in enumerate(_LINES):
            rate = rates[name][course]
            share = max(rate["rate"], 0.0)
            place = column + (side - 0.5) * 0.36
            axes.bar(place, 100 * share, width=0.33, color=colour, zorder=3)
            words = f"{share:.0%}\nof {rate['cases']}"
            axes.text(place, 100 * share + 1.5, words, ha="center", va="bottom", fontsize=8.5, color=FAINT)
    axes.set_ylim(0, 118)
    axes.set_xticks(range(len(there)), [label for _, label in there])
    quiet(axes, grid="y")
