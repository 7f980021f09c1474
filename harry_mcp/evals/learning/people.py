"""What people say of a reply, sent to the loop as their agents would send it.

Only they know which page is right. A person who corrects writes what he was told, a sentence or two of the right page,
and its title with the first of them as the line to remember; nothing is copied from his question. His correction
names the result that it was made on. The right page may be one that the knowledge base does not hold. Among those who
speak up a few are mistaken: they praise a wrong answer, complain of a right one, or correct it by the page of the
second hit.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from harry_mcp.app import App
from harry_mcp.domain.corrections import Lesson
from harry_mcp.domain.feedback import Complaint, Opinion, Rating
from harry_mcp.domain.people import Principal, Role
from harry_mcp.domain.search import SearchResult
from harry_mcp.errors import InputError
from harry_mcp.evals.learning.judging import By, Ledger, Reply
from harry_mcp.evals.learning.library import Library, Page
from harry_mcp.evals.learning.schedule import Asking, Habits

_LONGEST_ANSWER = 600
_LONGEST_LINE = 250
_LONGEST_TOLD = 150


class Says(StrEnum):
    """What somebody does about a reply."""

    NOTHING = "nothing"
    PRAISE = "praise"
    COMPLAINT = "complaint"
    CORRECTION = "correction"


def says(asking: Asking, reply: Reply, *, known: bool, habits: Habits) -> Says:
    """What the asker does about a reply; ``known``: there is a page that answers him."""
    slips = asking.slip < habits.slips
    if reply.right != slips:
        praises = asking.voice < habits.praises and reply.by is not By.NOTHING
        return Says.PRAISE if praises else Says.NOTHING
    if asking.voice < habits.corrects and known:
        return Says.CORRECTION
    return Says.COMPLAINT if asking.voice < habits.corrects + habits.complains else Says.NOTHING


@dataclass(slots=True)
class People:
    """Everybody who asks. The first ``trusted`` of them are believed at once; of others a first correction waits."""

    app: App
    library: Library
    ledger: Ledger
    habits: Habits
    did: Counter[str]

    async def say(self, what: Says, asking: Asking, reply: Reply, result: SearchResult) -> None:
        """Say it.

        Raises:
            HarryError: the loop failed.
        """
        person = _principal(asking.person, self.habits)
        if what is Says.PRAISE:
            await self._praise(asking, reply, result, person)
        elif what is not Says.NOTHING:
            await self._complain(asking, result, person)
        if what is Says.CORRECTION:
            await self._correct(asking, reply, result, person)
        self.did[what.value] += 1

    async def _praise(self, asking: Asking, reply: Reply, result: SearchResult, person: Principal) -> None:
        answer, sources = self._answered(reply, result)
        opinion = Opinion(
            result_id=result.search_id, rating=Rating.UP, answer=answer[:_LONGEST_ANSWER], source_urls=sources
        )
        outcome = await self.app.loop.submit_feedback(opinion, person)
        if outcome.candidate_id:
            self.ledger.official.setdefault(outcome.candidate_id, reply.page)
            self.ledger.about.setdefault(outcome.candidate_id, asking.question.id)

    def _answered(self, reply: Reply, result: SearchResult) -> tuple[str, tuple[str, ...]]:
        """What the agent answered, and the addresses that it cited: a quotation of what it answered from."""
        if reply.by is By.OFFICIAL and result.verified.response is not None:
            return result.verified.response.answer, ()
        if reply.by is By.CORRECTION:
            own = (each for each in result.corrections if self.ledger.corrections.get(each.correction.id) == reply.page)
            return next(own).correction.truth, ()
        passage = result.hits[0].passage
        return result.hits[0].text, (passage.url or passage.source,)

    async def _complain(self, asking: Asking, result: SearchResult, person: Principal) -> None:
        blamed = result.hits[:1] if asking.blame < self.habits.blames else ()
        opinion = Opinion(
            result_id=result.search_id,
            rating=Rating.DOWN,
            reason=Complaint.WRONG if result.hits else Complaint.INCOMPLETE,
            source_urls=tuple(hit.passage.url or hit.passage.source for hit in blamed),
        )
        await self.app.loop.submit_feedback(opinion, person)

    async def _correct(self, asking: Asking, reply: Reply, result: SearchResult, person: Principal) -> None:
        page = self._believed(asking, reply, result)
        if page is None:
            return
        quoted = page.quote(asking.question.answer or asking.question.text)
        lines = (f"{page.title}: {quoted}"[:_LONGEST_LINE].rsplit(" ", 1)[0], f"See “{page.title}”.")
        for line in lines:
            lesson = Lesson(wrong=_told(reply, result), truth=quoted, line=line)
            try:
                stored = await self.app.loop.submit_correction(lesson, person, result_id=result.search_id)
            except InputError:
                # It says how to put it; the shorter line is what most would do.
                self.did["refused"] += 1
                continue
            for each in stored:
                key = each.correction.id
                self.ledger.corrections.setdefault(key, page.id)
                self.ledger.about.setdefault(key, asking.question.id)
                if each.draft_id:
                    self.ledger.documents[each.draft_id] = self.ledger.corrections[key]
                    self.ledger.about.setdefault(each.draft_id, self.ledger.about[key])
            return

    def _believed(self, asking: Asking, reply: Reply, result: SearchResult) -> Page | None:
        """The page that somebody takes for the right one: of several that are, the first of the set."""
        if not reply.right:
            return self.library.pages[min(self.library.gold(asking.question))]
        others = (self.ledger.documents.get(hit.passage.document_id, "") for hit in result.hits)
        wrong = [key for key in others if key and key not in self.library.gold(asking.question)]
        return self.library.pages[wrong[0]] if wrong else None


def _told(reply: Reply, result: SearchResult) -> str:
    if reply.by is By.OFFICIAL and result.verified.response is not None:
        return f"It said: {result.verified.response.answer[:_LONGEST_TOLD]}"
    if reply.by is By.NOTHING or not result.hits:
        return "It said that it does not know."
    return f"It answered from “{result.hits[0].passage.title[:_LONGEST_TOLD]}”."


def _principal(number: int, habits: Habits) -> Principal:
    trusted = number < habits.people * habits.trusted
    return Principal(subject=f"person{number}", via="http", role=Role.CONTRIBUTOR, trusted=trusted)
