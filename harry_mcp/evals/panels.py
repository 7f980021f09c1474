"""The panels that a page of figures is made of, each drawn on axes that it is given."""

# pyright: reportUnknownMemberType=false
# matplotlib leaves the types of its keyword arguments open.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harry_mcp.domain.search import Band
from harry_mcp.evals.answers import Answer, Stage
from harry_mcp.evals.drawing import BANDS, FAINT, INK, NO, PAPER, YES, nothing, quiet, titled, wilson

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Bare text in greys, what is put on top of it in colours.
_STAGES = {
    Stage.KEYWORD: ("keyword", "#c3ccd3"),
    Stage.VECTOR: ("vector", "#9dabb5"),
    Stage.HYBRID: ("hybrid", "#72848f"),
    Stage.CONTEXT: ("+ context", "#8cc3cc"),
    Stage.RANK: ("+ rank", "#1f7a8c"),
    Stage.RERANK: ("+ rerank", "#d1603d"),
}
_LONG = {"hit@1": "hit@1 (right one first)", "hit@5": "hit@5 (in the first five)"}


def ladder(axes: Axes, retrieval: Mapping[str, Mapping[str, float]], *, by_chunk: bool) -> None:
    """What each rung adds, one group of bars a figure."""
    names = ("pass@5", "pass@10", "pass@20") if by_chunk else ("hit@1", "hit@5", "ndcg@10")
    titled(axes, "What each stage adds", "percent")
    stages = [stage for stage in retrieval if retrieval[stage]]
    if not stages:
        nothing(axes, "No question has anything to be found.")
        return
    width = 0.86 / len(stages)
    for number, stage in enumerate(stages):
        label, colour = _STAGES[Stage(stage)]
        places = [group + (number - (len(stages) - 1) / 2) * width for group in range(len(names))]
        heights = [retrieval[stage][name] * 100 for name in names]
        axes.bar(places, heights, width=0.92 * width, color=colour, label=label, zorder=3)
        for place, height in zip(places, heights, strict=True):
            axes.text(place, height + 1, f"{height:.1f}", ha="center", va="bottom", fontsize=7.6, color=INK)
    axes.set_ylim(0, 118)
    axes.set_yticks(range(0, 101, 20))
    axes.set_xticks(range(len(names)), [_LONG.get(name, name) for name in names])
    axes.legend(
        loc="upper center",
        ncols=len(stages),
        frameon=False,
        fontsize=8.5,
        handlelength=0.9,
        handleheight=0.9,
        columnspacing=1.1,
        labelcolor=INK,
    )
    quiet(axes, grid="y")


def reliability(
    axes: Axes, bins: Sequence[Mapping[str, float]], note: str, *, title: str = "Does a score mean what it says?"
) -> None:
    """Score against truth, with how many questions stand behind each point and how far chance may move it."""
    titled(axes, title, note)
    if not bins:
        nothing(axes, "It takes answerable and unanswerable questions to tell.")
        return
    axes.plot([0, 1], [0, 1], color=FAINT, linewidth=1, linestyle=(0, (4, 4)), zorder=1)
    most = max((item["questions"] for item in bins), default=1)
    for item in bins:
        middle = (item["low"] + item["high"]) / 2
        height = 0.22 * item["questions"] / most
        axes.bar(middle, height, width=0.086, color="#dfe6ea", zorder=0)
        axes.text(middle, 0.012, f"{item['questions']:.0f}", ha="center", fontsize=7.5, color=FAINT, zorder=1)
        low, high = wilson(item["truth"], int(item["questions"]))
        axes.plot([item["score"]] * 2, [low, high], color=YES, linewidth=1.4, alpha=0.55, zorder=2)
        axes.plot(item["score"], item["truth"], marker="o", color=YES, markersize=7, zorder=3)
    axes.plot([item["score"] for item in bins], [item["truth"] for item in bins], color=YES, linewidth=1.2, zorder=2)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("score said")
    axes.set_ylabel("share that was true")
    quiet(axes, grid="both")


