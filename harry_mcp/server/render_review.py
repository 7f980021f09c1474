"""Review: from the domain to the contract, and to the same facts as text.

All that documents and people wrote stands between fences that carry a nonce made for the one reply.
"""

from __future__ import annotations

from collections.abc import Sequence

from harry_mcp.domain.counting import counted
from harry_mcp.domain.curation import (
    AnswerChange,
    DocumentChange,
    DocumentDetail,
    PassagePair,
    QueueItem,
    RecentAction,
    RefusedDocument,
    Signal,
)
from harry_mcp.domain.evidence import why
from harry_mcp.domain.plain import sanitised
from harry_mcp.server.fencing import fenced
from harry_mcp.server.moments import moment
from harry_mcp.server.schemas_review import (
    ActionReply,
    AnswerReply,
    ChangeReply,
    DossierReply,
    DoubtReply,
    PairReply,
    QueueReply,
    RefusedReply,
    ReviewReply,
    VersionReply,
    WaitingReply,
)

_TITLE = 200
_LINE = 400
_PASSAGE = 600
_TEXT = 4000
_PAIRS = 10
_DOCUMENTS = 10


def waiting_reply(item: QueueItem) -> WaitingReply:
    return WaitingReply(
        document_id=item.document_id,
        title=sanitised(item.title, _TITLE),
        url=item.url,
        source=sanitised(item.source, _LINE),
        topic=sanitised(item.topic, _TITLE),
        status=item.status.value,
        version=item.version,
        updated_at=moment(item.updated_at),
        harm=item.harm.score,
        harm_why=item.harm.why,
        uses=item.harm.uses,
        signals=[_doubt(signal) for signal in item.signals[:5]],
        signal_count=item.signal_count,
        last_action=item.last_action,
        last_action_at=moment(item.last_action_at),
    )


def _doubt(signal: Signal) -> DoubtReply:
    return DoubtReply(
        signal=signal.signal,
        why=why(signal, limit=_LINE),
        by=sanitised(signal.actor, _TITLE),
        at=moment(signal.at),
        settled=signal.settled,
    )


def change_reply(change: DocumentChange) -> ChangeReply:
    return ChangeReply(
        document_id=change.document_id,
        title=sanitised(change.title, _TITLE),
        before=change.before.value,
        after=change.after.value,
        uses=change.uses,
        version=change.version,
        notes=list(change.notes),
    )


def refused_reply(refused: RefusedDocument) -> RefusedReply:
    return RefusedReply(
        document_id=sanitised(refused.document_id, _TITLE),
        title=sanitised(refused.title, _TITLE),
        reason=refused.reason,
    )


def action_reply(action: RecentAction) -> ActionReply:
    return ActionReply(
        action_id=action.action_id,
        action=action.action.value,
        actor=sanitised(action.actor, _TITLE),
        reason=sanitised(action.reason, _LINE),
        at=moment(action.at),
        documents=[change_reply(change) for change in action.documents[:_DOCUMENTS]],
        document_count=len(action.documents),
        undoable=action.undoable,
        why_not=sanitised(action.why_not, 2 * _LINE),
        undoes=action.undoes,
        undone_by=action.undone_by,
    )


def dossier_reply(found: DocumentDetail) -> DossierReply:
    return DossierReply(
        text=sanitised(found.text, _TEXT),
        truncated=len(found.text) > _TEXT,
        differences=[_pair(pair) for pair in found.differences[:_PAIRS]],
        versions=[
            VersionReply(
                version=each.version,
                title=sanitised(each.title, _TITLE),
                characters=each.characters,
                replaced_at=moment(each.replaced_at),
                action_id=each.action_id,
            )
            for each in found.versions[:_DOCUMENTS]
        ],
        allowed=[action.value for action in found.allowed],
    )


def _pair(pair: PassagePair) -> PairReply:
    return PairReply(
        before=sanitised(pair.before, _PASSAGE),
        after=sanitised(pair.after, _PASSAGE),
        origin=sanitised(pair.origin, _TITLE),
    )


