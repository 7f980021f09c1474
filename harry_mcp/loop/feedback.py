"""What an opinion about an answer sets going.

Praise makes a candidate official answer. A complaint counts against the official answer that was served, flags the
documents that it blames, and is remembered as a warning for questions like this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.feedback import Complaint, Feedback, FeedbackOutcome, Opinion, Rating
from harry_mcp.domain.people import Principal
from harry_mcp.domain.verified import Match, VerifiedSource, VerifiedStatus, is_mismatch
from harry_mcp.errors import InputError, NotFoundError, ProviderError, SourceError, StorageError
from harry_mcp.ingest.addresses import spellings
from harry_mcp.loop.drafting import WebDrafts
from harry_mcp.loop.questions import Questions
from harry_mcp.settings import Settings
from harry_mcp.stages.curate.flag import RotSignal, flag_rot
from harry_mcp.stages.verify.cache import rules_of
from harry_mcp.storage.database import Database
from harry_mcp.storage.memories import MemoryKind, MemoryText
from harry_mcp.storage.unit_of_work import UnitOfWork
from harry_mcp.storage.verified import Lookup
from harry_mcp.storage.web import StoredWebSearch


@dataclass(frozen=True, slots=True)
class _Rated:
    """The result that an opinion is about. ``documents`` are those that it brought, best first."""

    question: str
    documents: tuple[str, ...] = ()
    lookup: Lookup | None = None
    web: StoredWebSearch | None = None


class FeedbackFlow:
    """Takes opinions, one for each person and result."""

    def __init__(self, settings: Settings, database: Database, questions: Questions, drafts: WebDrafts) -> None:
        self._settings = settings
        self._database = database
        self._questions = questions
        self._drafts = drafts

    async def submit(self, opinion: Opinion, author: Principal) -> FeedbackOutcome:
        """Store an opinion and do what follows from it, all in one transaction.

        Raises:
            NotFoundError: there is no result of that id.
            InputError: a complaint without a reason.
            ProviderError: the question could not be embedded; nothing was stored.
            DatabaseUnavailable: PostgreSQL cannot be reached; nothing was stored.
        """
        if opinion.rating is Rating.DOWN and opinion.reason not in list(Complaint):
            raise InputError(
                f"A thumbs down needs a reason, one of {', '.join(Complaint)}. Nothing was stored; send it again."
            )
        async with self._database.reading() as unit:
            rated = await _rated(unit, opinion.result_id)
        vector = (await self._questions.vectors([rated.question]))[0]
        feedback = Feedback(
            result_id=opinion.result_id,
            author=author.name,
            rating=opinion.rating,
            reason=opinion.reason if opinion.rating is Rating.DOWN else "",
            question=self._questions.bare(rated.question),
            answer=opinion.answer,
            comment=opinion.comment,
            source_urls=opinion.source_urls,
            verified_id=(rated.lookup.verified_id or "") if rated.lookup else "",
        )
        outcome = FeedbackOutcome(feedback_id=feedback.id)
        down = feedback.rating is Rating.DOWN
        async with self._database.transaction() as unit:
            outcome.replaced = await unit.feedback.put(feedback) is not None
            memory = MemoryText(feedback.id, feedback.question, active=down)
            await unit.memories.put(MemoryKind.FAILURE, [memory], [vector])
            await self._tell_entry(unit, feedback, rated, outcome)
            if down:
                await self._flag(unit, feedback, outcome)
            elif feedback.answer:
                await self._propose(unit, feedback, rated, vector, outcome)
        if rated.web is not None and not down:
            await self._draft(rated.web, feedback, outcome)
        if not outcome.effects:
            outcome.effects.append("Noted.")
        return outcome

    async def _draft(self, web: StoredWebSearch, feedback: Feedback, outcome: FeedbackOutcome) -> None:
        """Let the web pages of a praised answer wait as documents; the praise stands whatever becomes of them."""
        try:
            outcome.drafts += await self._drafts.draft(web, feedback.source_urls, actor=feedback.author)
        except (ProviderError, StorageError) as error:
            outcome.effects.append(f"The web pages could not be drafted as documents: {error}")
        if outcome.drafts:
            outcome.effects.append(f"{len(outcome.drafts)} web pages wait for review as documents.")

    async def _tell_entry(self, unit: UnitOfWork, feedback: Feedback, rated: _Rated, outcome: FeedbackOutcome) -> None:
        """Count a complaint against the official answer that was served, or take back one that was withdrawn."""
        if rated.lookup is None:
            return
        entry = await unit.verified.complain(
            rated.lookup,
            wrong=feedback.rating is Rating.DOWN,
            mismatch=feedback.rating is Rating.DOWN and is_mismatch(feedback.reason, rated.lookup.cosine),
            rules=rules_of(self._settings.verify),
        )
        if entry is None:
            return
        if entry.status is VerifiedStatus.RETIRED:
            await unit.memories.set_active(MemoryKind.VERIFIED, [entry.id], active=False)
            outcome.effects.append("The verified response that was served is retired: too many complaints.")
        else:
            outcome.effects.append(
                f"Counted for the verified response that was served ({entry.negatives} complaints, {entry.uses} uses)."
            )

    async def _flag(self, unit: UnitOfWork, feedback: Feedback, outcome: FeedbackOutcome) -> None:
        """Flag the documents behind the addresses that a complaint names."""
        for url in feedback.source_urls:
            for document in await unit.curation.by_address(_spellings(url)):
                flagged = await flag_rot(
                    unit,
                    document.id,
                    RotSignal.NEGATIVE_FEEDBACK,
                    actor=feedback.author,
                    detail={"feedback_id": feedback.id, "reason": feedback.reason, "comment": feedback.comment},
                )
                outcome.flagged.append(document.id)
                done = "is flagged for review" if flagged else "was noted for review once more"
                outcome.effects.append(f"“{document.title}” {done}.")

    async def _propose(
        self,
        unit: UnitOfWork,
        feedback: Feedback,
        rated: _Rated,
        vector: npt.NDArray[np.float32],
        outcome: FeedbackOutcome,
    ) -> None:
        """Make a praised answer a candidate official answer, unless it was one already."""
        if rated.lookup is not None and rated.lookup.match == Match.EXACT:
            return
        sources = await _sources(unit, feedback.source_urls, rated)
        key = await unit.verified.submit(
            feedback.question,
            feedback.answer,
            sources,
            origin="feedback",
            result_id=feedback.result_id,
            by=feedback.author,
        )
        outcome.candidate_id = key
        entry = await unit.verified.get(key)
        active = entry is not None and entry.status is VerifiedStatus.ACTIVE
        await unit.memories.put(MemoryKind.VERIFIED, [MemoryText(key, feedback.question, active=active)], [vector])
        if not active:
            outcome.effects.append(f"The answer is a candidate verified response ({key}); it waits for approval.")


async def _rated(unit: UnitOfWork, result_id: str) -> _Rated:
    """The result of an id, wherever it came from."""
    lookup = await unit.verified.lookup(result_id)
    search = await unit.searches.get(lookup.search_id if lookup and lookup.search_id else result_id)
    if search is not None:
        documents = tuple(dict.fromkeys(str(item["document_id"]) for item in search.ranking))
        return _Rated(search.question, documents, lookup)
    if lookup is not None:
        return _Rated(lookup.question, (), lookup)
    web = await unit.web.get(result_id)
    if web is not None:
        return _Rated(web.question, web=web)
    raise NotFoundError(
        f"There is no result {result_id[:60]!r}. Pass the search_id, lookup_id or web_id of an answer that a tool gave."
    )


async def _sources(unit: UnitOfWork, urls: Sequence[str], rated: _Rated) -> list[VerifiedSource]:
    """What a praised answer rests on: the documents and web pages behind its addresses, else the best that was found.

    An address that is neither in the knowledge base nor was returned by the web search is left out: it was made up.
    """
    titles = {str(page["url"]): str(page["title"]) for page in rated.web.results} if rated.web else {}
    sources: dict[str, VerifiedSource] = {}
    for url in urls or titles:
        for document in await unit.curation.by_address(_spellings(url)):
            sources[document.id] = VerifiedSource(title=document.title, url=url, document_id=document.id)
        if url in titles:
            sources[url] = VerifiedSource(title=titles[url] or url, url=url)
    if not sources and rated.documents:
        document = await unit.documents.get(rated.documents[0])
        if document is not None:
            sources[document.id] = VerifiedSource(
                title=document.title, url=document.url, source=document.source, document_id=document.id
            )
    return list(sources.values())


def _spellings(url: str) -> list[str]:
    """The ways in which an address may be stored; a source that is no web address stands for itself."""
    try:
        return spellings(url)
    except SourceError:
        return [url]
