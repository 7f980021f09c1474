"""Taking back what somebody said against documents: a correction that was given up, a verdict that was replaced.

The caveat that rests on it goes. So does the flag, when nothing else speaks against the document and no curator did
something with it meanwhile: what a curator decided about stays as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from harry_mcp.domain.documents import DocumentStatus
from harry_mcp.domain.people import Principal
from harry_mcp.domain.rot import RotSignal, caveat
from harry_mcp.storage.curation import OpenFlag
from harry_mcp.storage.unit_of_work import UnitOfWork

WITHDRAW = "withdraw"
_SIGNAL = RotSignal.NEGATIVE_FEEDBACK


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """A document that something was taken back of. ``live``: it was flagged, and nothing else speaks against it."""

    document_id: str
    title: str
    live: bool


async def withdraw(
    unit: UnitOfWork, told_by: str, by: Principal, *, detail: Mapping[str, object], but: Collection[str] = ()
) -> list[Withdrawn]:
    """Take back all that stands of ``told_by``, the beginning of what its flags name as evidence, with the records.

    ``but`` are documents that it still speaks against. Belongs into a transaction that begins with
    :meth:`KeywordIndex.lock`, as all do that change a document's status.
    """
    done: list[Withdrawn] = []
    standing = await unit.curation.told_by(_SIGNAL.value, told_by)
    for document_id, group in groupby(standing, key=lambda each: each.document_id):
        document = None if document_id in but else await unit.documents.get(document_id)
        if document is None:
            continue
        evidence = [each.evidence for each in group]
        log_id = await unit.curation.add(
            document_id,
            WITHDRAW,
            signal=_SIGNAL.value,
            actor=by.name,
            before=document.status.value,
            after=(await _after(unit, document_id, document.status, evidence)).value,
            detail={**detail, "evidence": evidence},
        )
        after = await settle(unit, document_id, document.status)
        live = after is DocumentStatus.LIVE and document.status is DocumentStatus.FLAGGED
        await unit.audit.add(
            by,
            WITHDRAW,
            kind="document",
            target_id=document_id,
            target=document.title,
            detail={**detail, "before": document.status.value, "after": after.value, "log_id": log_id},
        )
        done.append(Withdrawn(document_id, document.title, live))
    return done


async def settle(unit: UnitOfWork, document_id: str, status: DocumentStatus) -> DocumentStatus:
    """Let a document say and be what the signals that stand make of it; its status then."""
    left = await unit.curation.open_flags(document_id)
    after = _status(status, left, curated=await unit.curation.curated(document_id))
    said = [flag for flag in left if flag.signal == _SIGNAL]
    if after is not status:
        await unit.documents.set_status(document_id, after)
        await unit.documents.set_caveats(document_id, {}, fresh=True)
    elif await unit.documents.drop_caveat(document_id, _SIGNAL.value) and said:
        again = {_SIGNAL.value: caveat(_SIGNAL, said[-1].detail, said[-1].at)}
        await unit.documents.set_caveats(document_id, again, fresh=False)
    return after


async def _after(unit: UnitOfWork, document_id: str, status: DocumentStatus, evidence: Sequence[str]) -> DocumentStatus:
    left = [flag for flag in await unit.curation.open_flags(document_id) if flag.evidence not in evidence]
    return _status(status, left, curated=await unit.curation.curated(document_id))


def _status(status: DocumentStatus, left: Sequence[OpenFlag], *, curated: bool) -> DocumentStatus:
    return DocumentStatus.LIVE if status is DocumentStatus.FLAGGED and not left and not curated else status
