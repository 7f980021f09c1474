"""EVL-5: how well the corrections that bear on a question are found, and how often nothing is rightly brought.

The golden set is one file, a JSON object a line, of two kinds::

    {"id": "c1", "lesson": "...", "wrong": "...", "truth": "...", "topic": "...", "asked": ["..."]}     a correction
    {"id": "q1", "text": "...", "relevant": ["c1"]}                   a question, and the corrections that bear on it

``topic`` may be missing, and so may ``asked``: the questions that the correction was made on. ``relevant`` is empty for
a question that none bears on. Have as many of these as of the others, most of them about the same products: whether
nothing is brought for them is half of what is measured.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from harry_mcp.domain.corrections import CorrectionStatus, Lesson, Relevant, asked_id
from harry_mcp.errors import EvalError
from harry_mcp.evals import metrics
from harry_mcp.loop.lesson_vectors import lesson_vectors
from harry_mcp.loop.questions import Questions
from harry_mcp.loop.recalling import RecallFlow
from harry_mcp.loop.words import Words
from harry_mcp.ports import Embedder
from harry_mcp.profile import load_profile
from harry_mcp.providers.factory import build_embedder
from harry_mcp.settings import Settings
from harry_mcp.stages.correct.answering import answers
from harry_mcp.storage.database import Database
from harry_mcp.storage.memories import MemoryKind, MemoryText
from harry_mcp.storage.scratch import scratch_database

_DEPTH = 3
# The figures that a gate may name.
KNOWN = frozenset({f"recall@{_DEPTH}", "mrr", "nothing_right", "wrong"})
# A figure that these rows do not give: JSON has no nan.
_NONE = -1.0
_CURVE = tuple(step / 100 for step in range(20, 72, 2))


class GoldenCorrection(BaseModel):
    """A correction of the set."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    lesson: str
    wrong: str
    truth: str
    topic: str = ""
    asked: tuple[str, ...] = ()

    @property
    def stored(self) -> Lesson:
        return Lesson(topic=self.topic, wrong=self.wrong, truth=self.truth, line=self.lesson)


class GoldenQuestion(BaseModel):
    """A question of the set."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    text: str
    relevant: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GoldenCorrections:
    """Corrections, and the questions that they are or are not meant for."""

    corrections: tuple[GoldenCorrection, ...]
    questions: tuple[GoldenQuestion, ...]

    @property
    def fingerprint(self) -> str:
        """Changes with anything in the set."""
        rows = [row.model_dump_json() for row in (*self.corrections, *self.questions)]
        return hashlib.sha256("\n".join(rows).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Brought:
    """What one question got: golden ids and relevances, in the order in which an agent sees them."""

    question: GoldenQuestion
    found: tuple[tuple[str, float], ...]
    heads: frozenset[str]
    """Those that would stand at the head of an answer if no page were found."""

    def over(self, floor: float) -> list[str]:
        return [name for name, relevance in self.found if relevance >= floor]


def load(path: Path) -> GoldenCorrections:
    """Read a golden set.

    Raises:
        EvalError: the file is missing, a line does not fit, or a question names a correction that is not there.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise EvalError(f"{path} cannot be read: {error}.") from error
    corrections: dict[str, GoldenCorrection] = {}
    questions: dict[str, GoldenQuestion] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            row = _row(line, f"{path}, line {number}")
            if row.id in corrections or row.id in questions:
                raise EvalError(f"{path}, line {number}: the id {row.id!r} stands there twice.")
            if isinstance(row, GoldenCorrection):
                corrections[row.id] = row
            else:
                questions[row.id] = row
    if not corrections or not questions:
        raise EvalError(f"{path} holds {len(corrections)} corrections and {len(questions)} questions; it needs both.")
    unknown = {name for question in questions.values() for name in question.relevant} - set(corrections)
    if unknown:
        raise EvalError(f"{path}: questions name corrections that are not there: {', '.join(sorted(unknown)[:5])}.")
    return GoldenCorrections(tuple(corrections.values()), tuple(questions.values()))


def _row(line: str, where: str) -> GoldenCorrection | GoldenQuestion:
    try:
        data: Any = json.loads(line)
        lesson = isinstance(data, dict) and "lesson" in cast(dict[str, Any], data)
        return GoldenCorrection.model_validate(data) if lesson else GoldenQuestion.model_validate(data)
    except json.JSONDecodeError as error:
        raise EvalError(f"{where}: this is no JSON object.") from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "the line"
        raise EvalError(f"{where}: {field}: {first['msg']}.") from error


