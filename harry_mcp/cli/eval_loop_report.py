"""Played weeks for a person: week by week, what fell and by how much, what was harmed, who did what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harry_mcp.cli.console import terminal
from harry_mcp.cli.eval_report import print_kept

if TYPE_CHECKING:
    from rich.table import Table

    from harry_mcp.evals.learning.run import LoopOutcome
    from harry_mcp.storage.eval_runs import EvalRun

_NAMES = {
    "repeat_error": "repeat errors",
    "repeat_error_exact": "  the same words again",
    "repeat_error_reworded": "  the same question reworded",
    "repeat_error_sibling": "  another question, same page",
    "repeat_error_corrected": "  somebody said what is right",
    "wrong": "wrong, of all with a page",
    "escalated": "escalated",
    "surely_wrong": "wrong and sure of it",
    "official": "served an official answer",
    "by_correction": "right by a correction alone",
    "stray": "with a correction of another page",
}
_BY = {
    "page": "from a page",
    "correction": "by a correction",
    "official": "by an official answer",
    "nothing": "by not answering",
}
_FORMS = ("whole", "title", "body", "fewer", "order", "typos")
_WEEKLY = ("repeat_error", "wrong", "escalated", "surely_wrong")


def print_loop_outcome(outcome: LoopOutcome, pictures: Sequence[Path]) -> None:
    """Everything that the weeks gave."""
    print_loop(outcome.run)
    print_kept(outcome, pictures)


def print_loop(run: EvalRun) -> None:
    """The figures of one run."""
    from rich.markup import escape

    console, figures = terminal(), run.figures
    habits = figures["habits"]
    console.print(
        f"[bold]{escape(run.name)}[/]  {figures['pages']} pages, {figures['held_out']} held out; "
        f"{figures['questions']} questions, {figures['answered_by_a_page']} answered by a page; {habits['weeks']} "
        f"weeks of {habits['askings']} askings, {habits['decisions']} decisions a week, seed {figures['seed']}",
        soft_wrap=True,
    )
    console.print(_weeks(figures["weeks"]))
    console.print(_rates(figures["rates"]))
    _print_harm(figures)
    done = ", ".join(f"{count} {what}" for what, count in sorted(figures["did"].items()) if count)
    console.print(f"In all weeks: {done}", soft_wrap=True)
    console.print(f"[dim]{figures['embeddings']}; scored by {figures['relevance_source']}[/]", soft_wrap=True)


def _weeks(weeks: Sequence[Mapping[str, Any]]) -> Table:
    from rich.table import Table

    table = Table(title="Without the loop → with it, by weeks", title_justify="left")
    table.add_column("week", justify="right")
    for name in _WEEKLY:
        table.add_column(_NAMES[name], justify="right")
    table.add_column("official", justify="right")
    for week in weeks:
        pairs = (f"{_said(week['without'][name])} → {_said(week['with_loop'][name])}" for name in _WEEKLY)
        table.add_row(str(week["week"]), *pairs, _said(week["with_loop"]["official"]))
    return table


def _rates(rates: Mapping[str, Mapping[str, Any]]) -> Table:
    from rich.table import Table

    table = Table(
        title="All weeks, and the second half of them",
        title_justify="left",
        caption="Of askings: wrong or counted / cases. Range: the fall in 95 of 100 draws of the needs.",
        caption_justify="left",
    )
    for column in ("figure", "without", "with", "fall", "range", "late: without", "with", "fall"):
        table.add_column(column, justify="left" if column == "figure" else "right")
    for name, label in _NAMES.items():
        whole, late = rates["all"][name], rates["late"][name]
        told = _there(whole)
        span = f"{100 * whole['low']:+.0f} to {100 * whole['high']:+.0f}" if told else "-"
        cells = (*_both(whole, counts=True), span, *_both(late, counts=False))
        table.add_row(label, *cells, style="bold" if name in ("repeat_error", "escalated") else None)
    return table


def _both(rate: Mapping[str, Any], *, counts: bool) -> tuple[str, str, str]:
    cells = [
        f"{_said(each)} ({each['number']}/{each['cases']})" if counts and each["cases"] else _said(each)
        for each in (rate["without"], rate["with_loop"])
    ]
    return cells[0], cells[1], f"{100 * rate['fall']:+.0f}" if _there(rate) else "-"


def _there(rate: Mapping[str, Any]) -> bool:
    return bool(rate["without"]["cases"] and rate["with_loop"]["cases"])


def _print_harm(figures: Mapping[str, Any]) -> None:
    console, paired, exam = terminal(), figures["paired"], figures["exam"]
    console.print(
        f"Asking by asking: {paired['righted']} of {paired['wrong_without']} wrong ones were righted"
        f"{_causes(paired['righted_by'])}, {paired['harmed']} of {paired['right_without']} right ones were harmed"
        f"{_causes(paired['harmed_by'])}",
        soft_wrap=True,
    )
    put = ", ".join(
        f"{form} {_share(counts, 'without')} → {_share(counts, 'with_loop')}"
        for form in _FORMS
        if (counts := figures["forms"][form])["askings"]
    )
    console.print(f"Right by how the question was put: {put}", soft_wrap=True)
    for group, label in (("asked", "asked in the weeks"), ("never_asked", "never asked")):
        moved = exam[group]
        console.print(
            f"All {moved['questions']} questions {label}, in their own words: right {moved['right_before']} before, "
            f"{moved['right_after']} after ({moved['righted']} righted, {moved['harmed']} harmed)",
            soft_wrap=True,
        )


def _causes(counts: Mapping[str, int]) -> str:
    """What the agent answered from."""
    told = ", ".join(f"{counts[by]} {words}" for by, words in _BY.items() if counts[by])
    return f" ({told})" if told else ""


def _share(counts: Mapping[str, int], course: str) -> str:
    return f"{100 * counts[course] / counts['askings']:.0f} %"


def _said(rate: Mapping[str, Any]) -> str:
    return f"{100 * rate['rate']:.0f} %" if rate["cases"] else "-"
