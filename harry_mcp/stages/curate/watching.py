"""Contradiction, at ingestion: a page whose new version says something else, before the old text is gone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from harry_mcp.domain.documents import DocumentStatus, SourceDocument
from harry_mcp.domain.rot import RotSignal
from harry_mcp.errors import DatabaseUnavailable, StorageError
from harry_mcp.settings import CurateSection
from harry_mcp.stages.curate.comparing import Contradiction, compare, evidence_of, named
from harry_mcp.stages.curate.flag import flag_rot
from harry_mcp.stages.curate.judging import FactJudge
from harry_mcp.storage.database import Database
from harry_mcp.storage.signals import StoredText
from harry_mcp.storage.unit_of_work import UnitOfWork

log = logging.getLogger(__name__)
SIGNAL = RotSignal.CONTRADICTION
# Documents that are looked up at the same time: searches need the connections too.
_AT_ONCE = 2

Note = Callable[[UnitOfWork], Awaitable[None]]


class VersionWatch:
    """Looks at every document that is about to be stored, and says what to note once it is."""

    def __init__(self, database: Database, judge: FactJudge, settings: CurateSection) -> None:
        self._database = database
        self._judge = judge
        self._settings = settings
        self._places = asyncio.Semaphore(_AT_ONCE)

    async def __call__(self, document: SourceDocument, status: DocumentStatus) -> Note | None:
        """What belongs into the transaction that stores the document, None when nothing speaks against it.

        ``status`` is that of a new document; one that is there keeps its own. Nothing that fails here stops a document
        from being stored.

        Raises:
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        try:
            async with self._places, self._database.reading() as unit:
                before = await unit.signals.text_of(document.id)
                version = await unit.signals.next_version(document.id)
                others = await unit.signals.counterparts(document.id, (document.url, document.source))
        except DatabaseUnavailable:
            raise
        except StorageError as error:
            log.warning("%s was not compared with what was there: %s", document.source, error)
            return None
        if before is not None and before.content_hash == document.content_hash:
            return None
        shown = DocumentStatus(before.status if before else status).searchable
        new = _as_stored(document, version)
        notes: list[Note] = []
        if before is not None and (found := await compare(before.content, document.text, self._judge, self._settings)):
            # Also of one that is hidden, where it flags nothing: it counts once an archiving is undone.
            notes.append(_of_version(new, before, found))
        for other in others if shown else ():
            if found := await compare(other.content, document.text, self._judge, self._settings):
                notes.append(_of_address(other, new, found, actor="ingestion"))
        return _all(notes) if notes else None


def _as_stored(document: SourceDocument, version: int) -> StoredText:
    return StoredText(
        id=document.id,
        title=document.title,
        url=document.url,
        source=document.source,
        status=DocumentStatus.LIVE,
        version=version,
        content_hash=document.content_hash,
        content=document.text,
    )


def _all(notes: Sequence[Note]) -> Note:
    async def note(unit: UnitOfWork) -> None:
        for each in notes:
            await each(unit)

    return note


def _of_version(new: StoredText, before: StoredText, found: Contradiction) -> Note:
    async def note(unit: UnitOfWork) -> None:
        versions = {"before_version": before.version, "after_version": new.version}
        detail = {"kind": "version", **versions, **found.as_json()}
        evidence = f"version:{before.version}:{new.content_hash[:16]}"
        await flag_rot(unit, new.id, SIGNAL, actor="ingestion", detail=detail, evidence=evidence)

    return note


def _of_address(one: StoredText, other: StoredText, found: Contradiction, *, actor: str) -> Note:
    async def note(unit: UnitOfWork) -> None:
        for mine, theirs in ((one, other), (other, one)):
            detail = {"kind": "address", "side": "before" if mine is one else "after", "other": named(theirs)}
            evidence = evidence_of("address", one, other)
            await flag_rot(unit, mine.id, SIGNAL, actor=actor, detail={**detail, **found.as_json()}, evidence=evidence)

    return note
