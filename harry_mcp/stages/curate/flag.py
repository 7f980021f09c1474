"""flag_rot: one way for every signal to say that a document may be wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from harry_mcp.domain.documents import DocumentStatus
from harry_mcp.domain.rot import RotSignal, caveat
from harry_mcp.storage.unit_of_work import UnitOfWork

__all__ = ["Flagging", "RotSignal", "flag_rot"]


@dataclass(frozen=True, slots=True)
class Flagging:
    """What became of a signal; true when it flagged a live document. Not ``logged``: its evidence is on record."""

    flagged: bool
    logged: bool

    def __bool__(self) -> bool:
        return self.flagged


async def flag_rot(
    unit: UnitOfWork,
    document_id: str,
    signal: RotSignal,
    *,
    actor: str,
    detail: Mapping[str, object],
    evidence: str = "",
    now: datetime | None = None,
) -> Flagging:
    """Flag a live document, and log the signal whatever its status.

    A document that is flagged already stays so: three signals are three rows of the log. One that readers do not see
    (pending, archived, rejected) is only logged. ``evidence`` names what the signal rests on: the same does not count
    twice, also not after a curator approved the document in the face of it; but anew after it was taken
    back. Belongs into a transaction.

    Raises:
        NotFoundError: there is no such document.
    """
    await unit.keywords.lock()
    document = await unit.documents.get(document_id)
    was = document.status if document else DocumentStatus.LIVE
    flags = was is DocumentStatus.LIVE
    if evidence:
        evidence = await unit.curation.evidence(document_id, signal.value, evidence)
        if await unit.curation.knows(document_id, signal.value, evidence):
            return Flagging(flagged=False, logged=False)
    if flags:
        await unit.documents.set_status(document_id, DocumentStatus.FLAGGED)
    if was.searchable:
        reason = {signal.value: caveat(signal, detail, now or datetime.now(UTC))}
        await unit.documents.set_caveats(document_id, reason, fresh=flags)
    await unit.curation.add(
        document_id,
        "flag",
        signal=signal.value,
        actor=actor,
        before=was.value,
        after=(DocumentStatus.FLAGGED if flags else was).value,
        detail=detail,
        evidence=evidence,
    )
    return Flagging(flagged=flags, logged=True)
