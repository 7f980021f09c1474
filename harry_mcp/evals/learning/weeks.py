"""The weeks themselves, through the real loop in a database of its own: first without it, then with it.

Without the loop nothing is said, decided or brought in, so the knowledge base stays what it was and every question is
answered as on the first day. That is measured before anything else, on the same database, with nothing written down.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from harry_mcp.app import App
from harry_mcp.domain.calibration import Calibration
from harry_mcp.domain.search import SearchResult
from harry_mcp.evals.golden import Question
from harry_mcp.evals.learning.curator import Curator, bring
from harry_mcp.evals.learning.judging import Ledger, Reply, judge
from harry_mcp.evals.learning.library import Library
from harry_mcp.evals.learning.people import People, Says, says
from harry_mcp.evals.learning.schedule import Asking, Habits, schedule
from harry_mcp.evals.models import patient, without_models
from harry_mcp.settings import Settings
from harry_mcp.storage.scratch import scratch_database

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Heard:
    """One asking, its reply, and what the asker does about it (would do, where nobody listens)."""

    asking: Asking
    reply: Reply
    said: Says


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """Both courses of the same weeks, and how every question of the set is answered before and after them."""

    without: list[Heard]
    with_loop: list[Heard]
    before: dict[str, Reply]
    after: dict[str, Reply]
    did: list[Counter[str]]
    parts: dict[str, str]


async def play(
    settings: Settings,
    library: Library,
    habits: Habits,
    *,
    seed: int,
    curves: Sequence[Calibration] = (),
    note: Note = lambda _: None,
) -> Played:
    """Play the weeks. The local models only: what is said must not depend on a service's mood. Budgets are lifted.

    Raises:
        EvalError: the corpus cannot be stored.
        DatabaseUnavailable: PostgreSQL cannot be reached, or does not let us create a database.
        ProviderError: the embedding model failed.
    """
    weeks = schedule(library.questions, habits, seed=seed, longest=settings.reply.question_characters)
    async with scratch_database(patient(without_models(settings))) as own, await App.open(own) as app:
        async with app.database.transaction() as unit:
            for curve in curves:
                await unit.calibrations.save(curve)
        stage = _Stage(app, library, habits, seed, note)
        await stage.begin()
        without = [await stage.unheard(asking) for week in weeks for asking in week]
        before = {each.id: await stage.plain(each, each.text) for each in library.questions}
        heard = [await stage.week(week) for week in weeks]
        after = {each.id: await stage.asked_anew(each) for each in library.questions}
        parts = {
            "embeddings": str(app.embedder.space),
            "relevance_source": stage.scored_by,
            "postgres": (await app.database.versions()).postgres,
        }
    return Played(
        without=without,
        with_loop=[each for week, _ in heard for each in week],
        before=before,
        after=after,
        did=[did for _, did in heard],
        parts=parts,
    )


@dataclass(slots=True)
class _Stage:
    """The knowledge base, and who acts on it."""

    app: App
    library: Library
    habits: Habits
    seed: int
    note: Note
    ledger: Ledger = field(default_factory=Ledger)
    did: Counter[str] = field(default_factory=Counter[str])
    scored_by: str = ""
    _replies: dict[tuple[str, str], Reply] = field(default_factory=dict[tuple[str, str], Reply])
    _curator: Curator | None = None

    async def begin(self) -> None:
        self.note("taking the pages in")
        there = [key for key in self.library.pages if key not in self.library.held]
        await bring(self.app, self.library, self.ledger, there)

    async def unheard(self, asking: Asking) -> Heard:
        """An asking without the loop: nothing is written down, and what is said of the reply goes nowhere."""
        self.note(f"week {asking.week} without the loop, question {asking.number + 1}")
        return self._heard(asking, await self.plain(asking.question, asking.text))

    async def plain(self, question: Question, text: str) -> Reply:
        """The reply of a knowledge base that nobody spoke to yet; the same text is asked once."""
        key = (question.id, text)
        if key not in self._replies:
            result = await self._search(question, text, record=False)
            self._replies[key] = judge(result, self.library.gold(question), self.ledger)
        return self._replies[key]

    async def asked_anew(self, question: Question) -> Reply:
        self.note(f"asking all {len(self.library.questions)} questions at the end")
        result = await self._search(question, question.text, record=True)
        return judge(result, self.library.gold(question), self.ledger)

    async def week(self, askings: Sequence[Asking]) -> tuple[list[Heard], Counter[str]]:
        """A week with the loop: everybody asks and says what he has to say, then the curator sits down."""
        self.did.clear()
        people = People(self.app, self.library, self.ledger, self.habits, self.did)
        heard: list[Heard] = []
        for asking in askings:
            self.note(f"week {asking.week} with the loop, question {asking.number + 1}")
            result = await self._search(asking.question, asking.text, record=True)
            if result.gap_id:
                self.ledger.about.setdefault(result.gap_id, asking.question.id)
            each = self._heard(asking, judge(result, self.library.gold(asking.question), self.ledger))
            if each.said is not Says.NOTHING:
                await people.say(each.said, asking, each.reply, result)
            heard.append(each)
        await self._curated().week()
        return heard, Counter(self.did)

    def _curated(self) -> Curator:
        if self._curator is None:
            dice = random.Random(f"{self.seed}|curator")
            self._curator = Curator(self.app, self.library, self.ledger, self.habits, dice, self.did)
        return self._curator

    def _heard(self, asking: Asking, reply: Reply) -> Heard:
        known = bool(self.library.gold(asking.question))
        return Heard(asking, reply, says(asking, reply, known=known, habits=self.habits))

    async def _search(self, question: Question, text: str, *, record: bool) -> SearchResult:
        longest = self.app.settings.reply.question_characters
        result = await self.app.loop.search(text[:longest], history=question.history, record=record)
        self.scored_by = result.verdict.relevance_source
        return result