def histogram(axes: Axes, answers: Sequence[Answer], note: str) -> None:
    """The scores of answerable questions upwards and of unanswerable ones downwards: apart is good."""
    titled(axes, "Scores of the two kinds of question", note)
    up = [answer.score for answer in answers if answer.answerable]
    down = [answer.score for answer in answers if not answer.answerable]
    sides = ((_counted(up), 1, YES), (_counted(down), -1, NO))
    highest, lowest = (max(1, *counts) for counts, _, _ in sides)
    both = highest + lowest
    axes.set_ylim(-lowest - 0.20 * both, highest + 0.38 * both)  # room for the words in the corners
    axes.set_xlim(0, 1)
    _bands_behind(axes, answers)
    for counts, sign, colour in sides:
        heights = [sign * count for count in counts]
        axes.bar([n / 20 for n in range(20)], heights, width=0.046, align="edge", color=colour, zorder=3)
    axes.axhline(0, color=INK, linewidth=0.8, zorder=4)
    for words, height, edge, colour in ((f"{len(up)} answerable", 0.88, "top", YES), _below(len(down))):
        axes.text(
            0.985,
            height,
            words,
            transform=axes.transAxes,
            ha="right",
            va=edge,
            color=colour,
            fontsize=9.5,
            weight="bold",
        )
    axes.set_xlabel("score of the verdict")
    axes.set_ylabel("questions")
    axes.yaxis.set_major_formatter(lambda value, _: f"{abs(value):.0f}")
    quiet(axes, grid="y")


def _below(count: int) -> tuple[str, float, str, str]:
    return f"{count} unanswerable", 0.04, "bottom", NO


def _counted(scores: Sequence[float]) -> list[int]:
    counts = [0] * 20
    for score in scores:
        counts[min(int(score * 20), 19)] += 1
    return counts


def _bands_behind(axes: Axes, answers: Sequence[Answer]) -> None:
    """Where the bands lie, read off the answers: a run may have had other bounds than the settings of today."""
    left = 0.0
    for band in (Band.WEAK, Band.MODERATE, Band.STRONG):
        above = [answer.score for answer in answers if list(Band).index(answer.band) < list(Band).index(band)]
        right = min(above, default=1.0) if band is not Band.STRONG else 1.0
        if right > left:
            axes.axvspan(left, right, color=BANDS[band], alpha=0.10, linewidth=0, zorder=0)
            middle, top = (left + right) / 2, 0.975
            axes.text(middle, top, band.value, transform=axes.get_xaxis_transform(), **_centred(BANDS[band]))
        left = right


def _centred(colour: str) -> dict[str, Any]:
    return {"ha": "center", "va": "top", "fontsize": 8.5, "color": colour}


def escalation(axes: Axes, confusion: Mapping[str, Mapping[str, int]]) -> None:
    """What the agent is told to do, against what can be answered; each row in percent of its questions."""
    titled(axes, "Who answers, who goes to the web")
    wanted = {"answerable": {Band.STRONG: 1, Band.MODERATE: 0.5, Band.WEAK: 0}}
    wanted["unanswerable"] = {band: 1 - good for band, good in wanted["answerable"].items()}
    for row, (kind, counts) in enumerate(confusion.items()):
        total = sum(counts.values())
        for column, band in enumerate(BANDS):
            share = counts[band.value] / total if total else 0.0
            good = wanted[kind][band]
            colour = BANDS[Band.STRONG] if good == 1 else BANDS[Band.MODERATE] if good else BANDS[Band.WEAK]
            if total:
                _cell(axes, column, row, share, counts[band.value], colour)
    axes.set_xlim(0, 3)
    axes.set_ylim(2, 0)
    axes.set_xticks([0.5, 1.5, 2.5], ["strong\nanswer", "moderate\nwith care", "weak\nescalate"])
    asked = [kind if sum(counts.values()) else f"none {kind}" for kind, counts in confusion.items()]
    axes.set_yticks([0.5, 1.5], asked, rotation=90, va="center")
    axes.tick_params(length=0, labelsize=9, colors=INK)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _cell(axes: Axes, column: int, row: int, share: float, count: int, colour: str) -> None:
    from matplotlib.patches import Rectangle

    place = (column + 0.03, row + 0.04)
    axes.add_patch(Rectangle(place, 0.94, 0.92, facecolor=colour, alpha=0.10 + 0.75 * share, linewidth=0))
    ink = PAPER if share > 0.6 else INK
    axes.text(
        column + 0.5, row + 0.44, f"{share:.0%}", ha="center", va="center", fontsize=19, fontweight="bold", color=ink
    )
    axes.text(column + 0.5, row + 0.70, f"{count} questions", ha="center", va="center", fontsize=8.5, color=ink)
