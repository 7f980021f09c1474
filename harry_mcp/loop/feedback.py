"""What an opinion about an answer sets going.

Praise makes a candidate official answer. A complaint counts against the official answer that was served, flags the
documents that it blames, and is remembered as a warning for questions like this one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.counting import counted
from harry_mcp.domain.feedback import Complaint, Feedback, FeedbackOutcome, Opinion, Rating
from harry_mcp.domain.people import Principal
from harry_mcp.domain.plain import one_line
from harry_mcp.domain.verified import LONGEST_ANSWER, Match, VerifiedStatus, mismatches
from harry_mcp.errors import InputError, ProviderError, StorageError
from harry_mcp.loop.drafting import WebDrafts
from harry_mcp.loop.flagging import flag_blamed
from harry_mcp.loop.healing import OnDatabase, healed
from harry_mcp.loop.opinions import Told, heard
from harry_mcp.loop.questions import Questions
from harry_mcp.loop.rated import LONGEST_ID, Rated, named, rated, sources, unplaced
from harry_mcp.metering import count_feedback
from harry_mcp.settings import Settings
from harry_mcp.stages.curate.signals.feedback import saying, sayings
from harry_mcp.stages.curate.withdrawing import withdraw
from harry_mcp.stages.verify.cache import rules_of
from harry_mcp.storage.database import Database
from harry_mcp.storage.memories import MemoryKind, MemoryText
from harry_mcp.storage.texts import storable
from harry_mcp.storage.unit_of_work import UnitOfWork
from harry_mcp.storage.web import StoredWebSearch

_SHOWN = 80
_NO_ANSWER = "No answer was sent with it, so there is no candidate verified response."
_NOTHING_FOUND = (
    "That result found no answer, so there is no candidate verified response. If the answer came from elsewhere, send "
    "it again with its source_urls, or with the web_id of what brought it."
)
_STANDS = {
    VerifiedStatus.CANDIDATE: "The answer is a candidate verified response ({key}); it waits for approval.",
    VerifiedStatus.RETIRED: "The answer was a verified response ({key}) and is retired; it can be approved again.",
    VerifiedStatus.REJECTED: "A curator did not want this answer as a verified response ({key}); that stands.",
}


class FeedbackFlow(OnDatabase):
    """Takes opinions, one for each person and result."""

    def __init__(self, settings: Settings, database: Database, questions: Questions, drafts: WebDrafts) -> None:
        self._settings = settings
        super().__init__(database)
        self._questions = questions
        self._drafts = drafts

    @healed
    async def submit(self, opinion: Opinion, author: Principal) -> FeedbackOutcome:
        """Store an opinion and do what follows from it, all in one transaction.

        Raises:
            NotFoundError: there is no result of that id.
            InputError: a complaint without a reason.
            DatabaseUnavailable: PostgreSQL cannot be reached; nothing was stored.
        """
        if opinion.rating is Rating.DOWN and opinion.reason not in list(Complaint):
            raise InputError(
                f"A thumbs down needs a reason, one of {', '.join(Complaint)}. Nothing was stored; send it again."
            )
        async with self._database.reading() as unit:
            about = await rated(unit, storable(opinion.result_id.strip())[:LONGEST_ID])
        told = await heard(opinion, author, about, self._questions)
        outcome = FeedbackOutcome(feedback_id=told.feedback.id)
        async with self._database.transaction() as unit:
            takes_back = await unit.feedback.complains(told.feedback.id)
            if takes_back or (told.down and told.addresses):
                # Before any row, as all do that change a document's status.
                await unit.keywords.lock()
            outcome.replaced = await unit.feedback.put(told.feedback) is not None
            memory = MemoryText(told.feedback.id, told.feedback.question, active=told.down and told.warns)
            await _remember(unit, MemoryKind.FAILURE, memory, told.vector)
            await self._tell_entry(unit, told, about, outcome)
            if takes_back:
                await self._take_back(unit, told, author, outcome)
            if told.down:
                await self._flag(unit, told, outcome)
            else:
                await self._propose(unit, told, about, outcome)
            web = None if told.down else about
            outcome.effects += await unplaced(unit, told.addresses, told.feedback.source_urls, web)
        if about.web is not None and not told.down:
            await self._draft(about.web, told.feedback, outcome)
        if told.redacted:
            was = "was" if told.redacted == 1 else "were"
            outcome.effects.append(f"{counted(told.redacted, 'private detail')} {was} taken out before it was stored.")
        if not outcome.effects:
            outcome.effects.append("Noted.")
        count_feedback(opinion.rating)
        return outcome

    async def _draft(self, web: StoredWebSearch, feedback: Feedback, outcome: FeedbackOutcome) -> None:
        """Let the web pages of a praised answer wait as documents; the praise stands whatever becomes of them."""
        try:
            outcome.drafts += await self._drafts.draft(web, feedback.source_urls, actor=feedback.author)
        except (ProviderError, StorageError) as error:
            outcome.effects.append(f"The web pages could not be drafted as documents: {error}")
        if outcome.drafts:
            wait = "waits" if len(outcome.drafts) == 1 else "wait"
            outcome.effects.append(f"{counted(len(outcome.drafts), 'web page')} {wait} for review among the drafts.")

    async def _tell_entry(self, unit: UnitOfWork, told: Told, about: Rated, outcome: FeedbackOutcome) -> None:
        """Count a complaint against the official answer that was served, or take back one that was withdrawn."""
        if about.lookup is None:
            return
        entry = await unit.verified.complain(
            about.lookup, sorted(mismatches(about.lookup.cosine)), rules_of(self._settings.verify)
        )
        if entry is None:
            return
        counts = f"({counted(entry.negatives, 'complaint')}, {counted(entry.uses, 'use')})"
        if entry.status is VerifiedStatus.RETIRED:
            await unit.memories.set_active(MemoryKind.VERIFIED, [entry.id], active=False)
            outcome.effects.append(f"The verified response that was served is retired {counts}.")
        elif told.down:
            outcome.effects.append(f"Counted for the verified response that was served {counts}.")
        else:
            outcome.effects.append(f"Your complaint about the verified response is taken back {counts}.")

    async def _flag(self, unit: UnitOfWork, told: Told, outcome: FeedbackOutcome) -> None:
        """Flag the documents behind the addresses that a complaint names; one that it flagged before is not again."""
        feedback = told.feedback
        blamed = await flag_blamed(
            unit,
            told.addresses,
            told_by=saying("feedback", feedback.id, feedback.author),
            actor=feedback.author,
            detail={"feedback_id": feedback.id, "reason": feedback.reason, "comment": feedback.comment},
        )
        outcome.flagged += [document.id for document, _ in blamed]
        outcome.effects += [f"“{one_line(document.title, _SHOWN)}” {done}." for document, done in blamed if done]

    async def _take_back(self, unit: UnitOfWork, told: Told, by: Principal, outcome: FeedbackOutcome) -> None:
        """Take back what the verdict before said against documents that this one does not blame."""
        feedback = told.feedback
        blamed = await named(unit, told.addresses) if told.down else {}
        done = await withdraw(
            unit, sayings("feedback", feedback.id), by, detail={"feedback_id": feedback.id}, but=blamed
        )
        for each in done:
            rest = "and it is flagged no more" if each.live else "and nothing else changes"
            outcome.effects.append(f"Your complaint about “{one_line(each.title, _SHOWN)}” is taken back, {rest}.")

    async def _propose(self, unit: UnitOfWork, told: Told, about: Rated, outcome: FeedbackOutcome) -> None:
        """Make a praised answer a candidate official answer, unless it was one already or the result was none."""
        if about.lookup is not None and about.lookup.match == Match.EXACT:
            return
        rests_on = await sources(unit, told.addresses, about)
        if not about.answered and not rests_on:
            outcome.effects.append(_NOTHING_FOUND)
            return
        if not told.feedback.answer:
            outcome.effects.append(_NO_ANSWER)
            return
        if not told.whole:
            outcome.effects.append(
                f"An official answer has at most {LONGEST_ANSWER:,} characters; this one is longer and no candidate."
            )
            return
        feedback = told.feedback
        key = await unit.verified.submit(
            feedback.question,
            feedback.answer,
            rests_on,
            origin="feedback",
            result_id=feedback.result_id,
            by=feedback.author,
        )
        outcome.candidate_id = key
        # As it is now and until the end: a curator may decide about it this very moment.
        entry = await unit.verified.lock(key)
        memory = MemoryText(key, feedback.question, active=entry.status is VerifiedStatus.ACTIVE)
        await _remember(unit, MemoryKind.VERIFIED, memory, told.vector)
        if entry.status in _STANDS:
            outcome.effects.append(_STANDS[entry.status].format(key=key))


async def _remember(
    unit: UnitOfWork, kind: MemoryKind, memory: MemoryText, vector: npt.NDArray[np.float32] | None
) -> None:
    if vector is None:
        await unit.memories.set_active(kind, [memory.owner_id], active=memory.active)
    else:
        await unit.memories.put(kind, [memory], [vector])
