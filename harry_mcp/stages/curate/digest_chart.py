"""The picture of the digest: searches of 14 days, and the share of them that the web was needed for."""

# pyright: reportUnknownMemberType=false
# matplotlib leaves the types of its keyword arguments open.
from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harry_mcp.domain.digest import DayOfSearches, Digest, Escalation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Twice the size at which mails show it, for fine screens. The paper is opaque: dark mail clients keep it readable.
WIDTH, HEIGHT, SCALE = 560, 220, 2
_INK, _FAINT, _PAPER = "#22303c", "#6b7883", "#ffffff"
_ANSWERED, _WEAK, _LINE = "#9cc8cf", "#d1603d", "#b4c0c8"


def chart(digest: Digest) -> bytes:
    """A PNG of ``WIDTH * SCALE`` by ``HEIGHT * SCALE`` pixels."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH / 100, HEIGHT / 100), dpi=100 * SCALE, facecolor=_PAPER)
    axes = figure.add_axes((0.065, 0.15, 0.915, 0.64))
    axes.set_facecolor(_PAPER)
    days = digest.days
    if not sum(day.searches for day in days):
        axes.text(0.5, 0.5, "No searches in 14 days", transform=axes.transAxes, ha="center", color=_FAINT, fontsize=10)
        axes.set_axis_off()
    else:
        _bars(axes, days)
        _weeks(axes, digest)
        figure.legend(
            loc="upper left",
            bbox_to_anchor=(0.055, 1.0),
            ncols=2,
            frameon=False,
            fontsize=8,
            labelcolor=_INK,
            handlelength=0.9,
            handleheight=0.9,
        )
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png")
    return drawn.getvalue()


def described(digest: Digest) -> str:
    """What the picture shows, for who cannot see it."""
    week, before = digest.this_week, digest.week_before
    return (
        f"Searches by day. This week {week.weak} of {week.searches} escalated to the web, in the week before "
        f"{before.weak} of {before.searches}."
    )


def _bars(axes: Axes, days: Sequence[DayOfSearches]) -> None:
    from matplotlib.ticker import MaxNLocator

    places = range(len(days))
    answered = [day.searches - day.weak for day in days]
    axes.bar(places, answered, width=0.72, color=_ANSWERED, label="answered from the knowledge base", zorder=3)
    axes.bar(
        places,
        [day.weak for day in days],
        bottom=answered,
        width=0.72,
        color=_WEAK,
        label="escalated to the web",
        zorder=3,
    )
    top = max(day.searches for day in days)
    axes.set_ylim(0, 1.3 * top)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=3, integer=True))
    # Every second day from the last one back, so that today always has its date.
    shown = [place for place in places if (len(days) - 1 - place) % 2 == 0]
    axes.set_xticks(shown, [f"{days[place].day:%d %b}".lstrip("0") for place in shown])
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color("#c9d2d9")
    axes.tick_params(colors=_FAINT, labelsize=7.5, length=0)
    axes.grid(axis="y", color="#eef2f4", linewidth=0.9, zorder=0)
    axes.set_axisbelow(True)


def _weeks(axes: Axes, digest: Digest) -> None:
    """The rate of each week above its days."""
    half = len(digest.days) - 7
    top = axes.get_ylim()[1]
    for name, week, first, last in (
        ("week before", digest.week_before, 0, half - 1),
        ("last 7 days", digest.this_week, half, len(digest.days) - 1),
    ):
        axes.plot([first - 0.36, last + 0.36], [0.9 * top] * 2, color=_LINE, linewidth=1.2, zorder=4)
        axes.text((first + last) / 2, 0.92 * top, _rate(name, week), ha="center", va="bottom", fontsize=8, color=_INK)


def _rate(name: str, week: Escalation) -> str:
    return f"{name}: {week.rate:.0%} escalated" if week.searches else f"{name}: no searches"
