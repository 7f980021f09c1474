"""Taking back what was said against documents: a correction that was given up, a verdict that was replaced, the other
side of a contradiction that a curator did away with.

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
    for document_id, flags in groupby(standing, key=lambda each: each.document_id):
        made = None if document_id in but else await take_back(unit, list(flags), by, detail=detail)
        if made is not None:
            done.append(made)
    return done


async def take_back(
    unit: UnitOfWork, flags: Sequence[OpenFlag], by: Principal, *, detail: Mapping[str, object], action_id: str = ""
) -> Withdrawn | None:
    """Take back flags of one document and one signal, with the records; None when the document is gone.

    With ``action_id`` they stand again when that action is undone.
    """
    document_id, signal = flags[0].document_id, flags[0].signal
    document = await unit.documents.get(document_id)
    if document is None:
        return None
    evidence = [each.evidence for each in flags]
    rests_on = {"action_id": action_id, "caveats": dict(document.caveats)} if action_id else {}
    log_id = await unit.curation.add(
        document_id,
        WITHDRAW,
        signal=signal,
        actor=by.name,
        before=document.status.value,
        after=(await becomes(unit, document_id, document.status, evidence)).value,
        detail={**detail, **rests_on, "evidence": evidence},
    )
    after = await settle(unit, document_id, document.status, [signal])
    await unit.audit.add(
        by,
        WITHDRAW,
        kind="document",
        target_id=document_id,
        target=document.title,
        action_id=action_id,
        detail={**detail, "before": document.status.value, "after": after.value, "log_id": log_id},
    )
    live = after is DocumentStatus.LIVE and document.status is DocumentStatus.FLAGGED
    return Withdrawn(document_id, document.title, live)


async def settle(
    unit: UnitOfWork, document_id: str, status: DocumentStatus, signals: Collection[str]
) -> DocumentStatus:
    """Let a document say and be what still stands against it, once something of some signals was taken back; its
    status then."""
    left = await unit.curation.open_flags(document_id)
    after = _status(status, left, curated=await unit.curation.curated(document_id))
    if after is not status:
        await unit.documents.set_status(document_id, after)
        await unit.documents.set_caveats(document_id, {}, fresh=True)
        return after
    for signal in signals:
        said = [flag for flag in left if flag.signal == signal]
        if await unit.documents.drop_caveat(document_id, signal) and said:
            again = {signal: caveat(RotSignal(signal), said[-1].detail, said[-1].at)}
            await unit.documents.set_caveats(document_id, again, fresh=False)
    return after


async def becomes(
    unit: UnitOfWork, document_id: str, status: DocumentStatus, evidence: Collection[str]
) -> DocumentStatus:
    """What a document is once what it is flagged for on some evidence is taken back."""
    left = [flag for flag in await unit.curation.open_flags(document_id) if flag.evidence not in evidence]
    return _status(status, left, curated=await unit.curation.curated(document_id))


def _status(status: DocumentStatus, left: Sequence[OpenFlag], *, curated: bool) -> DocumentStatus:
    return DocumentStatus.LIVE if status is DocumentStatus.FLAGGED and not left and not curated else status
