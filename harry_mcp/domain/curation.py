"""Review: what a curator may do with a document, what becomes of it, and what is shown of it.

The state machine is a table. Nothing here reads or writes anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from harry_mcp.domain.documents import Document, DocumentStatus
from harry_mcp.domain.harm import Harm

_Status = DocumentStatus


class ReviewAction(StrEnum):
    """What a curator does with a document. ``undo`` stands in records only: it is what a rollback writes."""

    APPROVE = "approve"
    ARCHIVE = "archive"
    RESTORE = "restore"
    KEEP = "keep"
    REWRITE = "rewrite"
    REJECT = "reject"
    UNDO = "undo"

    @property
    def destroys(self) -> bool:
        """Whether it takes something away from readers, or text from a document. All of it can be undone."""
        return self in (ReviewAction.ARCHIVE, ReviewAction.REJECT, ReviewAction.REWRITE)

    @property
    def done(self) -> str:
        """The word for a document that it was done to."""
        return _DONE[self]


_DONE = {
    ReviewAction.APPROVE: "approved",
    ReviewAction.ARCHIVE: "archived",
    ReviewAction.RESTORE: "restored",
    ReviewAction.KEEP: "kept flagged",
    ReviewAction.REWRITE: "rewritten",
    ReviewAction.REJECT: "rejected",
    ReviewAction.UNDO: "put back",
}

# From which statuses an action leads where; None: where the document was before it left, or stays where it is.
TRANSITIONS: Mapping[ReviewAction, Mapping[DocumentStatus, DocumentStatus | None]] = {
    ReviewAction.APPROVE: {_Status.PENDING: _Status.LIVE, _Status.FLAGGED: _Status.LIVE},
    ReviewAction.ARCHIVE: dict.fromkeys((_Status.LIVE, _Status.FLAGGED, _Status.PENDING), _Status.ARCHIVED),
    ReviewAction.RESTORE: {_Status.ARCHIVED: None, _Status.REJECTED: None},
    ReviewAction.KEEP: {_Status.FLAGGED: _Status.FLAGGED},
    ReviewAction.REWRITE: {each: each for each in (_Status.LIVE, _Status.FLAGGED, _Status.PENDING)},
    ReviewAction.REJECT: {_Status.PENDING: _Status.REJECTED},
}


def refusal(action: ReviewAction, status: DocumentStatus) -> str:
    """Why an action cannot be done to a document in a status, in one sentence; empty when it can."""
    if status in TRANSITIONS.get(action, {}):
        return ""
    able = [name.value for name, moves in TRANSITIONS.items() if status in moves]
    return f"It is {status.value}, and {action.value} is not for such a document; it takes {', '.join(able)}."


def becomes(action: ReviewAction, status: DocumentStatus, was: DocumentStatus | None = None) -> DocumentStatus:
    """The status after an action that ``refusal`` lets through.

    ``was`` is the status that a document had before it was archived or rejected, where the records know it. Else an
    archived one goes live, as it was mostly before, and a rejected one waits again: nobody ever approved it.
    """
    after = TRANSITIONS[action][status]
    if after is not None:
        return after
    return was or (_Status.LIVE if status is _Status.ARCHIVED else _Status.PENDING)


class QueueTab(StrEnum):
    """A part of the queue. What was done lately is ``ReviewFlow.recent``."""

    PENDING = "pending"
    FLAGGED = "flagged"
    ARCHIVED = "archived"  # the rejected ones too

    @property
    def statuses(self) -> tuple[DocumentStatus, ...]:
        if self is QueueTab.ARCHIVED:
            return (_Status.ARCHIVED, _Status.REJECTED)
        return (DocumentStatus(self.value),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One row of the curation log that speaks against a document, or tells where a draft came from.

    ``settled``: a curator looked at the document after it.
    """

    signal: str
    actor: str
    at: datetime
    detail: Mapping[str, Any]
    settled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueItem:
    """A document in the queue. ``signals``: the newest first, at most some; ``signal_count`` counts all."""

    document_id: str
    title: str
    url: str
    source: str
    topic: str
    status: DocumentStatus
    version: int
    updated_at: datetime
    harm: Harm
    signals: tuple[Signal, ...]
    signal_count: int
    last_action: str
    last_action_at: datetime | None


@dataclass(frozen=True, slots=True)
class QueuePage:
    """Some items of a tab, the most harmful first, and how many there are in all."""

    items: tuple[QueueItem, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentChange:
    """What an action makes, or made, of one document. ``version`` is the one that it was done to."""

    document_id: str
    title: str
    before: DocumentStatus
    after: DocumentStatus
    uses: int = 0
    version: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedDocument:
    """A document that an action leaves as it is, and why. ``title`` is empty for one that is not there."""

    document_id: str
    title: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerView:
    """What one question is answered with: the document of the first hit (empty: none), and the band."""

    document_id: str
    title: str
    band: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerChange:
    """A past question whose first document or band changes. ``asked``: how often it was asked lately."""

    question: str
    asked: int
    before: AnswerView
    after: AnswerView


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewPreview:
    """What an action would do. Nothing was done.

    ``asked`` past questions were put to the documents as they would be; ``answers`` are those that change. ``unasked``
    more have to do with the documents and were not asked, for the time or the number that the settings give.
    """

    action: ReviewAction
    changes: tuple[DocumentChange, ...]
    refused: tuple[RefusedDocument, ...]
    answers: tuple[AnswerChange, ...] = ()
    asked: int = 0
    unasked: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewOutcome:
    """What was done. ``action_id`` names it for a rollback, and is empty when nothing was done."""

    action_id: str
    action: ReviewAction
    done: tuple[DocumentChange, ...]
    refused: tuple[RefusedDocument, ...] = ()
    undo_until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentAction:
    """Something that was done. ``undoable`` says whether a rollback would be let through now, ``why_not`` else.

    ``undoes`` is the action that it took back, ``undone_by`` the one that took it back; both may be empty.
    """

    action_id: str
    action: ReviewAction
    actor: str
    reason: str
    at: datetime
    documents: tuple[DocumentChange, ...]
    undoable: bool
    why_not: str
    undoes: str = ""
    undone_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptVersion:
    """An earlier version that a rewrite kept. ``action_id`` is the rewrite that replaced it."""

    version: int
    title: str
    characters: int
    replaced_at: datetime
    action_id: str


@dataclass(frozen=True, slots=True)
class PassagePair:
    """Passages that differ: ``before`` or ``after`` is empty where one side has none. ``origin`` says what of."""

    before: str
    after: str
    origin: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentDetail:
    """All that a curator needs to decide about one document."""

    item: QueueItem
    document: Document
    text: str
    signals: tuple[Signal, ...] = ()
    versions: tuple[KeptVersion, ...] = ()
    differences: tuple[PassagePair, ...] = ()
    actions: tuple[RecentAction, ...] = field(default=())
    allowed: tuple[ReviewAction, ...] = ()
