"""What a curator looks at: the queue in the order of harm, one document with all that bears on it, what was done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harry_mcp.domain.alignment import changed_statements
from harry_mcp.domain.curation import (
    TRANSITIONS,
    DocumentChange,
    DocumentDetail,
    KeptVersion,
    PassagePair,
    QueueItem,
    QueuePage,
    QueueTab,
    RecentAction,
    ReviewAction,
    Signal,
)
from harry_mcp.domain.documents import DocumentStatus
from harry_mcp.domain.evidence import passage_pairs
from harry_mcp.domain.harm import Harm, HarmWeights, harm
from harry_mcp.domain.undoing import ActionRow, Standing, obstacle
from harry_mcp.errors import NotFoundError
from harry_mcp.settings.reviewing import ReviewSection
from harry_mcp.storage.queue import SignalRow, Waiting
from harry_mcp.storage.unit_of_work import UnitOfWork

_SIGNALS_SHOWN = 5
_SIGNALS_OF_ONE = 50
_ACTIONS_OF_ONE = 20
_DIFFERENCES_SHOWN = 50


async def queue_page(
    unit: UnitOfWork,
    tab: QueueTab,
    settings: ReviewSection,
    *,
    limit: int,
    offset: int,
    words: str = "",
    signal: str = "",
) -> QueuePage:
    """A page of a tab: what nobody looked at since it was last spoken against first, the most harmful of it first."""
    statuses = [status.value for status in tab.statuses]
    waiting = await unit.queue.waiting(statuses, days=settings.use_days, words=words, signal=signal)
    measured = [(row, _harm(row, settings)) for row in waiting]
    measured.sort(key=lambda pair: (_settled(pair[0]), -pair[1].score, pair[0].id))
    return QueuePage(await _items(unit, measured[offset : offset + limit], each=_SIGNALS_SHOWN), len(measured))


async def detail(unit: UnitOfWork, document_id: str, settings: ReviewSection) -> DocumentDetail:
    """One document, whatever its status.

    Raises:
        NotFoundError: there is no such document.
    """
    document = await unit.documents.get(document_id)
    if document is None:
        raise NotFoundError(f"There is no document {document_id[:60]!r}. list_review_queue shows the ids.")
    waiting = await unit.queue.waiting([], days=settings.use_days, document_id=document_id)
    items = await _items(unit, [(row, _harm(row, settings)) for row in waiting], each=_SIGNALS_OF_ONE)
    text = (await unit.documents.text(document_id, 0, document.characters)).text
    versions = await unit.versions.of_document(document_id)
    differences = passage_pairs(items[0].signals)
    if versions:
        before = await unit.versions.text(versions[0].action_id, document_id)
        origin = f"version {versions[0].version}"
        differences += [PassagePair(pair.before, pair.after, origin) for pair in changed_statements(before, text)]
    return DocumentDetail(
        item=items[0],
        document=document,
        text=text,
        signals=items[0].signals,
        versions=tuple(
            KeptVersion(
                version=row.version,
                title=row.title,
                characters=row.characters,
                replaced_at=row.replaced_at,
                action_id=row.action_id,
            )
            for row in versions
        ),
        differences=tuple(differences[:_DIFFERENCES_SHOWN]),
        actions=await recent_actions(unit, settings, limit=_ACTIONS_OF_ONE, document_id=document_id),
        allowed=tuple(action for action, moves in TRANSITIONS.items() if document.status in moves),
    )


async def recent_actions(
    unit: UnitOfWork, settings: ReviewSection, *, limit: int, offset: int = 0, document_id: str = ""
) -> tuple[RecentAction, ...]:
    """What was done last, to anything or to one document, the newest first."""
    rows = await unit.reviews.actions(days=settings.undo_days, limit=limit, offset=offset, document_id=document_id)
    standings = await unit.reviews.standings([row.id for row in rows])
    ids = {each.document_id for made in standings.values() for each in made}
    uses = await unit.reviews.uses(sorted(ids), days=settings.use_days)
    return tuple(_recent(row, standings[row.id], settings, uses) for row in rows)


def _recent(
    row: ActionRow, standings: Sequence[Standing], settings: ReviewSection, uses: Mapping[str, int]
) -> RecentAction:
    why_not = obstacle(row, standings, settings.undo_days)
    return RecentAction(
        action_id=row.id,
        action=ReviewAction(row.action),
        actor=row.actor,
        reason=row.reason,
        at=row.created_at,
        documents=tuple(
            DocumentChange(
                document_id=each.document_id,
                title=each.title,
                before=DocumentStatus(each.before),
                after=DocumentStatus(each.after),
                uses=uses.get(each.document_id, 0),
                version=each.before_version,
            )
            for each in standings
        ),
        undoable=not why_not,
        why_not=why_not,
        undoes=row.undoes,
        undone_by=row.undone_by,
    )


def _harm(row: Waiting, settings: ReviewSection) -> Harm:
    weights = HarmWeights(
        use=settings.weight_use,
        signal=settings.weight_signal,
        age=settings.weight_age,
        full_age_days=settings.full_age_days,
    )
    return harm(uses=row.uses, age_days=row.age_days, signals=row.signals, settled=_settled(row), weights=weights)


def _settled(row: Waiting) -> bool:
    return row.looked and not row.signals


async def _items(unit: UnitOfWork, measured: Sequence[tuple[Waiting, Harm]], *, each: int) -> tuple[QueueItem, ...]:
    ids = [row.id for row, _ in measured]
    found = await unit.queue.items(ids)
    signals = await unit.queue.signals(ids, each=each)
    return tuple(
        QueueItem(
            document_id=key,
            title=found[key].title,
            url=found[key].url,
            source=found[key].source,
            topic=found[key].topic,
            status=DocumentStatus(found[key].status),
            version=found[key].version,
            updated_at=found[key].updated_at,
            harm=harmful,
            signals=tuple(_signal(row) for row in signals[key]),
            signal_count=found[key].signal_count,
            last_action=found[key].last_action,
            last_action_at=found[key].last_action_at,
        )
        for key, harmful in ((row.id, harmful) for row, harmful in measured)
        if key in found  # removed since it was listed
    )


def _signal(row: SignalRow) -> Signal:
    return Signal(signal=row.signal, actor=row.actor, at=row.at, detail=row.detail, settled=row.settled)
