"""What curators do with documents: planned, then carried out with its records, all in the caller's transaction.

Documents that the action is not for are left and named; all others are done together or, when anything fails, none.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.curation import (
    DocumentChange,
    RefusedDocument,
    ReviewAction,
    ReviewOutcome,
    becomes,
    refusal,
)
from harry_mcp.domain.documents import ContextualChunk, DocumentStatus, SourceDocument
from harry_mcp.domain.people import Principal
from harry_mcp.domain.plain import one_line
from harry_mcp.settings.reviewing import ReviewSection
from harry_mcp.stages.curate.contradicted import OtherSide, look_again, other_sides, settle_sides
from harry_mcp.stages.curate.recording import Acted, new_action_id, record
from harry_mcp.storage.reviews import ReviewedState
from harry_mcp.storage.unit_of_work import UnitOfWork

_SHOWN = 80
Close = Callable[[UnitOfWork, str], Awaitable[object]]
"""Closes the corrections that a document was made of, for it says now what they teach."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewriting:
    """A new text of a document, cut, with contexts and vectors; ``made_from`` is the hash of the text it replaces."""

    document: SourceDocument
    chunks: Sequence[ContextualChunk]
    vectors: Sequence[npt.NDArray[np.float32]]
    recipe: str
    made_from: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Something that a curator wants done to documents.

    ``rewriting`` is there for a rewrite alone, of one document; ``base_version`` is the version that it was written
    from, 0 when nobody says.
    """

    action: ReviewAction
    ids: tuple[str, ...]
    by: Principal
    reason: str = ""
    rewriting: Rewriting | None = None
    base_version: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What an act comes to as things stand."""

    changes: tuple[DocumentChange, ...]
    refused: tuple[RefusedDocument, ...]
    states: Mapping[str, ReviewedState]


async def plan(unit: UnitOfWork, act: Act, settings: ReviewSection) -> Plan:
    """What an act would make of each document, and which it would leave. Nothing is written."""
    states = await unit.reviews.states(act.ids, days=settings.use_days)
    changes: list[DocumentChange] = []
    refused: list[RefusedDocument] = []
    for key in dict.fromkeys(act.ids):
        state = states.get(key)
        why = await _overtaken(unit, act, state) or _refusal(act, state)
        if why or state is None:
            refused.append(RefusedDocument(document_id=key, title=state.title if state else "", reason=why))
        else:
            sides = await _other_sides(unit, act, key)
            change = _change(act.action, state)
            changes.append(replace(change, notes=(*change.notes, *map(_settled, sides))))
    return Plan(tuple(changes), tuple(refused), states)


async def carry_out(unit: UnitOfWork, act: Act, settings: ReviewSection, close: Close) -> ReviewOutcome:
    """Do it, with the curation log and the audit log. ``close`` is called for a document that begins to be read."""
    await unit.keywords.lock()
    planned = await plan(unit, act, settings)
    unmade = act.action is ReviewAction.REWRITE and act.rewriting is None  # it was not there when it was looked for
    if not planned.changes or unmade:
        return ReviewOutcome(action_id="", action=act.action, done=(), refused=planned.refused)
    action_id = new_action_id()
    until = await unit.reviews.add_action(
        action_id, act.action, actor=act.by.name, reason=act.reason, days=settings.undo_days
    )
    acted = Acted(id=action_id, action=act.action, by=act.by, reason=act.reason)
    for change in planned.changes:
        key = change.document_id
        sides = await _other_sides(unit, act, key)
        closed = await _apply(unit, action_id, act, change, close)
        await record(unit, acted, change, caveats=planned.states[key].caveats, closed=closed)
        await settle_sides(unit, key, sides, action_id, act.by)
        if act.action is ReviewAction.RESTORE:
            await look_again(unit, key)
    return ReviewOutcome(
        action_id=action_id, action=act.action, done=planned.changes, refused=planned.refused, undo_until=until
    )


