"""From the replies of both courses to the figures of a run.

**Repeat errors.** An asking counts when somebody complained before that a reply to the same need was wrong: to this
very text (``exact``), to this question in other words (``reworded``), or to another question that the same page answers
(``sibling``); the nearest of the three counts. The repeat-error rate is the share of these that are answered wrong
again (``corrected``: of those of them where somebody said before what is right, and did not only complain). Only
questions that some page answers are among them. Without the loop the same people complain; nobody listens.

**Harm** is counted twice: askings that are right without the loop and wrong with it, asking by asking; and questions of
the whole set in their own words, before the first week and after the last, those that were never asked apart.

``late`` is the second half of the weeks, when there was something to learn from. A range holds a difference in 95 of
100 draws, for which the needs are drawn again with all their askings (a cluster bootstrap: askings of one question are
no independent cases).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from harry_mcp.evals.figures import NONE
from harry_mcp.evals.learning.judging import By, Reply
from harry_mcp.evals.learning.library import Library
from harry_mcp.evals.learning.people import Says
from harry_mcp.evals.learning.rewording import Form
from harry_mcp.evals.learning.weeks import Heard, Played

_DRAWS = 2000
_COURSES = ("without", "with_loop")


class Kin(StrEnum):
    """How an asking is akin to one that was complained of."""

    EXACT = "exact"
    REWORDED = "reworded"
    SIBLING = "sibling"


@dataclass(frozen=True, slots=True)
class Case:
    """An asking as it is counted. ``need`` holds together what one page answers; ``kin`` is None for a new one.

    ``corrected``: somebody did not only complain before of the same need, but said what is right.
    """

    heard: Heard
    need: str
    known: bool
    kin: Kin | None
    corrected: bool

    @property
    def wrong(self) -> bool:
        return not self.heard.reply.right


# Which askings a rate is of, and which of them it counts.
_RATES: Mapping[str, tuple[Callable[[Case], bool], Callable[[Case], bool]]] = {
    "repeat_error": (lambda case: case.kin is not None, lambda case: case.wrong),
    **{f"repeat_error_{kin.value}": (lambda case, kin=kin: case.kin is kin, lambda case: case.wrong) for kin in Kin},
    "repeat_error_corrected": (lambda case: case.corrected, lambda case: case.wrong),
    "wrong": (lambda case: case.known, lambda case: case.wrong),
    "escalated": (lambda _: True, lambda case: case.heard.reply.escalated),
    "surely_wrong": (lambda _: True, lambda case: case.heard.reply.surely_wrong),
    "official": (lambda _: True, lambda case: case.heard.reply.official),
    "by_correction": (lambda _: True, lambda case: case.heard.reply.by is By.CORRECTION),
    "stray": (lambda _: True, lambda case: case.heard.reply.stray),
}
RATES = tuple(_RATES)


def cases(heard: Sequence[Heard], library: Library) -> list[Case]:
    """The askings of one course in order, each beside what was complained of before it."""
    texts: set[str] = set()
    questions: set[str] = set()
    needs: set[str] = set()
    corrected: set[str] = set()
    found: list[Case] = []
    for each in heard:
        asking = each.asking
        gold = library.gold(asking.question)
        need = "+".join(sorted(gold)) or asking.question.id
        kin = None
        if gold:
            kin = Kin.EXACT if asking.text in texts else Kin.REWORDED if asking.question.id in questions else None
            kin = kin or (Kin.SIBLING if need in needs else None)
        found.append(Case(each, need, bool(gold), kin, need in corrected))
        if gold and not each.reply.right and each.said in (Says.COMPLAINT, Says.CORRECTION):
            texts.add(asking.text)
            questions.add(asking.question.id)
            needs.add(need)
            corrected |= {need} if each.said is Says.CORRECTION else set()
    return found


def figures(played: Played, library: Library) -> dict[str, Any]:
    """All figures of a run; rates in [0, 1], -1 where there is nothing to take them of."""
    courses = {"without": cases(played.without, library), "with_loop": cases(played.with_loop, library)}
    weeks = sorted({case.heard.asking.week for case in courses["without"]})
    late = set(weeks[len(weeks) // 2 :])
    halves = {
        "all": courses,
        "late": {name: [case for case in course if case.heard.asking.week in late] for name, course in courses.items()},
    }
    return {
        "weeks": [_week(week, courses, played) for week in weeks],
        "rates": {span: {name: _compared(name, both) for name in RATES} for span, both in halves.items()},
        "paired": _paired(courses),
        "forms": _forms(courses),
        "exam": _exam(played, library),
        "did": {name: sum(did[name] for did in played.did) for name in sorted({n for did in played.did for n in did})},
    }


def _week(week: int, courses: Mapping[str, Sequence[Case]], played: Played) -> dict[str, Any]:
    own = {name: [case for case in course if case.heard.asking.week == week] for name, course in courses.items()}
    return {
        "week": week,
        "askings": len(own["without"]),
        **{course: {name: _rate(name, own[course]) for name in RATES} for course in _COURSES},
        "did": dict(played.did[week - 1]),
    }


def _rate(name: str, given: Iterable[Case]) -> dict[str, float]:
    counted, hits = _RATES[name]
    own = [case for case in given if counted(case)]
    number = sum(hits(case) for case in own)
    return {"cases": len(own), "number": number, "rate": round(number / len(own), 4) if own else NONE}


def _compared(name: str, courses: Mapping[str, Sequence[Case]]) -> dict[str, Any]:
    rates = {course: _rate(name, courses[course]) for course in _COURSES}
    there = all(rate["cases"] for rate in rates.values())
    fall = rates["without"]["rate"] - rates["with_loop"]["rate"] if there else 0.0
    low, high = _range(name, courses) if there else (0.0, 0.0)
    return {**rates, "fall": round(fall, 4), "low": round(low, 4), "high": round(high, 4)}


def _range(name: str, courses: Mapping[str, Sequence[Case]]) -> tuple[float, float]:
    """What holds the fall in 95 of 100 draws of the needs."""
    counted, hits = _RATES[name]
    needs = sorted({case.need for course in courses.values() for case in course if counted(case)})
    place = {need: row for row, need in enumerate(needs)}
    sums = np.zeros((len(needs), 4))
    for column, course in enumerate(_COURSES):
        for case in courses[course]:
            if counted(case):
                sums[place[case.need], 2 * column] += 1
                sums[place[case.need], 2 * column + 1] += hits(case)
    drawn = np.random.default_rng(0).multinomial(len(needs), np.full(len(needs), 1 / len(needs)), size=_DRAWS) @ sums
    whole = drawn[(drawn[:, 0] > 0) & (drawn[:, 2] > 0)]
    falls = whole[:, 1] / whole[:, 0] - whole[:, 3] / whole[:, 2]
    low, high = np.quantile(falls, [0.025, 0.975])
    return float(low), float(high)


def _paired(courses: Mapping[str, Sequence[Case]]) -> dict[str, Any]:
    """What became of each asking with the loop that was right, or wrong, without it."""
    pairs = list(zip(courses["without"], courses["with_loop"], strict=True))
    harmed = [(a, b) for a, b in pairs if not a.wrong and b.wrong]
    righted = [b for a, b in pairs if a.wrong and not b.wrong]
    right = sum(not a.wrong for a, _ in pairs)
    return {
        "right_without": right,
        "harmed": len(harmed),
        "harm": round(len(harmed) / right, 4) if right else NONE,
        "wrong_without": len(pairs) - right,
        "righted": len(righted),
        "righted_by": {by.value: sum(b.heard.reply.by is by for b in righted) for by in By},
        "harmed_by": {by.value: sum(b.heard.reply.by is by for _, b in harmed) for by in By},
        "harmed_questions": sorted({b.heard.asking.question.id for _, b in harmed}),
    }


def _forms(courses: Mapping[str, Sequence[Case]]) -> dict[str, dict[str, int]]:
    """By how a question was put: askings of questions that a page answers, and how many were right in each course."""
    known = {name: [case for case in course if case.known] for name, course in courses.items()}

    def right(course: str, form: Form) -> int:
        return sum(not case.wrong for case in known[course] if case.heard.asking.form is form)

    return {
        form.value: {
            "askings": sum(case.heard.asking.form is form for case in known["without"]),
            **{course: right(course, form) for course in _COURSES},
        }
        for form in Form
    }


def _exam(played: Played, library: Library) -> dict[str, Any]:
    """Every question in its own words before and after: those that were asked in the weeks, and those that were not."""
    asked = {each.asking.question.id for each in played.with_loop}
    groups = {
        "asked": [each for each in library.questions if each.id in asked],
        "never_asked": [each for each in library.questions if each.id not in asked],
    }
    return {
        name: _moved([(played.before[each.id], played.after[each.id]) for each in group])
        for name, group in groups.items()
    }


def _moved(pairs: Sequence[tuple[Reply, Reply]]) -> dict[str, int]:
    return {
        "questions": len(pairs),
        "right_before": sum(before.right for before, _ in pairs),
        "right_after": sum(after.right for _, after in pairs),
        "righted": sum(after.right and not before.right for before, after in pairs),
        "harmed": sum(before.right and not after.right for before, after in pairs),
    }


def named(figures: Mapping[str, Any]) -> dict[str, float]:
    """Every figure that a gate may name: ``repeat_error.fall``, ``late.escalated.with_loop``, ``harm``, ..."""
    found: dict[str, float] = {"harm": figures["paired"]["harm"]}
    for span, rates in figures["rates"].items():
        prefix = "late." if span == "late" else ""
        for name, rate in rates.items():
            found |= {f"{prefix}{name}.{course}": rate[course]["rate"] for course in _COURSES}
            if all(rate[course]["cases"] for course in _COURSES):
                found |= {f"{prefix}{name}.fall": rate["fall"], f"{prefix}{name}.fall_at_least": rate["low"]}
    for group, moved in figures["exam"].items():
        before = moved["right_before"]
        found[f"{group}.harm"] = round(moved["harmed"] / before, 4) if before else NONE
    return found


# Every figure that any run may give.
KNOWN = frozenset(
    {"harm", "asked.harm", "never_asked.harm"}
    | {
        f"{prefix}{name}.{part}"
        for prefix in ("", "late.")
        for name in RATES
        for part in (*_COURSES, "fall", "fall_at_least")
    }
)
