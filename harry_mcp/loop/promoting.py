"""A correction that enough people reported becomes a draft document with its provenance; approved, it closes."""

from __future__ import annotations

import asyncio
import logging

from harry_mcp.domain.corrections import Correction, CorrectionAction, CorrectionStatus
from harry_mcp.domain.documents import Document, DocumentStatus, SourceDocument, document_id
from harry_mcp.domain.people import Principal
from harry_mcp.domain.plain import one_line
from harry_mcp.errors import InputError, ProviderError, StorageError
from harry_mcp.ingest.ingester import Ingester
from harry_mcp.ingest.language import detect_language
from harry_mcp.ingest.running import Note, Watch
from harry_mcp.settings import Settings
from harry_mcp.stages.correct.asking import shown
from harry_mcp.storage.database import Database
from harry_mcp.storage.memories import MemoryKind
from harry_mcp.storage.unit_of_work import UnitOfWork

log = logging.getLogger(__name__)
_LONGEST_TITLE = 200


class Promoter:
    """Turns corrections into pending documents."""

    def __init__(self, settings: Settings, database: Database, ingester: Ingester) -> None:
        self._settings = settings.correct
        self._database = database
        self._ingester = ingester

    async def promote_if_earned(self, correction: Correction) -> str:
        """The draft of a correction that enough people stand behind; empty when they do not, or it was drafted before.

        The correction stands whatever becomes of its draft: the next report tries again.
        """
        earned = (
            correction.status is CorrectionStatus.ACTIVE
            and not correction.document_id
            and correction.reporters >= self._settings.promote_reporters
        )
        if not earned:
            return ""
        try:
            return await self.promote(correction, actor=correction.author)
        except InputError:
            return ""
        except (ProviderError, StorageError) as error:
            log.warning("%s was not made a draft document: %s", correction.id, error)
            return ""

    async def promote(self, correction: Correction, *, actor: str, by: Principal | None = None) -> str:
        """Store the draft, pending, and note it at the correction; its document id. ``by`` is whoever wants it so, None
        where enough reports did.

        Raises:
            InputError: it is a document already, or was given up.
            ProviderError, StorageError: the draft could not be stored; nothing is noted then.
        """
        if correction.status is CorrectionStatus.DEPRECATED:
            raise InputError(f"{correction.id} was given up; approve it before it becomes a document.")
        key = document_id(_source(correction))
        async with self._database.transaction() as unit:
            there = await unit.documents.get(key)
            claimed = there is None and await unit.corrections.drafted(
                correction.id, key, before=correction.document_id
            )
        if not claimed:
            raise InputError(f"{correction.id} is a document already: {key}{_standing(there)}.")
        try:
            document = await asyncio.to_thread(draft, correction)
            outcome = await self._ingester.ingest(
                [document], status=DocumentStatus.PENDING, watch=_on_record(correction, actor, by)
            )
            if outcome.failed:
                raise StorageError(f"The draft could not be stored: {next(iter(outcome.failed.values()))}")
        except BaseException:
            async with self._database.transaction() as unit:
                await unit.corrections.drafted(correction.id, "", before=key)
            raise
        return document.id


def _on_record(correction: Correction, actor: str, by: Principal | None) -> Watch:
    """Where the draft comes from, written down in the transaction that stores it."""

    async def watch(document: SourceDocument, status: DocumentStatus) -> Note:
        async def note(unit: UnitOfWork) -> None:
            provenance = {"correction_id": correction.id, "reporters": correction.reporters}
            await unit.curation.add(document.id, "draft", actor=actor, after=status.value, detail=provenance)
            if by is not None:
                await unit.audit.add(
                    by,
                    CorrectionAction.PROMOTE.value,
                    kind="correction",
                    target_id=correction.id,
                    target=correction.lesson,
                    detail={"document_id": document.id},
                )

        return note

    return watch


def draft(correction: Correction) -> SourceDocument:
    """The document that says what a correction teaches, and where it comes from."""
    people = "1 person" if correction.reporters == 1 else f"{correction.reporters} people"
    # Where the lesson does not say of what it speaks, those questions do.
    asked = [question for each in correction.questions if (question := shown(correction, each))]
    parts = [
        *asked,
        correction.lesson,
        f"True: {correction.truth}",
        f"Wrong: {correction.wrong}",
        f"From a correction reported by {people} since {correction.created_at:%Y-%m-%d} ({correction.id}).",
    ]
    if correction.source_url:
        parts.append(f"It speaks of <{correction.source_url}>.")
    return SourceDocument(
        source=_source(correction),
        title=one_line(" – ".join([*asked[:1], correction.lesson]), _LONGEST_TITLE),
        text="\n\n".join(parts),
        topic=correction.topic,
        language=detect_language(f"{correction.lesson} {correction.truth}") or "en",
    )


async def close_corrections_of(unit: UnitOfWork, document_id: str, *, by: str) -> list[str]:
    """Close the corrections that a draft was made of, once it is live: the document says it now."""
    closed = await unit.corrections.of_document(document_id)
    for key in closed:
        await unit.corrections.decide(
            key, CorrectionStatus.DEPRECATED, reason=f"the document {document_id} says it now", by=by
        )
    if closed:
        await unit.memories.set_active(MemoryKind.CORRECTION, closed, active=False)
    return closed


def _source(correction: Correction) -> str:
    return f"correction:{correction.id}"


def _standing(document: Document | None) -> str:
    return f", {document.status.value}" if document else ""
