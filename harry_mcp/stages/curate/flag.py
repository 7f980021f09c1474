"""flag_rot: one way for every signal to say that a document may be wrong."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from harry_mcp.domain.documents import DocumentStatus
from harry_mcp.storage.unit_of_work import UnitOfWork


class RotSignal(StrEnum):
    """What makes a document doubtful."""

    NEGATIVE_FEEDBACK = "negative_feedback"


async def flag_rot(
    unit: UnitOfWork, document_id: str, signal: RotSignal, *, actor: str, detail: Mapping[str, object]
) -> bool:
    """Flag a live document, and log the signal whatever its status; true when it was live before.

    A document that is flagged already stays so: three signals are three rows of the log. One that readers do not see
    (pending, archived, rejected) is only logged. Belongs into a transaction.

    Raises:
        NotFoundError: there is no such document.
    """
    await unit.keywords.lock()
    document = await unit.documents.get(document_id)
    was = document.status if document else DocumentStatus.LIVE
    flags = was is DocumentStatus.LIVE
    if flags:
        await unit.documents.set_status(document_id, DocumentStatus.FLAGGED)
    await unit.curation.add(
        document_id,
        "flag",
        signal=signal.value,
        actor=actor,
        before=was.value,
        after=(DocumentStatus.FLAGGED if flags else was).value,
        detail=detail,
    )
    return flags