async def _overtaken(unit: UnitOfWork, act: Act, state: ReviewedState | None) -> str:
    """Who changed a document since the version that an act was made from, and when; empty when nobody did."""
    if state is None or act.base_version in (0, state.version):
        return ""
    last = await unit.reviews.last_text(state.id)
    who = f"{last.actor} changed it" if last and last.actor else "It was read anew from its source"
    when = f" on {last.at.astimezone(UTC):%Y-%m-%d at %H:%M:%S} UTC" if last else ""
    return (
        f"{who}{when}: it is at version {state.version} now, and this was made from version {act.base_version}; "
        "look at it again."
    )


async def _other_sides(unit: UnitOfWork, act: Act, document_id: str) -> list[OtherSide]:
    """The documents that nothing of this one speaks against any more, once the act is done."""
    if act.action in (ReviewAction.ARCHIVE, ReviewAction.REJECT):
        return await other_sides(unit, document_id, but=act.ids)
    if act.rewriting is not None:
        return await other_sides(unit, document_id, but=act.ids, text=act.rewriting.document.text)
    return []


def _refusal(act: Act, state: ReviewedState | None) -> str:
    if state is None:
        return "There is no such document; list_review_queue and search_kb show the ids."
    why = refusal(act.action, DocumentStatus(state.status))
    if why or act.rewriting is None:
        return why
    if act.rewriting.made_from != state.content_hash:
        return "It changed while the new text was made ready; look at it again."
    if act.rewriting.document.content_hash == state.content_hash:
        return "This is its title and text already."
    return ""


def _change(action: ReviewAction, state: ReviewedState) -> DocumentChange:
    before = DocumentStatus(state.status)
    after = becomes(action, before, DocumentStatus(state.was) if state.was else None)
    return DocumentChange(
        document_id=state.id,
        title=state.title,
        before=before,
        after=after,
        uses=state.uses,
        version=state.version,
        notes=tuple(_notes(action, state, before, after)),
    )


def _notes(action: ReviewAction, state: ReviewedState, before: DocumentStatus, after: DocumentStatus) -> list[str]:
    """What else follows, in sentences."""
    notes: list[str] = []
    goes = before.searchable and not after.searchable
    if state.verified and (goes or action is ReviewAction.REWRITE):
        answers = "1 official answer that cites it is" if state.verified == 1 else f"{state.verified} that cite it are"
        notes.append(f"{answers} held back until a curator vouches again.")
    if state.corrections and after is DocumentStatus.LIVE and not before.searchable:
        lessons = "1 correction" if state.corrections == 1 else f"{state.corrections} corrections"
        notes.append(f"{lessons} that it was made of closed: the document says it.")
    if action is ReviewAction.REWRITE and before is DocumentStatus.FLAGGED:
        notes.append("It stays flagged; approve it when the new text settles what was said against it.")
    return notes


def _settled(side: OtherSide) -> str:
    return f"The contradiction with “{one_line(side.document.title, _SHOWN)}” is settled."


async def _apply(
    unit: UnitOfWork, action_id: str, act: Act, change: DocumentChange, close: Close
) -> list[dict[str, str]]:
    """Change a document; the corrections that closed with it, as they were before, and the words that closed them."""
    if act.rewriting is not None:
        await _rewrite(unit, action_id, act.rewriting, change)
        return []
    await unit.documents.set_status(change.document_id, change.after)
    if change.after is not DocumentStatus.LIVE or change.before.searchable:
        return []
    before = await unit.reviews.drafted_corrections(change.document_id)
    if not before:
        return []
    await close(unit, change.document_id)
    after = {item.id: item for item in await unit.reviews.drafted_corrections(change.document_id)}
    return [{**item.as_json(), "closing": after[item.id].status_reason} for item in before]


async def _rewrite(unit: UnitOfWork, action_id: str, rewriting: Rewriting, change: DocumentChange) -> None:
    await unit.versions.keep(action_id, change.document_id)
    await unit.documents.save(
        rewriting.document,
        rewriting.chunks,
        rewriting.vectors,
        recipe=rewriting.recipe,
        status=change.before,
        rewrite=True,
    )
    await unit.versions.note_source(action_id, change.document_id)
