"""Who asks what in which week: drawn from a seed before anything is asked, the same with and without the loop.

What people will say of a reply is drawn here too, as numbers: which of them speaks up depends on the reply, but how
ready he is to do so does not.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass

from harry_mcp.evals.golden import Question
from harry_mcp.evals.learning.rewording import Form, forms


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """How people ask, speak up and curate. Shares are of 1.

    ``skew``: the question of rank r is asked in proportion to r ** -skew. ``as_asked``: a question is put in its own
    words. ``corrects``, ``complains``: of replies that were wrong. ``blames``: of complaints, those that name the page
    that was quoted. ``praises``: of replies that were right. ``slips``: of those who speak up, how many are mistaken.
    ``trusted``: people whose corrections are believed at once. ``decisions``: what the curator gets done in a week;
    ``misjudges``: how many of them are wrong.
    """

    weeks: int = 8
    askings: int = 120
    skew: float = 0.7
    as_asked: float = 0.5
    people: int = 40
    trusted: float = 0.5
    corrects: float = 0.2
    complains: float = 0.3
    blames: float = 0.2
    praises: float = 0.15
    slips: float = 0.03
    decisions: int = 15
    misjudges: float = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One person asks one question. ``voice``, ``slip`` and ``blame`` in [0, 1) say how ready he is to speak up, to be
    mistaken, and to name a page."""

    number: int
    week: int
    question: Question
    form: Form
    text: str
    person: int
    voice: float
    slip: float
    blame: float


def schedule(questions: Sequence[Question], habits: Habits, *, seed: int, longest: int) -> list[list[Asking]]:
    """The askings of every week. ``longest``: characters of a question that are asked."""
    dice = random.Random(seed)
    order = list(questions)
    dice.shuffle(order)
    weights = [(rank + 1) ** -habits.skew for rank in range(len(order))]
    numbers = itertools.count()
    return [
        [
            _asking(next(numbers), week, dice.choices(order, weights)[0], habits, dice, seed, longest)
            for _ in range(habits.askings)
        ]
        for week in range(1, habits.weeks + 1)
    ]


def _asking(
    number: int, week: int, question: Question, habits: Habits, dice: random.Random, seed: int, longest: int
) -> Asking:
    there = forms(question.text[:longest], str(seed))
    others = [form for form in there if form is not Form.WHOLE]
    own_words = dice.random() < habits.as_asked or not others
    form = Form.WHOLE if own_words else dice.choice(others)
    return Asking(
        number=number,
        week=week,
        question=question,
        form=form,
        text=there[form],
        person=dice.randrange(habits.people),
        voice=dice.random(),
        slip=dice.random(),
        blame=dice.random(),
    )
