"""harry eval run: a golden set through the real pipeline, and what it scores."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean, median
from typing import Any

from harry_mcp.app import App
from harry_mcp.domain.documents import Chunk, SourceDocument
from harry_mcp.domain.search import Band, Candidate, SearchResult
from harry_mcp.errors import EvalError
from harry_mcp.evals import metrics
from harry_mcp.evals.golden import CorpusRow, GoldenSet, Question
from harry_mcp.ingest.ingester import Ingester, PreparedDocument, Progress
from harry_mcp.ingest.readers import read_markdown
from harry_mcp.settings import Settings
from harry_mcp.storage.documents import chunk_public_ids
from harry_mcp.storage.scratch import scratch_database

# Questions asked at once: enough to keep the model and PostgreSQL busy, few enough to leave the timings honest.
_AT_ONCE = 2

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its answer, the golden ids in place of ours."""

    question: Question
    result: SearchResult
    stages: dict[str, list[str]]


async def evaluate(settings: Settings, golden: GoldenSet, report: Report | None = None) -> dict[str, Any]:
    """The figures of a golden set, from a database of its own.

    Raises:
        EvalError: the golden ids name nothing in the corpus.
    """
    note = report or _silent
    async with scratch_database(settings) as own, await App.open(own) as app:
        names: dict[str, str] = {}
        outcome = await app.ingester.ingest(
            _prepared(golden, app.ingester, names), report=lambda step: note(_step(step))
        )
        if outcome.failed:
            raise EvalError(f"{len(outcome.failed)} documents could not be stored: {outcome.failed}.")
        if outcome.template_contexts:
            first = next(iter(outcome.template_contexts.values()))
            raise EvalError(f"Not every passage has the context that is to be measured: {first}.")
        asked = await _ask_all(app, golden, names, note)
        versions = await app.database.versions()
    return {
        "documents": len({row.doc_id or row.id for row in golden.corpus}),
        "chunks": outcome.chunks_written,
        "questions": len(golden.questions),
        "embeddings": str(app.embedder.space),
        "chunking": settings.ingest.chunking,
        "contexts": app.ingester.situator.recipe.strip(" +") if app.ingester.situator else "template",
        "relevance_source": asked[0].result.verdict.relevance_source,
        "postgres": versions.postgres,
        **_figures(asked),
    }


def _silent(_: str) -> None:
    """Nobody is watching."""


def _step(progress: Progress) -> str:
    return f"{progress.outcome} {progress.title}"


def _prepared(
    golden: GoldenSet, ingester: Ingester, names: dict[str, str]
) -> Iterator[SourceDocument | PreparedDocument]:
    """The corpus, ready-made chunks prepared; fills ``names`` with the golden id behind each of our ids."""
    if not golden.ready_made:
        for row in golden.corpus:
            document = _document(row)
            names[document.id] = row.id
            yield document
        return
    ordered = sorted(golden.corpus, key=lambda row: row.doc_id)
    for doc_id, group in groupby(ordered, key=lambda row: row.doc_id):
        rows = list(group)
        text = "\n\n".join(row.text for row in rows)
        document = SourceDocument(
            source=f"golden:{doc_id}",
            title=rows[0].title or doc_id,
            text=text,
            url=rows[0].url,
            language="en",
        )
        prepared = ingester.prepare_chunks(document, list(_spans(rows)), "ready-made")
        for row, public_id in zip(rows, chunk_public_ids(document.id, prepared.chunks), strict=True):
            names[public_id] = row.id
        yield prepared


def _document(row: CorpusRow) -> SourceDocument:
    read = read_markdown(row.text, source=f"golden:{row.id}", title=row.title or row.id)
    return SourceDocument(
        source=f"golden:{row.id}",
        title=row.title or row.id,
        text=read.text,
        url=row.url,
        language=read.language,
    )


def _spans(rows: Sequence[CorpusRow]) -> Iterator[Chunk]:
    start = 0
    for ordinal, row in enumerate(rows):
        yield Chunk(ordinal=ordinal, text=row.text, start=start, end=start + len(row.text))
        start += len(row.text) + 2


