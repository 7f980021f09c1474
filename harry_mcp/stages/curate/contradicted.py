"""The other side of a contradiction.

Once a curator archived, rejected or rewrote what a document disagreed with, nothing of it speaks against that document
any more; and all of it does again when the act is undone.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import groupby

from harry_mcp.domain.documents import Document, DocumentStatus
from harry_mcp.domain.evidence import still_says
from harry_mcp.domain.people import Principal
from harry_mcp.domain.rot import RotSignal
from harry_mcp.stages.curate.withdrawing import take_back
from harry_mcp.storage.curation import CurationEvent, OpenFlag
from harry_mcp.storage.unit_of_work import UnitOfWork

REOPEN = "reopen"


@dataclass(frozen=True, slots=True)
class OtherSide:
    """A document, and what speaks against it that rests on another one."""

    document: Document
    flags: tuple[OpenFlag, ...]


async def other_sides(
    unit: UnitOfWork, document_id: str, *, but: Collection[str], text: str | None = None
) -> list[OtherSide]:
    """The documents that readers see with what rests on one that goes, or gets another ``text``. ``but`` are others
    that the same act is done to."""
    found: list[OtherSide] = []
    for key, group in groupby(await unit.curation.told_of(document_id), key=lambda each: each.document_id):
        flags = tuple(flag for flag in group if text is None or not still_says(flag.detail, text))
        document = None if key in but or not flags else await unit.documents.get(key)
        if document is not None:
            found.append(OtherSide(document, flags))
    return found


async def settle_sides(
    unit: UnitOfWork, document_id: str, sides: Collection[OtherSide], action_id: str, by: Principal
) -> None:
    """Take back what rests on a document that an action was done to."""
    for side in sides:
        for _, flags in groupby(sorted(side.flags, key=lambda each: each.signal), key=lambda each: each.signal):
            detail = {"other": {"document_id": document_id}}
            await take_back(unit, list(flags), by, detail=detail, action_id=action_id)


async def stand_again(unit: UnitOfWork, action_id: str, undo_id: str, by: Principal) -> None:
    """Let what an action took back of other documents speak against them again, once it is recorded as undone."""
    for event in reversed(await unit.curation.settled_by(action_id)):
        document = await unit.documents.get(event.document_id)
        if document is None:
            continue
        after = document.status
        if not await unit.curation.decided_since(document.id, event.id):
            after = await _as_it_was(unit, document, event)
        detail = {"undoes": action_id, "withdrawal": event.id}
        await unit.curation.add(
            document.id,
            REOPEN,
            signal=event.signal,
            actor=by.name,
            before=document.status.value,
            after=after.value,
            detail={"action_id": undo_id, **detail},
        )
        await unit.audit.add(
            by,
            REOPEN,
            kind="document",
            target_id=document.id,
            target=document.title,
            action_id=undo_id,
            detail={**detail, "before": document.status.value, "after": after.value},
        )


async def brought_back(unit: UnitOfWork, document_id: str, log_id: int) -> DocumentStatus | None:
    """Put on a document that an undo brings back what stands against it again since a row of the log; its status, or
    None where nothing does."""
    status = None
    for event in await unit.curation.reopened_since(document_id, log_id):
        document = await unit.documents.get(document_id)
        if document is not None:
            status = await _as_it_was(unit, document, event)
    return status


async def _as_it_was(unit: UnitOfWork, document: Document, event: CurationEvent) -> DocumentStatus:
    """Give a document back the status and the caveats that a withdrawal took, beside what was said since."""
    if not document.status.searchable:
        return document.status
    caveats: dict[str, str] = event.detail["caveats"]
    alone = event.before == DocumentStatus.FLAGGED and event.after == DocumentStatus.LIVE
    again = caveats if alone else {key: words for key, words in caveats.items() if key == event.signal}
    await unit.documents.set_caveats(document.id, {**again, **document.caveats}, fresh=False)
    if event.before == DocumentStatus.FLAGGED:
        await unit.documents.set_status(document.id, DocumentStatus.FLAGGED)
        return DocumentStatus.FLAGGED
    return document.status


async def look_again(unit: UnitOfWork, document_id: str) -> None:
    """Have a document that comes back held against the others once more: what they disagreed in was settled."""
    await unit.signals.forget_check(document_id, RotSignal.CONTRADICTION.value)
