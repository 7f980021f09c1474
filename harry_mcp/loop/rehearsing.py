"""Which past questions an act would answer otherwise: they are asked before it and after it, and it never happens."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np

from harry_mcp.domain.curation import AnswerChange, AnswerView, DocumentChange
from harry_mcp.domain.documents import DocumentStatus
from harry_mcp.domain.search import SearchFilters, SearchResult
from harry_mcp.errors import DatabaseUnavailable, ProviderError, StorageError
from harry_mcp.loop.searching import SearchFlow
from harry_mcp.ports import Embedder, Vectors
from harry_mcp.settings import Settings
from harry_mcp.storage.database import Database
from harry_mcp.storage.queue import AskedQuestion
from harry_mcp.storage.unit_of_work import UnitOfWork

_NOTE = "Asked with the local ranker alone, for a preview asks no model; bands may differ where one re-ranks."


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """The answers that would change, of how many questions, and how many were left out."""

    answers: tuple[AnswerChange, ...] = ()
    asked: int = 0
    unasked: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Questions:
    chosen: list[AskedQuestion]
    more: int


class Rehearser:
    """Asks past questions of the knowledge base as it would be.

    ``search`` makes a search without models and without memories over a database: what one remembers of a revision that
    never comes must reach no other.
    """

    def __init__(
        self, settings: Settings, database: Database, embedder: Embedder, search: Callable[[Database], SearchFlow]
    ) -> None:
        self._settings = settings.review
        self._database = database
        self._embedder = embedder
        self._search = search

    async def rehearse(
        self,
        changes: Sequence[DocumentChange],
        act: Callable[[UnitOfWork], Awaitable[object]],
        *,
        rewritten: Vectors | None = None,
    ) -> Rehearsed:
        """Ask the questions that ``changes`` have to do with before and after ``act``, which is undone.

        Half of the time is for before, half for after, when writers wait; the first question is asked in any case.
        ``rewritten`` are the vectors of a new text. What cannot be tried (another writer is busy, the embedder is down)
        is told in the note; it stops nobody from acting.

        Raises:
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        affected = [each for each in changes if each.before.searchable or each.after.searchable]
        moved = [each for each in affected if rewritten is not None or each.before.searchable != each.after.searchable]
        if not moved or not self._settings.preview_questions:
            return Rehearsed()
        half = self._settings.preview_seconds / 2
        try:
            questions = await self._questions(moved, rewritten)
            before = await self._ask(self._database, questions.chosen, time.monotonic() + half)
            async with self._database.rehearsal() as stage:
                async with stage.transaction() as unit:
                    await act(unit)
                after = await self._ask(stage, questions.chosen[: len(before)], time.monotonic() + half)
        except DatabaseUnavailable:
            raise
        except (ProviderError, StorageError) as error:
            return Rehearsed(note=f"The past questions could not be asked: {error}")
        asked = questions.chosen[: len(after)]
        answers = [
            AnswerChange(question=question.question, asked=question.asked, before=old, after=new)
            for question, old, new in zip(asked, before, after, strict=False)
            if (old.document_id, old.band) != (new.document_id, new.band)
        ]
        left = questions.more + len(questions.chosen) - len(asked)
        return Rehearsed(tuple(answers), len(asked), left, _NOTE if asked else "No past question has to do with it.")

    async def _ask(self, database: Database, questions: Sequence[AskedQuestion], until: float) -> list[AnswerView]:
        flow = self._search(database)
        views: list[AnswerView] = []
        for question in questions:
            if views and time.monotonic() > until:
                break
            found = await flow.run(question.question, k=1, filters=SearchFilters(), history=())
            views.append(_view(found.result))
        return views

    async def _questions(self, changes: Sequence[DocumentChange], rewritten: Vectors | None) -> _Questions:
        """The questions that the documents are among the first passages of, and those that are near to a new text."""
        most = self._settings.preview_questions
        ids = [each.document_id for each in changes]
        async with self._database.reading() as unit:
            used = await unit.queue.asked(days=self._settings.use_days, limit=most, about=ids)
            recent = await self._recent(unit, changes, rewritten)
            vectors = await _vectors(unit, changes, rewritten) if recent else None
        near = await self._near(recent, vectors) if vectors is not None else []
        chosen = {question.query: question for question in [*used, *near]}
        more = (used[0].total - len(used) if used else 0) + max(0, len(chosen) - most)
        return _Questions(list(chosen.values())[:most], more)

    async def _recent(
        self, unit: UnitOfWork, changes: Sequence[DocumentChange], rewritten: Vectors | None
    ) -> list[AskedQuestion]:
        """Recent questions of which some may be answered by what comes in; none where things only go."""
        comes = rewritten is not None or any(not each.before.searchable for each in changes)
        if not comes or not self._settings.preview_recent:
            return []
        return await unit.queue.asked(days=self._settings.use_days, limit=self._settings.preview_recent)

    async def _near(self, recent: Sequence[AskedQuestion], vectors: Vectors) -> list[AskedQuestion]:
        """The questions near enough to any passage, the nearest first."""
        asked = await self._embedder.embed_queries([question.query for question in recent])
        nearness = np.max(asked @ vectors.T, axis=1)
        order = sorted(range(len(recent)), key=lambda place: -float(nearness[place]))
        return [recent[place] for place in order if nearness[place] >= self._settings.preview_floor]


async def _vectors(unit: UnitOfWork, changes: Sequence[DocumentChange], rewritten: Vectors | None) -> Vectors | None:
    if rewritten is not None:
        return rewritten
    rows = [
        vector
        for each in changes
        if each.after is not DocumentStatus.ARCHIVED
        for vector in (await unit.vectors.stored(each.document_id)).values()
    ]
    return np.array(rows, dtype=np.float32) if rows else None


def _view(result: SearchResult) -> AnswerView:
    first = result.hits[0].passage if result.hits else None
    return AnswerView(
        document_id=first.document_id if first else "",
        title=first.title if first else "",
        band=result.verdict.band.value,
        score=result.verdict.score,
    )
