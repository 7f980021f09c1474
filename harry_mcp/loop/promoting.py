"""A correction that enough people reported becomes a draft document with its provenance; approved, it closes."""

from __future__ import annotations

from harry_mcp.domain.corrections import Correction, CorrectionStatus
from harry_mcp.domain.documents import DocumentStatus, SourceDocument
from harry_mcp.ingest.ingester import Ingester
from harry_mcp.settings import Settings
from harry_mcp.storage.database import Database
from harry_mcp.storage.memories import MemoryKind
from harry_mcp.storage.unit_of_work import UnitOfWork


class Promoter:
    """Turns corrections into pending documents."""

    def __init__(self, settings: Settings, database: Database, ingester: Ingester) -> None:
        self._settings = settings.correct
        self._database = database
        self._ingester = ingester

    async def promote_if_earned(self, correction: Correction) -> str:
        """The draft of a correction that enough people stand behind; empty when they do not."""
        earned = (
            correction.status is CorrectionStatus.ACTIVE
            and not correction.document_id
            and correction.reporters >= self._settings.promote_reporters
        )
        return await self.promote(correction) if earned else ""

    async def promote(self, correction: Correction) -> str:
        """Store the draft, pending, and note it at the correction; its document id."""
        document = draft(correction)
        await self._ingester.ingest([document], status=DocumentStatus.PENDING)
        async with self._database.transaction() as unit:
            await unit.corrections.drafted(correction.id, document.id)
            await unit.curation.add(
                document.id,
                "draft",
                actor=correction.author,
                after=DocumentStatus.PENDING.value,
                detail={"correction_id": correction.id, "reporters": correction.reporters},
            )
        return document.id


def draft(correction: Correction) -> SourceDocument:
    """The document that says what a correction teaches, and where it comes from."""
    people = "1 person" if correction.reporters == 1 else f"{correction.reporters} people"
    parts = [
        correction.lesson,
        f"True: {correction.truth}",
        f"Wrong: {correction.wrong}",
        f"From a correction reported by {people} since {correction.created_at:%Y-%m-%d} ({correction.id}).",
    ]
    if correction.source_url:
        parts.append(f"It speaks of <{correction.source_url}>.")
    return SourceDocument(
        source=f"correction:{correction.id}",
        title=correction.lesson,
        text="\n\n".join(parts),
        topic=correction.topic,
        language="en",
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