async def evaluate(settings: Settings, golden: GoldenCorrections) -> dict[str, Any]:
    """The figures of a golden set, through the real memories in a database of its own.

    Raises:
        DatabaseUnavailable: PostgreSQL cannot be reached, or does not let us create a database.
        ProviderError: the embedding model failed.
    """
    embedder = build_embedder(settings)
    async with scratch_database(settings) as own:
        database = await Database.open(own, embedder.space)
        try:
            names = await _store(settings, database, embedder, golden)
            vectors = await _vectors(settings, embedder, golden)
            brought = await _ask(settings, database, golden, names, vectors)
            open_floor = settings.correct.model_copy(update={"relevance": 0.0, "most": _DEPTH})
            anything = await _ask(settings.model_copy(update={"correct": open_floor}), database, golden, names, vectors)
        finally:
            await database.close()
    return {
        "corrections": len(golden.corrections),
        "questions": len(golden.questions),
        "golden": golden.fingerprint,
        "embeddings": str(embedder.space),
        "floor": settings.correct.relevance,
        **figures(brought, 0.0),
        "curve": [{"floor": floor, **figures(anything, floor)} for floor in _CURVE],
        "missed": [told(item) for item in brought if not set(item.question.relevant) <= set(item.over(0.0))],
        "brought_in_vain": [told(item) for item in brought if set(item.over(0.0)) - set(item.question.relevant)],
    }


async def _store(
    settings: Settings, database: Database, embedder: Embedder, golden: GoldenCorrections
) -> dict[str, str]:
    """Store the corrections, all active; the golden id by the stored one."""
    lessons = [row.stored for row in golden.corrections]
    vectors = await lesson_vectors(embedder, lessons)
    asked = [(lesson.id, each) for lesson, row in zip(lessons, golden.corrections, strict=True) for each in row.asked]
    questions = Questions(embedder, load_profile(settings.profile), settings)
    asked_vectors = await questions.vectors([each for _, each in asked])
    async with database.transaction() as unit:
        for lesson in lessons:
            await unit.corrections.insert(lesson, status=CorrectionStatus.ACTIVE, reason="", author="eval")
        texts = [MemoryText(lesson.id, lesson.line, active=True) for lesson in lessons]
        await unit.memories.put(MemoryKind.CORRECTION, texts, vectors)
        for key, each in asked:
            await unit.corrections.ask(key, each, most=settings.correct.questions)
        texts = [MemoryText(asked_id(key, each), each, active=True) for key, each in asked]
        await unit.memories.put(MemoryKind.ASKED, texts, list(asked_vectors))
    return {lesson.id: row.id for lesson, row in zip(lessons, golden.corrections, strict=True)}


async def _vectors(settings: Settings, embedder: Embedder, golden: GoldenCorrections) -> Any:
    questions = Questions(embedder, load_profile(settings.profile), settings)
    return await questions.vectors([question.text for question in golden.questions])


async def _ask(
    settings: Settings, database: Database, golden: GoldenCorrections, names: dict[str, str], vectors: Any
) -> list[Brought]:
    recall = RecallFlow(settings, database, Words(database))
    brought: list[Brought] = []
    for question, vector in zip(golden.questions, vectors, strict=True):
        found: Sequence[Relevant] = (await recall.recall(question.text, vector, [])).corrections
        told = tuple((names[item.correction.id], round(item.relevance, 4)) for item in found)
        heads = [item for item in found if answers(question.text, item, (), floor=settings.correct.answers)]
        brought.append(Brought(question, told, frozenset(names[item.correction.id] for item in heads)))
    return brought


def figures(brought: Sequence[Brought], floor: float) -> dict[str, float]:
    """The means over the questions.

    ``recall@3`` and ``mrr`` are over those that a correction bears on, ``nothing_right`` is the share of the others
    that got nothing, ``wrong`` how many corrections a question got on average that do not bear on it. ``headed`` is the
    share of the first whose answer such a correction heads, ``headed_wrong`` the share of all that another one heads.
    """
    asked = [item for item in brought if item.question.relevant]
    others = [item for item in brought if not item.question.relevant]
    ranks = [
        [rank for rank, name in enumerate(item.over(floor), start=1) if name in item.question.relevant]
        for item in asked
    ]
    recalls = [
        metrics.recall_at(found, len(item.question.relevant), _DEPTH) for found, item in zip(ranks, asked, strict=True)
    ]
    return {
        f"recall@{_DEPTH}": _mean(recalls),
        "mrr": _mean([metrics.reciprocal_rank(found) for found in ranks]),
        "nothing_right": _mean([float(not item.over(floor)) for item in others]),
        "wrong": _mean([float(len(set(item.over(floor)) - set(item.question.relevant))) for item in brought]),
        "headed": _mean([float(bool(item.heads & {*item.over(floor)} & {*item.question.relevant})) for item in asked]),
        "headed_wrong": _mean(
            [float(bool(item.heads & {*item.over(floor)} - {*item.question.relevant})) for item in brought]
        ),
    }


def _mean(values: Sequence[float]) -> float:
    return round(fmean(values), 4) if values else _NONE


def told(item: Brought) -> dict[str, Any]:
    """One question and what it got, for a report."""
    return {
        "id": item.question.id,
        "text": item.question.text,
        "relevant": list(item.question.relevant),
        "brought": [{"id": name, "relevance": relevance} for name, relevance in item.found],
    }
