"""The loop: the only package that knows the order of the stages and what flows between them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from harry_mcp.domain.checks import ClaimCheck
from harry_mcp.domain.corrections import Lesson
from harry_mcp.domain.feedback import FeedbackOutcome, Opinion
from harry_mcp.domain.people import Principal
from harry_mcp.domain.search import SearchFilters, SearchResult
from harry_mcp.domain.web import WebAnswer
from harry_mcp.errors import DatabaseUnavailable, InputError
from harry_mcp.loop.claiming import ClaimFlow
from harry_mcp.loop.correcting import CorrectionFlow, Submitted
from harry_mcp.loop.courteous import no_question
from harry_mcp.loop.digesting import DigestFlow
from harry_mcp.loop.explaining import ExplainFlow, Explanation
from harry_mcp.loop.feedback import FeedbackFlow
from harry_mcp.loop.reading import DocumentPage, read_page
from harry_mcp.loop.recalling import RecallFlow
from harry_mcp.loop.recording import Recorder
from harry_mcp.loop.reviewing import ReviewFlow
from harry_mcp.loop.reviewing_corrections import CorrectionReviewFlow
from harry_mcp.loop.reviewing_verified import VerifiedReviewFlow
from harry_mcp.loop.rot import RotFlow
from harry_mcp.loop.searching import Searched, SearchFlow
from harry_mcp.loop.web import WebFlow
from harry_mcp.settings import Settings
from harry_mcp.stages.retrieve.query import clean
from harry_mcp.storage.database import Database
from harry_mcp.storage.texts import storable

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flows:
    """What the loop is made of: one flow for each thing that it does across the stages."""

    search: SearchFlow
    recall: RecallFlow
    feedback: FeedbackFlow
    web: WebFlow
    verified: VerifiedReviewFlow
    correcting: CorrectionFlow
    corrections: CorrectionReviewFlow
    review: ReviewFlow
    rot: RotFlow
    digest: DigestFlow
    explain: ExplainFlow
    claims: ClaimFlow


class HarryLoop:
    """Retrieve, rank, verify, record, and learn from what is said of the answers."""

    def __init__(self, settings: Settings, database: Database, flows: Flows) -> None:
        self._settings = settings
        self._database = database
        self._flows = flows
        self._recorder = Recorder(database)
        self.verified = flows.verified
        self.corrections = flows.corrections
        self.review = flows.review
        self.rot = flows.rot
        self.digest = flows.digest

    async def search(
        self,
        question: str,
        *,
        k: int = 0,
        filters: SearchFilters | None = None,
        history: Sequence[str] = (),
        record: bool = True,
    ) -> SearchResult:
        """Answer a question with passages and a verdict, and have the search written down.

        ``k`` 0 takes the setting. ``history`` holds earlier turns, oldest first, for a question that follows up on
        them. A weak result opens a gap, or counts it once more. Thanks and greetings are not searched for.

        Raises:
            InputError: the question has no letter or digit, or is longer than the setting allows.
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        filters = _storable(filters or SearchFilters())
        if (nothing := no_question(question, answered=bool(history))) is not None:
            return nothing
        self._check(question)

        async def run() -> SearchResult:
            recall = partial(self._flows.recall.nearby, topic=filters.topic) if record else None
            searched = await self._flows.search.run(question, k=k, filters=filters, history=history, recall=recall)
            return await self._served(searched) if record else searched.result

        result = await self._healing(run)
        if record:
            await self._recorder.record_soon(result, filters)
        return result

    async def lookup(self, question: str) -> SearchResult:
        """The official answer to a question, with the search that speaks for it or against it; no gap is opened.

        Raises:
            InputError: the question has no letter or digit, or is longer than the setting allows.
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        self._check(question)

        async def run() -> SearchResult:
            searched = await self._flows.search.run(
                question, k=0, filters=SearchFilters(), history=(), recall=self._flows.recall.nearby
            )
            return await self._served(searched, recorded=False)

        return await self._healing(run)

    async def web(self, question: str, *, search_id: str = "", topic: str = "") -> WebAnswer:
        """What :meth:`WebFlow.run` does; the search that missed is written down first.

        Raises:
            InputError: the question has no letter or digit, or is longer than the setting allows.
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        self._check(question)
        await self._recorder.flush()
        return await self._healing(lambda: self._flows.web.run(question, search_id=search_id, topic=topic))

    async def check_claim(self, claim: str) -> ClaimCheck:
        """What :meth:`ClaimFlow.check` does; its search is written down, so that the check can be rated."""
        check = await self._healing(lambda: self._flows.claims.check(claim))
        await self._recorder.record_soon(check.search, SearchFilters())
        return check

    async def submit_feedback(self, opinion: Opinion, author: Principal) -> FeedbackOutcome:
        """What :meth:`FeedbackFlow.submit` does; the search that it is about is written down first."""
        await self._recorder.flush()
        return await self._flows.feedback.submit(opinion, author)

    async def submit_correction(self, lesson: Lesson, author: Principal, *, result_id: str = "") -> list[Submitted]:
        """What :meth:`CorrectionFlow.submit` does; the search that it is about is written down first."""
        await self._recorder.flush()
        return await self._flows.correcting.submit(lesson, author, result_id=result_id)

    async def _healing(self, act: Callable[[], Awaitable[T]]) -> T:
        """The outcome of an act, tried once more where the connections are those of a PostgreSQL that came back."""
        try:
            return await act()
        except DatabaseUnavailable:
            await self._database.heal()
            return await act()

    async def _served(self, searched: Searched, *, recorded: bool = True) -> SearchResult:
        """The result with what is remembered of its question; an official answer takes the place of a gap."""
        result = searched.result
        remembered = await self._flows.recall.serve(
            result.question,
            searched.nearby,
            searched.found,
            search_id=result.search_id if recorded else "",
        )
        return self._flows.recall.with_memories(result, remembered)

    async def explain(self, search_id: str, *, most: int = 20) -> Explanation:
        """What :meth:`ExplainFlow.explain` does; the search that it is about is written down first."""
        await self._recorder.flush()
        return await self._flows.explain.explain(search_id, most=most)

    async def recorded(self) -> None:
        """Wait until the searches that were answered so far are written down."""
        await self._recorder.flush()

    async def settled(self) -> None:
        """Wait until every search that was answered is written down."""
        await self._recorder.settled()

    async def read(self, key: str, *, offset: int, limit: int) -> DocumentPage:
        """A page of the document that an id, a chunk id, a URL or a source names.

        Raises:
            NotFoundError: there is none that readers may see.
            InputError: the offset lies behind the end.
        """
        return await read_page(self._database, clean(key), offset=offset, limit=limit)

    def _check(self, question: str) -> None:
        most = self._settings.reply.question_characters
        if len(question) > most:
            raise InputError(
                f"The question has {len(question):,} characters; send at most {most:,}. Ask the question alone and "
                "leave long material out."
            )
        if not any(character.isalnum() for character in clean(question)):
            raise InputError("The query holds no word. Send the user's question as text.")


def _storable(filters: SearchFilters) -> SearchFilters:
    """The filters in characters that PostgreSQL takes. One with others matches nothing, and still narrows."""
    return replace(
        filters,
        topic=storable(filters.topic),
        source=storable(filters.source),
        language=storable(filters.language),
    )


__all__ = ["DocumentPage", "Flows", "HarryLoop"]
