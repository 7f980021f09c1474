"""EVL-3: corrections as regression tests of the knowledge base itself: does each still come back with its question?

The rows are those of a golden set of corrections, as ``harry eval grow`` writes them. Nothing is stored: every question
is put to the memories as a search puts it. A correction that became a document has come back when a search for the
question finds that document among the hits, for then the document says it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harry_mcp.app import App
from harry_mcp.domain.corrections import Correction, CorrectionStatus
from harry_mcp.evals.corrections import Brought, GoldenCorrections, GoldenQuestion, figures, told
from harry_mcp.loop.questions import Questions
from harry_mcp.loop.recalling import RecallFlow
from harry_mcp.loop.words import Words
from harry_mcp.settings import Settings
from harry_mcp.stages.correct.answering import answers


@dataclass(frozen=True, slots=True)
class _Base:
    """The knowledge base, and its corrections behind the rows of the set by the id of the row."""

    app: App
    recall: RecallFlow
    stored: dict[str, Correction]

    @property
    def rows(self) -> dict[str, str]:
        """The id of the row by the id of the correction."""
        return {correction.id: row for row, correction in self.stored.items()}


async def evaluate_live(settings: Settings, golden: GoldenCorrections) -> dict[str, Any]:
    """The figures of a set on the knowledge base that the settings name.

    A correction that is brought and is none of the set counts as one that does not bear on the question: where others
    were learnt since, ``wrong`` and ``nothing_right`` say less than ``recall@3``.

    Raises:
        DatabaseUnavailable: PostgreSQL cannot be reached.
        ProviderError: the embedding model failed.
    """
    async with await App.open(settings) as app:
        base = _Base(app, RecallFlow(settings, app.database, Words(app.database)), await _stored(app, golden))
        questions = Questions(app.embedder, app.profile, settings)
        vectors = await questions.vectors([question.text for question in golden.questions])
        brought = [
            await _brought(base, question, vector) for question, vector in zip(golden.questions, vectors, strict=True)
        ]
        space = str(app.embedder.space)
    missed = [item for item in brought if not set(item.question.relevant) <= set(item.over(0.0))]
    return {
        "corrections": len(golden.corrections),
        "questions": len(golden.questions),
        "golden": golden.fingerprint,
        "embeddings": space,
        "floor": settings.correct.relevance,
        **figures(brought, 0.0),
        "missed": [told(item) | {"why": _why(base, item)} for item in missed],
        "brought_in_vain": [told(item) for item in brought if set(item.over(0.0)) - set(item.question.relevant)],
    }


async def _stored(app: App, golden: GoldenCorrections) -> dict[str, Correction]:
    """The correction of each row that is here: under the row's own id, as grown rows have it, or by what it says."""
    ids = {row.id: (row.id, row.stored.id) for row in golden.corrections}
    async with app.database.reading() as unit:
        known = await unit.corrections.by_ids([each for both in ids.values() for each in both])
    return {row: known[each] for row, both in ids.items() for each in both if each in known}


async def _brought(base: _Base, question: GoldenQuestion, vector: Any) -> Brought:
    nearby = await base.recall.nearby(question.text, vector)
    rows = [base.rows.get(item.correction.id, item.correction.id) for item in nearby.corrections]
    found = [(row, round(item.relevance, 4)) for row, item in zip(rows, nearby.corrections, strict=True)]
    found += [(row, 1.0) for row in await _documented(base, question, set(rows))]
    floor = base.app.settings.correct.answers
    heads = [
        row for row, item in zip(rows, nearby.corrections, strict=True) if answers(question.text, item, (), floor=floor)
    ]
    return Brought(question, tuple(found), frozenset(heads))


async def _documented(base: _Base, question: GoldenQuestion, there: set[str]) -> Sequence[str]:
    """Rows of a question that are documents by now which a search for it finds."""
    lost = [base.stored[row] for row in question.relevant if row not in there and row in base.stored]
    if not any(each.document_id for each in lost):
        return []
    longest = base.app.settings.reply.question_characters
    result = await base.app.loop.search(question.text[:longest], record=False)
    hits = {hit.passage.document_id for hit in result.hits}
    return [base.rows[each.id] for each in lost if each.document_id in hits]


def _why(base: _Base, item: Brought) -> str:
    """Why a question misses corrections, in words."""
    got = item.over(0.0)
    return "; ".join(_lost(base.stored.get(row), row) for row in item.question.relevant if row not in got)


def _lost(correction: Correction | None, row: str) -> str:
    if correction is None:
        return f"{row} is not in this knowledge base"
    if correction.status is not CorrectionStatus.ACTIVE:
        reason = f" ({correction.status_reason})" if correction.status_reason else ""
        return f"{row} is {correction.status.value}{reason}"
    return f"{row} is active and did not come"
