"""Taking an action back exactly: what each document was, in every table and in every search, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.corrections import CorrectionStatus
from harry_mcp.domain.curation import DocumentChange, RefusedDocument, ReviewAction, ReviewOutcome
from harry_mcp.domain.documents import DocumentStatus
from harry_mcp.domain.people import Principal
from harry_mcp.domain.rot import RotSignal, caveat
from harry_mcp.domain.undoing import ActionRow, Standing, differences, obstacle, put_back
from harry_mcp.errors import InputError, NotFoundError
from harry_mcp.settings.reviewing import ReviewSection
from harry_mcp.stages.curate.contradicted import brought_back, stand_again
from harry_mcp.stages.curate.recording import Acted, new_action_id, record
from harry_mcp.stages.curate.withdrawing import settle
from harry_mcp.storage.memories import MemoryKind
from harry_mcp.storage.reviews import Flag
from harry_mcp.storage.unit_of_work import UnitOfWork

Fresh = Mapping[int, npt.NDArray[np.float32]]
"""Vectors of kept chunks that have none in the space in service, by the number of the chunk."""


async def roll_back(
    unit: UnitOfWork, action_id: str, by: Principal, settings: ReviewSection, fresh: Fresh
) -> ReviewOutcome:
    """Undo an action on all of its documents that are still there, or on none; with its records.

    Raises:
        NotFoundError: there is no such action.
        InputError: it cannot be undone, and why; nothing was changed.
        SpaceMismatch: the knowledge base moved to another embedding model than the one of this process.
    """
    await unit.keywords.lock()
    row = await unit.reviews.action(action_id, days=settings.undo_days)
    if row is None:
        raise NotFoundError(f"There is no action {action_id[:60]!r}. list_review_queue with tab recent shows them.")
    standings = (await unit.reviews.standings([action_id]))[action_id]
    why = obstacle(row, standings, settings.undo_days)
    if why:
        raise InputError(f"{action_id} cannot be undone. {why} Nothing was changed.")
    undo_id = new_action_id()
    await unit.reviews.add_action(
        undo_id, ReviewAction.UNDO, actor=by.name, reason="", days=settings.undo_days, undoes=action_id
    )
    acted = Acted(id=undo_id, action=ReviewAction.UNDO, by=by, told={"undoes": action_id, "action": row.action})
    await stand_again(unit, action_id, undo_id, by)
    done: list[DocumentChange] = []
    uses = await unit.reviews.uses([each.document_id for each in standings], days=settings.use_days)
    gone = [standing for standing in standings if standing.gone(row.action)]
    for standing in (each for each in standings if each not in gone):
        after, notes = await _restore(unit, row, standing, fresh)
        change = DocumentChange(
            document_id=standing.document_id,
            title=standing.title,
            before=DocumentStatus(standing.status_now),
            uses=uses.get(standing.document_id, 0),
            after=after,
            version=standing.version_now,
            notes=notes,
        )
        await record(unit, acted, change, caveats=standing.caveats)
        done.append(change)
    return ReviewOutcome(
        action_id=undo_id,
        action=ReviewAction.UNDO,
        done=tuple(done),
        refused=tuple(
            RefusedDocument(document_id=each.document_id, title=each.title, reason="It was removed for good since.")
            for each in gone
        ),
    )


async def _restore(
    unit: UnitOfWork, row: ActionRow, standing: Standing, fresh: Fresh
) -> tuple[DocumentStatus, tuple[str, ...]]:
    """Put a document back; the status that it has then, and what is to be said of it."""
    if row.action == ReviewAction.REWRITE:
        await _bring_back(unit, row, standing, fresh)
    status = put_back(standing)
    await unit.documents.set_status(standing.document_id, status)
    flags = []
    if status is DocumentStatus.FLAGGED:
        flags = await unit.reviews.flags_since(standing.document_id, standing.log_id)
    await unit.documents.set_caveats(standing.document_id, _caveats(standing, status, flags), fresh=True)
    if withdrawn := await unit.curation.withdrawn_since(standing.document_id, standing.log_id):
        status = await settle(unit, standing.document_id, status, withdrawn)
    status = await brought_back(unit, standing.document_id, standing.log_id) or status
    left = [each["id"] for each in standing.closed if not await _reopened(unit, each)]
    reopened = (f"{', '.join(left)} stayed as it is: somebody decided about it since.",) if left else ()
    signals = list(dict.fromkeys(flag.signal for flag in flags))
    return status, (*differences(standing, signals, rewritten=row.action == ReviewAction.REWRITE), *reopened)


def _caveats(standing: Standing, status: DocumentStatus, flags: Sequence[Flag]) -> dict[str, str]:
    """What is told against the document: what was told before, and what signals said since where they count."""
    said = dict(standing.caveats)
    if status is DocumentStatus.FLAGGED and standing.before == DocumentStatus.LIVE:
        said.clear()
    return said | {flag.signal: caveat(RotSignal(flag.signal), flag.detail, flag.at) for flag in flags}


async def _bring_back(unit: UnitOfWork, row: ActionRow, standing: Standing, fresh: Fresh) -> None:
    await unit.vectors.require_active()
    # Hidden while its chunks are changed, so that the keyword index follows by the one way that there is.
    await unit.documents.set_status(standing.document_id, DocumentStatus.PENDING)
    await unit.versions.bring_back(row.id, standing.document_id)
    missing = [chunk.id for chunk in await unit.versions.without_vector(row.id)]
    if not fresh.keys() >= set(missing):
        raise InputError("The embedding model was changed just now. Nothing was undone; try again.")
    await unit.versions.forget_vectors(missing)
    await unit.vectors.add(missing, [fresh[chunk] for chunk in missing], searchable=False)


async def _reopened(unit: UnitOfWork, closed: Mapping[str, str]) -> bool:
    """Whether a correction that the action closed is again what it was before."""
    if not await unit.reviews.reopen_correction(closed):
        return False
    if closed["status"] == CorrectionStatus.ACTIVE:
        await unit.memories.set_active(MemoryKind.CORRECTION, [closed["id"]], active=True)
    return True
