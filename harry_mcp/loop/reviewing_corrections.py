"""What a curator does with corrections: look at what they touch, approve, deprecate, let wait again, or promote."""

from __future__ import annotations

from dataclasses import replace

from harry_mcp.domain.corrections import (
    Correction,
    CorrectionAction,
    CorrectionStatus,
    LessonPreview,
    TouchedAnswer,
)
from harry_mcp.domain.people import Principal, Role
from harry_mcp.domain.plain import one_line
from harry_mcp.domain.rot import RotSignal
from harry_mcp.errors import InputError
from harry_mcp.loop.flagging import flag_source
from harry_mcp.loop.healing import OnDatabase, healed
from harry_mcp.loop.promoting import Promoter
from harry_mcp.loop.rated import named
from harry_mcp.loop.rehearsing_lessons import LessonRehearser
from harry_mcp.stages.correct.redaction import redact
from harry_mcp.stages.curate.signals.feedback import sayings
from harry_mcp.stages.curate.withdrawing import withdraw
from harry_mcp.storage.corrections import Learnt
from harry_mcp.storage.database import Database
from harry_mcp.storage.memories import MemoryKind
from harry_mcp.storage.texts import as_id, storable

_LONGEST_REASON = 500
_DRAFTED = "A draft changes no answer while it waits; review_documents with preview shows what approving it would."
_BECOMES = {
    CorrectionAction.APPROVE: CorrectionStatus.ACTIVE,
    CorrectionAction.DEPRECATE: CorrectionStatus.DEPRECATED,
    CorrectionAction.REOPEN: CorrectionStatus.PENDING,
}


class CorrectionReviewFlow(OnDatabase):
    """Corrections as curators see them, and what they decide about them."""

    def __init__(self, database: Database, *, promoter: Promoter, rehearser: LessonRehearser) -> None:
        super().__init__(database)
        self._promoter = promoter
        self._rehearser = rehearser

    @healed
    async def get(self, correction_id: str) -> Correction:
        """A correction.

        Raises:
            NotFoundError: there is none of that id.
        """
        async with self._database.reading() as unit:
            return await unit.corrections.get(as_id(correction_id))

    @healed
    async def learning(self, *, limit: int = 100) -> list[Learnt]:
        """For each correction how often it was served since, and how often the same complaint came back."""
        async with self._database.reading() as unit:
            return await unit.corrections.learning(limit)

    @healed
    async def list(self, status: str, *, topic: str = "", limit: int, offset: int = 0) -> list[Correction]:
        """Corrections, the last changed first; '' stands for every status and every topic."""
        async with self._database.reading() as unit:
            return await unit.corrections.list(status, topic=storable(topic), limit=limit, offset=offset)

    @healed
    async def standing(self, *, topic: str = "") -> dict[str, int]:
        """How many corrections of a topic stand in each status that any has; '' stands for every topic."""
        async with self._database.reading() as unit:
            return await unit.corrections.standing(topic=storable(topic))

    @healed
    async def touched(self, correction_id: str, *, limit: int = 20) -> tuple[int, list[TouchedAnswer]]:
        """How many answers a correction went into, and the last of them.

        Raises:
            NotFoundError: there is no such correction.
        """
        async with self._database.reading() as unit:
            correction = await unit.corrections.get(as_id(correction_id))
            answers = await unit.corrections.touched_count(correction.id)
            return answers, await unit.corrections.touched(correction.id, limit=limit)

    @healed
    async def preview(self, correction_id: str, action: CorrectionAction) -> LessonPreview:
        """What a decision would do: which past questions it would go into or leave. Nothing is done.

        Raises:
            NotFoundError: there is no such correction.
            InputError: it stands so already.
        """
        correction = await self.get(correction_id)
        if action is CorrectionAction.PROMOTE:
            return LessonPreview(note=_DRAFTED)
        status = _becomes(action, correction)
        found = await self._rehearser.rehearse(correction, status)
        if not correction.source_url:
            return found
        async with self._database.reading() as unit:
            if status is CorrectionStatus.ACTIVE:
                blamed = await named(unit, [correction.source_url])
                return replace(
                    found, effects=tuple(f"It flags “{each.title}” ({each.id})." for each in blamed.values())
                )
            standing = await unit.curation.told_by(RotSignal.NEGATIVE_FEEDBACK, sayings("correction", correction.id))
            ids = dict.fromkeys(each.document_id for each in standing)
            told = [each for key in ids if (each := await unit.documents.get(key))]
        return replace(
            found, effects=tuple(f"It takes back what was said against “{each.title}” ({each.id})." for each in told)
        )

    @healed
    async def review(
        self, correction_id: str, action: CorrectionAction, by: Principal, *, reason: str = ""
    ) -> Correction:
        """Approve a correction, deprecate it, let it wait again, or make it a draft document. It counts from the next
        request on.

        Raises:
            NotFoundError: there is no such correction.
            InputError: the caller may not do it, or it stands so already.
            StorageError, ProviderError: the draft could not be stored.
        """
        if not by.may(Role.CURATOR):
            raise InputError(f"This takes the role curator; you are {by.role.name.lower()}.")
        correction = await self.get(correction_id)
        if action is CorrectionAction.PROMOTE:
            await self._promoter.promote(correction, actor=by.name, by=by)
        else:
            await self._decide(correction.id, action, by, redact(one_line(reason, _LONGEST_REASON)).text)
        return await self.get(correction.id)

    async def _decide(self, key: str, action: CorrectionAction, by: Principal, reason: str) -> None:
        active = action is CorrectionAction.APPROVE
        async with self._database.transaction() as unit:
            # Before any row, as all do that change a document's status.
            await unit.keywords.lock()
            await unit.corrections.queue()
            correction = await unit.corrections.get(key)
            status = _becomes(action, correction)
            if active:
                await flag_source(unit, correction, correction.source_url, actor=correction.author)
            else:
                await withdraw(unit, sayings("correction", key), by, detail={"correction_id": key})
            decided_by = "" if action is CorrectionAction.REOPEN else by.name
            await unit.corrections.decide(key, status, reason=reason, by=decided_by)
            await unit.memories.set_active(MemoryKind.CORRECTION, [key], active=active)
            await unit.audit.add(
                by,
                action.value,
                kind="correction",
                target_id=key,
                target=correction.lesson,
                reason=reason,
                detail={"before": correction.status.value, "after": status.value},
            )


def _becomes(action: CorrectionAction, correction: Correction) -> CorrectionStatus:
    status = _BECOMES[action]
    if correction.status is status:
        raise InputError(f"{correction.id} is {status.value} already.")
    return status
