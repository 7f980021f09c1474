"""A curator who works the queues with a bounded number of decisions a week.

He takes in turn one of the corrections that wait, of the praised answers that want to become official, of the gaps
(the most asked first), and of the documents that are drafts or flagged, and is done when his decisions are used up.
Looking at a gap that he can do nothing about is a decision too. He reads the page before he decides, so he is right
but for the share that he misjudges; he has no say about what nobody put before him.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

from harry_mcp.app import App
from harry_mcp.domain.corrections import CorrectionAction, CorrectionStatus
from harry_mcp.domain.curation import QueueItem, QueueTab, ReviewAction
from harry_mcp.domain.documents import DocumentStatus
from harry_mcp.domain.people import Principal, Role
from harry_mcp.domain.rot import RotSignal
from harry_mcp.domain.verified import VerifiedAction, VerifiedStatus
from harry_mcp.errors import EvalError
from harry_mcp.evals.golden import Question
from harry_mcp.evals.learning.judging import Ledger
from harry_mcp.evals.learning.library import Library
from harry_mcp.evals.learning.schedule import Habits

_CURATOR = Principal(subject="curator", via="cli", role=Role.CURATOR, trusted=True)
_Decision = Callable[[], Awaitable[str]]
# The queues are read anew each week, and no week works off more than this of one.
_READ = 500


@dataclass(slots=True)
class Curator:
    """Decides. ``seen`` are the gaps that he looked at."""

    app: App
    library: Library
    ledger: Ledger
    habits: Habits
    dice: random.Random
    did: Counter[str]
    seen: set[str] = field(default_factory=set[str])

    async def week(self) -> None:
        """Work the queues, then let the jobs do the rest: complaints whose page came in later, corrections that their
        page says now, vectors that are missing.

        Raises:
            HarryError: the loop failed.
        """
        left = self.habits.decisions
        queues = deque([deque(await read()) for read in self._queues])
        while left and any(queues):
            queue = queues.popleft()
            queues.append(queue)
            if queue:
                self.did[await queue.popleft()()] += 1
                left -= 1
        await self.app.loop.rot.run([RotSignal.NEGATIVE_FEEDBACK], actor="job:rot_feedback")
        aged = await self.app.ageing.age_corrections()
        self.did["corrections given up by their job"] += len(aged)
        await self.app.embed_missing()

    @property
    def _queues(self) -> tuple[Callable[[], Awaitable[list[_Decision]]], ...]:
        return self._corrections, self._candidates, self._gaps, self._documents

    async def _corrections(self) -> list[_Decision]:
        waiting = await self.app.loop.corrections.list(CorrectionStatus.PENDING, limit=_READ)
        oldest_first = sorted(waiting, key=lambda each: (each.created_at, each.id))
        return [partial(self._decide_correction, each.id) for each in oldest_first]

    async def _decide_correction(self, key: str) -> str:
        approves = self._approves(self.ledger.corrections.get(key, ""), key)
        action = CorrectionAction.APPROVE if approves else CorrectionAction.DEPRECATE
        await self.app.loop.corrections.review(key, action, _CURATOR)
        return "corrections approved" if approves else "corrections refused"

    async def _candidates(self) -> list[_Decision]:
        waiting = await self.app.loop.verified.list(VerifiedStatus.CANDIDATE, limit=_READ)
        oldest_first = sorted(waiting, key=lambda each: (each.created_at, each.id))
        return [partial(self._decide_candidate, each.id) for each in oldest_first]

    async def _decide_candidate(self, key: str) -> str:
        approves = self._approves(self.ledger.official.get(key, ""), key)
        await self.app.loop.verified.review(
            key, VerifiedAction.APPROVE if approves else VerifiedAction.REJECT, _CURATOR
        )
        return "official answers approved" if approves else "official answers refused"

    async def _gaps(self) -> list[_Decision]:
        await self.app.loop.recorded()
        gaps = await self.app.loop.review.gaps(limit=_READ)
        return [partial(self._close, each.id) for each in gaps if each.id not in self.seen]

    async def _close(self, gap: str) -> str:
        """Bring in the page that a gap is about, where it is one that is held out."""
        self.seen.add(gap)
        question = self._question(gap)
        missing = sorted(self.library.gold(question) & self.library.held) if question else []
        if not missing:
            return "gaps set aside"
        self.library.held -= set(missing)
        await bring(self.app, self.library, self.ledger, missing)
        return "pages brought in"

    async def _documents(self) -> list[_Decision]:
        found: list[QueueItem] = []
        for tab in (QueueTab.PENDING, QueueTab.FLAGGED):
            page = await self.app.loop.review.queue(tab, limit=_READ)
            found += [each for each in page.items if not (each.signals and each.signals[0].settled)]
        return [partial(self._decide_document, each) for each in found]

    async def _decide_document(self, item: QueueItem) -> str:
        """A draft is approved when it is about what it was asked for; a page of the corpus is sound, and says so."""
        draft = item.status is DocumentStatus.PENDING
        sound = self._approves(self.ledger.documents.get(item.document_id, ""), item.document_id) if draft else True
        action = ReviewAction.APPROVE if sound else ReviewAction.REJECT
        await self.app.loop.review.act(action, [item.document_id], _CURATOR)
        return ("drafts approved" if sound else "drafts refused") if draft else "flagged pages found sound"

    def _approves(self, page: str, key: str) -> bool:
        question = self._question(key)
        fits = question is not None and page in self.library.gold(question)
        return fits != (self.dice.random() < self.habits.misjudges)

    def _question(self, key: str) -> Question | None:
        about = self.ledger.about.get(key, "")
        return self.library.by_id.get(about)


async def bring(app: App, library: Library, ledger: Ledger, pages: list[str]) -> None:
    """Ingest pages as an admin does: live at once.

    Raises:
        EvalError: one cannot be stored.
    """
    items = library.documents(pages)
    outcome = await app.ingester.ingest(items)
    if outcome.failed:
        raise EvalError(f"{len(outcome.failed)} documents could not be stored: {outcome.failed}.")
    ledger.documents |= library.stored_as(items)
