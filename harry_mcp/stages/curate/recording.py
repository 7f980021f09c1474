"""What is written down of a curator's action on a document: in the curation log, in the audit log, and for an undo."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harry_mcp.domain.curation import DocumentChange, ReviewAction
from harry_mcp.domain.people import Principal
from harry_mcp.storage.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class Acted:
    """An action as the records name it. ``told``: what both logs say of it beside what it did."""

    id: str
    action: ReviewAction
    by: Principal
    reason: str = ""
    told: Mapping[str, object] = field(default_factory=dict[str, object])


async def record(
    unit: UnitOfWork,
    acted: Acted,
    change: DocumentChange,
    *,
    caveats: Mapping[str, str],
    closed: Sequence[Mapping[str, str]] = (),
) -> None:
    """Write down what an action made of a document, once it is made. ``change`` and ``caveats`` are those of before;
    ``closed`` are the corrections that closed with it."""
    before, after = change.before.value, change.after.value
    log_id = await unit.curation.add(
        change.document_id,
        acted.action.value,
        actor=acted.by.name,
        before=before,
        after=after,
        detail={"action_id": acted.id, "reason": acted.reason, **acted.told},
    )
    await unit.reviews.add_change(
        acted.id,
        change.document_id,
        title=change.title,
        before=before,
        before_version=change.version,
        log_id=log_id,
        caveats=caveats,
        closed=closed,
    )
    await unit.audit.add(
        acted.by,
        acted.action.value,
        kind="document",
        target_id=change.document_id,
        target=change.title,
        reason=acted.reason,
        action_id=acted.id,
        detail={**acted.told, "before": before, "after": after, "version": change.version},
    )


def new_action_id() -> str:
    return "act_" + uuid.uuid4().hex[:20]