async def _ask_all(app: App, golden: GoldenSet, names: dict[str, str], note: Report) -> list[Asked]:
    gate = asyncio.Semaphore(_AT_ONCE)

    async def ask(question: Question) -> Asked:
        async with gate:
            result = await app.loop.search(question.text[: app.settings.reply.question_characters], k=20)
        note(f"asked {question.id}")
        return Asked(question, result, _stages(result.ranking, names, by_chunk=golden.ready_made))

    return list(await asyncio.gather(*(ask(question) for question in golden.questions)))


def _stages(ranking: Sequence[Candidate], names: dict[str, str], *, by_chunk: bool) -> dict[str, list[str]]:
    """The golden ids in the order of each stage."""

    def ids(candidates: Sequence[Candidate]) -> list[str]:
        found: dict[str, None] = {}
        for item in candidates:
            keys = (item.public_id, *item.duplicates) if by_chunk else (item.document_id,)
            for key in keys:
                found.setdefault(names.get(key, key))
        return list(found)

    by_keyword = sorted((item for item in ranking if item.keyword_rank), key=lambda item: item.keyword_rank)
    by_vector = sorted((item for item in ranking if item.vector_rank), key=lambda item: item.vector_rank)
    return {
        "keyword": ids(by_keyword),
        "vector": ids(by_vector),
        "hybrid": ids(sorted(ranking, key=lambda item: -item.rrf)),
        "rank": ids(ranking),
    }


def _figures(asked: Sequence[Asked]) -> dict[str, Any]:
    findable = [item for item in asked if item.question.answerable and item.question.relevant_ids]
    scores = [item.result.verdict.score for item in asked]
    truths = [item.question.answerable for item in asked]
    return {
        "answerable": sum(truths),
        "retrieval": {
            stage: _retrieval([(item.stages[stage], item.question.relevant_ids) for item in findable])
            for stage in ("keyword", "vector", "hybrid", "rank")
        },
        "verdict": {
            "auroc": _finite(metrics.auroc(scores, truths)),
            "expected_calibration_error": _finite(metrics.expected_calibration_error(scores, truths)),
            "bands": {band.value: _band(asked, band) for band in Band},
        },
        "latency_ms": _latency([item.result.timings_ms for item in asked]),
        "per_question": [_per_question(item) for item in asked],
    }


def _finite(value: float) -> float:
    """JSON has no nan: -1 says that the figure cannot be had from these questions."""
    return round(value, 4) if math.isfinite(value) else -1.0


def _retrieval(pairs: Sequence[tuple[list[str], Sequence[str]]]) -> dict[str, float]:
    def mean(values: list[float]) -> float:
        return round(fmean(values), 4) if values else 0.0

    figures = {f"hit@{k}": mean([metrics.hit_at(r, wanted, k) for r, wanted in pairs]) for k in (1, 5)}
    figures["mrr"] = mean([metrics.reciprocal_rank(r, wanted) for r, wanted in pairs])
    figures["ndcg@10"] = mean([metrics.ndcg_at(r, wanted, 10) for r, wanted in pairs])
    for k in (5, 10, 20):
        figures[f"pass@{k}"] = mean([metrics.recall_at(r, wanted, k) for r, wanted in pairs])
    return figures


def _band(asked: Sequence[Asked], band: Band) -> dict[str, float]:
    inside = [item.question.answerable for item in asked if item.result.verdict.band is band]
    return {"questions": len(inside), "answerable": round(fmean(inside), 4) if inside else 0.0}


def _latency(timings: Sequence[dict[str, float]]) -> dict[str, float]:
    names = list(dict.fromkeys(name for timing in timings for name in timing))
    return {name: round(median(t.get(name, 0.0) for t in timings), 2) for name in names}


def _per_question(item: Asked) -> dict[str, Any]:
    relevant = set(item.question.relevant_ids)
    return {
        "id": item.question.id,
        "answerable": item.question.answerable,
        "score": round(item.result.verdict.score, 4),
        "band": item.result.verdict.band.value,
        "first_relevant_rank": next(
            (rank for rank, found in enumerate(item.stages["rank"], start=1) if found in relevant), 0
        ),
    }
