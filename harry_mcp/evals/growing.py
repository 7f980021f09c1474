"""EVL-3: golden rows grown from real use.

An approved official answer says which documents answer its question; so does a praised result, less surely; so does a
correction whose document is live. These become questions for ``harry eval run``. A correction that holds becomes a
regression test for ``harry eval corrections``: the question that it was made on must go on bringing it.

Every row says in ``provenance`` what it was grown from: kinds, ids and moments, no names of people. Ids are made of
what a row says, so that growing again makes the same rows. Personal data and secrets are taken out, as they are of
what is stored.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from harry_mcp.domain.corrections import Correction, CorrectionStatus
from harry_mcp.domain.documents import DocumentStatus
from harry_mcp.domain.plain import folded, one_line
from harry_mcp.domain.verified import LONGEST_QUESTION, Match, VerifiedStatus
from harry_mcp.errors import NotFoundError
from harry_mcp.loop.rated import named, rated
from harry_mcp.stages.correct.redaction import redact
from harry_mcp.storage.database import Database
from harry_mcp.storage.feedback import Praised
from harry_mcp.storage.unit_of_work import UnitOfWork

Row = dict[str, Any]
_PAGE = 200
_FOUND = (DocumentStatus.LIVE.value, DocumentStatus.FLAGGED.value)


@dataclass(slots=True)
class Grown:
    """Rows of the three files, each kind in the order in which it came about. ``left_out`` counts by reason."""

    questions: list[Row] = field(default_factory=list[Row])
    corrections: list[Row] = field(default_factory=list[Row])
    corpus: list[Row] = field(default_factory=list[Row])
    left_out: Counter[str] = field(default_factory=Counter[str])


async def grow(database: Database, *, praise: bool = True, corpus: bool = False) -> Grown:
    """What the knowledge base has learnt so far, as golden rows; nothing in it is changed. ``corpus`` adds every page.

    Raises:
        DatabaseUnavailable: PostgreSQL cannot be reached.
    """
    grown = Grown()
    async with database.reading() as unit:
        entries = {entry.id: entry for entry in await _verified(unit, VerifiedStatus.ACTIVE.value)}
        documents = await unit.verified.documents_of(list(entries))
        asked = _Asked(unit, grown)
        for entry in sorted(entries.values(), key=lambda each: (each.created_at, each.id)):
            held = {"held": entry.held} if entry.held else {}
            origin = _origin("verified", entry.id, entry.approved_at or entry.created_at, **held)
            await asked.answered_by(entry.question, sorted(documents.get(entry.id, ())), origin)
        corrections = await _corrections(unit)
        questions = {each.id: list(dict.fromkeys(map(_clean, each.questions))) for each in corrections}
        await _promoted(asked, corrections, questions)
        if praise:
            await _praised(unit, asked)
        active = [each for each in corrections if each.status is CorrectionStatus.ACTIVE]
        idle = [entry.question for entry in entries.values() if await _brought_none(unit, entry.result_id)]
        grown.corrections = _regressions(active, questions, idle, grown.left_out)
        if corpus:
            grown.corpus = [row async for row in _pages(unit)]
    return grown


class _Asked:
    """Gathers questions with the documents that answer them; of one question the first, surest source counts."""

    def __init__(self, unit: UnitOfWork, grown: Grown) -> None:
        self._unit = unit
        self._grown = grown
        self._known: set[str] = set()

    async def answered_by(self, question: str, documents: Sequence[str], origin: Row) -> None:
        text = _clean(question)
        key = _id("q", folded(text))
        if key in self._known:
            return
        there = [name for name in documents if await _is_found(self._unit, name)]
        if not there or not text:
            self._grown.left_out["questions without a page that is found"] += 1
            return
        self._known.add(key)
        row = {"id": key, "text": text, "relevant_ids": there, "answerable": True, "provenance": origin}
        self._grown.questions.append(row)


async def _promoted(asked: _Asked, corrections: Sequence[Correction], questions: dict[str, list[str]]) -> None:
    """Corrections whose document says it now: the questions that they were made on are answered by it."""
    for each in corrections:
        for question in questions.get(each.id, ()) if each.document_id else ():
            origin = _origin("promoted correction", each.id, each.created_at)
            await asked.answered_by(question, [each.document_id], origin)


async def _praised(unit: UnitOfWork, asked: _Asked) -> None:
    refused = {folded(_clean(entry.question)) for entry in await _verified(unit, VerifiedStatus.REJECTED.value)}
    for each in await unit.feedback.praised():
        if folded(_clean(each.question)) not in refused:
            origin = _origin("praise", each.result_id, each.created_at)
            await asked.answered_by(each.question, await _cited(unit, each), origin)


async def _cited(unit: UnitOfWork, praised: Praised) -> list[str]:
    """The documents that a praised answer cites, else those of the official answer that was served, else the best that
    was found."""
    cited = list(await named(unit, praised.source_urls))
    if cited:
        return cited
    try:
        about = await rated(unit, praised.result_id)
    except NotFoundError:
        return []
    if about.lookup is not None and about.lookup.match == Match.EXACT and about.lookup.verified_id:
        served = about.lookup.verified_id
        return sorted((await unit.verified.documents_of([served])).get(served, ()))
    return list(about.documents[:1])


def _regressions(
    active: Sequence[Correction], questions: dict[str, list[str]], idle: Sequence[str], left_out: Counter[str]
) -> list[Row]:
    """Corrections, the questions that must bring them, and questions with an official answer that brought none."""
    rows: list[Row] = []
    wanted: dict[str, list[Correction]] = {}
    for each in active:
        rows.append(_lesson(each))
        own = questions.get(each.id, [])
        left_out["corrections that were made on no question"] += not own
        for question in own:
            wanted.setdefault(question, []).append(each)
    for question, lessons in wanted.items():
        # The ids are in it: when another lesson is learnt from the same question, that is another test.
        ids = sorted(each.id for each in lessons)
        origin = _origin("correction", " ".join(ids), max(each.created_at for each in lessons))
        rows.append({"id": _id("t", folded(question), *ids), "text": question, "relevant": ids, "provenance": origin})
    corrected = {folded(question) for question in wanted}
    for question in dict.fromkeys(map(_clean, idle)):
        if folded(question) not in corrected:
            origin = {"from": "verified"}
            rows.append({"id": _id("t", folded(question)), "text": question, "relevant": [], "provenance": origin})
    return rows


def _lesson(each: Correction) -> Row:
    said = {"lesson": each.lesson, "wrong": each.wrong, "truth": each.truth, "topic": each.topic}
    clean = {name: redact(text).text for name, text in said.items()}
    decided = {"approved": True} if each.decided_by else {}
    asked = [_clean(question) for question in each.questions]
    return {
        "id": each.id,
        **clean,
        "asked": asked,
        "provenance": _origin("correction", each.id, each.created_at, **decided),
    }


async def _pages(unit: UnitOfWork) -> AsyncGenerator[Row, None]:
    """Every page that is found, as a row of a corpus."""
    for entry in sorted(await unit.catalogue.all(), key=lambda each: each.id):
        if entry.status in _FOUND:
            length = (await unit.documents.text(entry.id, 0, 1)).total
            text = (await unit.documents.text(entry.id, 0, length)).text
            origin = {"from": "document", "source": entry.source, "version": entry.version}
            yield {"id": entry.id, "title": entry.title, "text": text, "url": entry.url, "provenance": origin}


async def _verified(unit: UnitOfWork, status: str) -> list[Any]:
    found: list[Any] = []
    while page := await unit.verified.list(status, limit=_PAGE, offset=len(found)):
        found += page
    return found


async def _corrections(unit: UnitOfWork) -> list[Correction]:
    """All corrections, the oldest first."""
    found: list[Correction] = []
    while page := await unit.corrections.list("", limit=_PAGE, offset=len(found)):
        found += page
    return sorted(found, key=lambda each: (each.created_at, each.id))


async def _brought_none(unit: UnitOfWork, result_id: str) -> bool:
    return bool(result_id) and not await unit.corrections.injected_by(result_id)


async def _is_found(unit: UnitOfWork, document_id: str) -> bool:
    document = await unit.documents.get(document_id)
    return document is not None and document.status.value in _FOUND


def _origin(kind: str, key: str, at: datetime, **more: object) -> Row:
    return {"from": kind, "of": key, "at": at.isoformat(), **more}


def _clean(question: str) -> str:
    return redact(one_line(question, LONGEST_QUESTION)).text


def _id(prefix: str, *parts: str) -> str:
    return f"{prefix}_" + hashlib.sha256("\x00".join(parts).encode()).hexdigest()[:16]
