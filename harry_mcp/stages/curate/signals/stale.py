"""Stale and relevant: an old document about what people keep asking in vain."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from harry_mcp.domain.rot import RotSignal
from harry_mcp.domain.staleness import OldText, Word, overlaps, weights
from harry_mcp.domain.tokens import index_terms, query_terms
from harry_mcp.stages.curate.checking import CheckRun
from harry_mcp.storage.signals import OldDocument, TermCount, Unanswered
from harry_mcp.storage.unit_of_work import UnitOfWork

SIGNAL = RotSignal.STALE
# Questions of the gap log that are looked at, and of them at once: the words of all are counted in one query.
_MOST_QUESTIONS = 500
_BATCH = 50
_MOST_TOLD = 10
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class _Match:
    """A question that a document covers by this share."""

    question: Unanswered
    share: float


async def check(run: CheckRun) -> None:
    """Flag live documents that nobody changed or looked at for long, and that unanswered questions are about."""
    settings = run.settings
    async with run.database.reading() as unit:
        old = await unit.signals.old(days=settings.stale_days, now=run.now)
        questions = await unit.signals.unanswered(days=settings.query_days, now=run.now, limit=_MOST_QUESTIONS)
        languages = await unit.keywords.languages()
        documents = sum(each.documents for each in await unit.documents.counts() if each.status in ("live", "flagged"))
    run.report.count("unanswered_questions", len(questions))
    run.report.examined = len(old)
    matched: dict[str, list[_Match]] = defaultdict(list)
    if old and questions:
        named = await asyncio.to_thread(_named, old)
        for start in range(0, len(questions), _BATCH):
            if run.late:
                run.report.left = len(questions) - start
                break
            batch = questions[start : start + _BATCH]
            await _match(run, batch, named, (languages, documents), matched)
    by_id = {document.id: document for document in old}
    for document_id, matches in matched.items():
        async with run.database.transaction() as unit:
            await _flag(run, unit, by_id[document_id], matches)


def _named(old: Sequence[OldDocument]) -> dict[str, frozenset[str]]:
    """The terms of title and headings of each document."""
    return {each.id: frozenset(index_terms(f"{each.title}\n{each.headings}", each.language)) for each in old}


async def _match(
    run: CheckRun,
    questions: Sequence[Unanswered],
    named: dict[str, frozenset[str]],
    corpus: tuple[tuple[str, ...], int],
    matched: dict[str, list[_Match]],
) -> None:
    languages, documents = corpus
    words = {each.id: query_terms(each.question, languages) for each in questions}
    terms = {form for asked in words.values() for word in asked for form in word}
    async with run.database.reading() as unit:
        found_in = await unit.signals.frequencies(terms)
        weighed = {key: weights(asked, found_in, documents) for key, asked in words.items()}
        telling = {form for each in weighed.values() for word, weight in each.items() if weight for form in word}
        counts = await unit.signals.old_words(named, telling)
    texts = _texts(named, counts)
    await asyncio.to_thread(_note, run, questions, weighed, texts, matched)


def _texts(named: dict[str, frozenset[str]], counts: Sequence[TermCount]) -> list[OldText]:
    times: dict[str, dict[str, int]] = defaultdict(dict)
    for each in counts:
        times[each.id][each.term] = each.times
    return [OldText(key, terms, times[key]) for key, terms in named.items()]


def _note(
    run: CheckRun,
    questions: Sequence[Unanswered],
    weighed: dict[str, dict[Word, float]],
    texts: Sequence[OldText],
    matched: dict[str, list[_Match]],
) -> None:
    settings = run.settings
    for question in questions:
        for each in overlaps(
            weighed[question.id],
            texts,
            least=settings.stale_overlap,
            words=settings.stale_words,
            most=settings.stale_documents,
        ):
            matched[each.document_id].append(_Match(question, each.share))


async def _flag(run: CheckRun, unit: UnitOfWork, document: OldDocument, matches: Sequence[_Match]) -> None:
    best = sorted(matches, key=lambda each: (-each.share, each.question.id))
    detail: dict[str, object] = {
        "unchanged_since": f"{document.updated_at:%Y-%m-%d}",
        "age_days": (run.now - document.updated_at).days,
        "questions": [
            {
                "gap_id": each.question.id,
                "question": each.question.question[:_LONGEST],
                "asked": each.question.asked,
                "overlap": round(each.share, 2),
            }
            for each in best[:_MOST_TOLD]
        ],
        "questions_omitted": max(0, len(best) - _MOST_TOLD),
    }
    why = f"{len(best)} unanswered questions are about it, and it has not changed since {document.updated_at:%Y-%m-%d}"
    evidence = f"version:{document.version}:{best[0].question.id}"
    await run.flag(unit, (document.id, document.title), detail, evidence=evidence, why=why)