def answer_reply(change: AnswerChange) -> AnswerReply:
    return AnswerReply(
        question=sanitised(change.question, _LINE),
        asked=change.asked,
        before_document_id=change.before.document_id,
        before_title=sanitised(change.before.title, _TITLE),
        before_band=change.before.band,
        after_document_id=change.after.document_id,
        after_title=sanitised(change.after.title, _TITLE),
        after_band=change.after.band,
    )


def queue_text(reply: QueueReply) -> str:
    lines = [
        f"{reply.tab}. In the queue: {reply.pending} pending, {reply.flagged} flagged, {reply.archived} archived.",
        f"Next: {reply.next_step}",
    ]
    if reply.total >= 0:
        lines[0] += f" {reply.total} match."
    for document in reply.documents:
        lines += _document_lines(document)
    for dossier in reply.dossier:
        lines += _dossier_lines(dossier)
    for action in reply.actions:
        lines += _action_lines(action)
    return fenced("queue", lines[:2], lines[2:])


def review_text(reply: ReviewReply) -> str:
    head = [f"{reply.action}: {reply.outcome} (consent: {reply.consent}).", f"Next: {reply.next_step}"]
    if reply.action_id:
        head.append(f"Rollback id: {reply.action_id}" + (f", until {reply.undo_until}." if reply.undo_until else "."))
    if reply.note:
        head.append(reply.note)
    if reply.outcome == "preview" or reply.questions_asked:
        head.append(f"{reply.questions_asked} past questions were tried, {reply.questions_left} more were not.")
    lines = _change_lines(reply.changes)
    lines += [f"left {each.document_id} {each.title}: {each.reason}" for each in reply.refused]
    lines += [
        f"answer changes (asked {each.asked} times): {each.question}: from {each.before_title or 'nothing'} "
        f"{each.before_document_id} ({each.before_band}) to {each.after_title or 'nothing'} {each.after_document_id} "
        f"({each.after_band})"
        for each in reply.answers
    ]
    return fenced("review", head, lines)


def _document_lines(document: WaitingReply) -> list[str]:
    last = f", last {document.last_action} {document.last_action_at}" if document.last_action else ""
    return [
        f"{document.document_id} {document.title} ({document.status}, version {document.version}, updated "
        f"{document.updated_at}{last})",
        f"  {document.url or 'no address'}, source {document.source}"
        + (f", topic {document.topic}" if document.topic else ""),
        f"  harm {document.harm:g}, {counted(document.uses, 'use')}: {document.harm_why}; "
        f"{counted(document.signal_count, 'signal')} in all",
        *(
            f"  {each.signal}{' (settled)' if each.settled else ''} {each.at} by {each.by}: {each.why}"
            for each in document.signals
        ),
    ]


def _dossier_lines(dossier: DossierReply) -> list[str]:
    lines = [f"allowed: {', '.join(dossier.allowed)}"]
    for pair in dossier.differences:
        lines += [f"differs from {pair.origin}:", f"  before: {pair.before}", f"  after: {pair.after}"]
    lines += [
        f"kept version {each.version}: {each.title}, {each.characters} characters, replaced {each.replaced_at} by "
        f"{each.action_id}"
        for each in dossier.versions
    ]
    more = " (it goes on; the console has the whole)" if dossier.truncated else ""
    return [*lines, f"text{more}:", dossier.text]


def _action_lines(action: ActionReply) -> list[str]:
    undo = "can be undone" if action.undoable else f"cannot be undone: {action.why_not}"
    reason = f", because {action.reason}" if action.reason else ""
    takes = f", takes back {action.undoes}" if action.undoes else ""
    taken = f", taken back by {action.undone_by}" if action.undone_by else ""
    return [
        f"{action.action_id} {action.action} {action.at} by {action.actor}{reason}{takes}{taken}: "
        f"{counted(action.document_count, 'document')}; {undo}",
        *_change_lines(action.documents),
    ]


def _change_lines(changes: Sequence[ChangeReply]) -> list[str]:
    return [
        f"  {each.document_id} {each.title}: {each.before} to {each.after}, version {each.version}, {each.uses} uses"
        + "".join(f". {note}" for note in each.notes)
        for each in changes
    ]
