"""Contradiction: documents of one address, copies of one page, and documents on one subject that deny each other.

The job holds what was not compared yet against documents of the same address, and its passages against those that are
nearest in meaning. Versions of a document are compared while the new one is stored (``watching``).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from itertools import groupby

from harry_mcp.domain.alignment import Aligned
from harry_mcp.domain.disagreeing import Disagreement, disagreements, siblings
from harry_mcp.domain.rot import RotSignal
from harry_mcp.errors import DatabaseUnavailable, StorageError
from harry_mcp.settings import CurateSection
from harry_mcp.stages.curate.checking import CheckRun
from harry_mcp.stages.curate.comparing import Contradiction, compare, evidence_of, named
from harry_mcp.stages.curate.judging import RULES, FactJudge
from harry_mcp.storage.signals import Neighbour, StoredText
from harry_mcp.storage.unit_of_work import UnitOfWork

log = logging.getLogger(__name__)
SIGNAL = RotSignal.CONTRADICTION
_KIND = SIGNAL.value
_BATCH = 50
_LONGEST = 600
# Documents of one title that a document is held against.
_MOST_COPIES = 5


async def check(run: CheckRun, judge: FactJudge) -> None:
    """Hold every version that was not compared yet against documents of its address, and against its neighbours."""
    while not run.late:
        async with run.database.reading() as unit:
            batch = await unit.signals.uncompared(_KIND, _BATCH)
        if not batch:
            break
        for document in batch:
            if run.late:
                break
            await _passing_over(run, judge, document)
            run.report.examined += 1
    async with run.database.reading() as unit:
        run.report.left = await unit.signals.uncompared_count(_KIND)


async def _passing_over(run: CheckRun, judge: FactJudge, document: StoredText) -> None:
    """One document; one that the database cannot compare is passed over, or it would hold up all behind it."""
    try:
        await _one(run, judge, document)
    except DatabaseUnavailable:
        raise
    except StorageError as error:
        log.warning("%s was not compared with its neighbours: %s", document.source, error)
        run.report.count("passed_over")
        async with run.database.transaction() as unit:
            await unit.signals.note_check(document.id, _KIND, document.version)


async def _one(run: CheckRun, judge: FactJudge, document: StoredText) -> None:
    async with run.database.reading() as unit:
        others = await unit.signals.counterparts(document.id, (document.url, document.source))
        near = await _neighbours(unit, run.settings, document)
        mine = await unit.signals.text_of(document.id)
    same = {other.id for other in others}
    near = [each for each in near if each.id not in same]
    if mine is None:
        return
    by_address = [
        (other, found) for other in others if (found := await compare(other.content, mine.content, judge, run.settings))
    ]
    by_copy = await _copies(run, judge, mine, near)
    copied = {other.id for other, _ in by_copy}
    near = [each for each in near if each.id not in copied]
    by_statement = await _disagreeing(judge, run.settings, document, near)
    async with run.database.transaction() as unit:
        if not (by_address or by_copy or by_statement):
            await unit.signals.note_check(document.id, _KIND, document.version)
            return
        await unit.keywords.lock()
        now = await unit.documents.get(document.id)
        if now is None or now.version != document.version:
            return  # another text by now, which is compared by itself
        for kind, found_by in (("address", by_address), ("copy", by_copy)):
            for other, found in found_by:
                run.report.count("same_address" if kind == "address" else "copies")
                await _flag_both(run, unit, (other, document), kind, found.why, found.as_json())
        for other, told in by_statement:
            run.report.count("disagreeing")
            why = f"{len(told)} statements disagree with {other.title} ({other.id})"
            await _flag_both(run, unit, (document, other), "statements", why, _as_json(told))
        await unit.signals.note_check(document.id, _KIND, document.version)


async def _copies(
    run: CheckRun, judge: FactJudge, mine: StoredText, near: Sequence[Neighbour]
) -> list[tuple[StoredText, Contradiction]]:
    """Neighbours of the same title and nearly the same words, in which facts differ: copies of one page, one of which
    is older. Pages made from one template have titles of their own."""
    title = mine.title.strip().casefold()
    alike = {each.id for each in near if title and each.title.strip().casefold() == title}
    found: list[tuple[StoredText, Contradiction]] = []
    for document_id in sorted(alike)[:_MOST_COPIES]:
        async with run.database.reading() as unit:
            other = await unit.signals.text_of(document_id)
        told = await compare(other.content, mine.content, judge, run.settings) if other else None
        if other and told and told.facts and told.distance <= run.settings.distance:
            found.append((other, told))
    return found


async def _neighbours(unit: UnitOfWork, settings: CurateSection, document: StoredText) -> list[Neighbour]:
    if not settings.neighbours:
        return []
    near = await unit.signals.neighbours(document.id, each=settings.neighbours, floor=settings.near)
    return [each for each in near if not siblings((document.title, each.title))]


async def _flag_both(
    run: CheckRun,
    unit: UnitOfWork,
    pair: tuple[StoredText | Neighbour, StoredText | Neighbour],
    kind: str,
    why: str,
    passages: dict[str, object],
) -> None:
    """``passages`` shows the first document before and the second one after."""
    for mine, theirs in (pair, pair[::-1]):
        detail = {"kind": kind, "side": "before" if mine is pair[0] else "after", "other": named(theirs), **passages}
        await run.flag(unit, (mine.id, mine.title), detail, evidence=evidence_of(kind, *pair), why=why)


async def _disagreeing(
    judge: FactJudge, settings: CurateSection, document: StoredText, near: Sequence[Neighbour]
) -> list[tuple[Neighbour, list[Disagreement]]]:
    """The neighbours that deny what a document says, with the statements."""
    found: list[tuple[Neighbour, list[Disagreement]]] = []
    for _, group in groupby(sorted(near, key=lambda each: each.id), key=lambda each: each.id):
        passages = list(group)
        told = await asyncio.to_thread(_told, passages)
        if told and await _borne_out(judge, settings, told):
            found.append((passages[0], told))
    return found


def _told(passages: Sequence[Neighbour]) -> list[Disagreement]:
    found = {
        (each.here, each.there): each
        for passage in passages
        if not siblings((" ".join(passage.here_heading), " ".join(passage.there_heading)))
        for each in disagreements(passage.here, passage.there)
    }
    return list(found.values())


async def _borne_out(judge: FactJudge, settings: CurateSection, told: Sequence[Disagreement]) -> bool:
    """What a model says of the statements; true where there is none, for the rules let only sure ones through."""
    judgement = await judge.contradicting([Aligned(each.here, each.there) for each in told])
    return judgement is None or max(judgement.scores) >= settings.fact


def _as_json(told: Sequence[Disagreement]) -> dict[str, object]:
    return {
        "facts": len(told),
        "judged_by": RULES,
        "passages": [
            {
                "before": each.here[:_LONGEST],
                "after": each.there[:_LONGEST],
                "score": 1.0,
                "differences": [str(difference) for difference in each.differences],
            }
            for each in told[:20]
        ],
        "passages_omitted": max(0, len(told) - 20),
    }
