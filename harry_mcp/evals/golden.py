"""The files of a golden set, one JSON object a line.

A corpus holds documents ``{"id", "title", "text", "url"?}``. Rows that also have a ``doc_id`` are ready-made chunks
of that document, in order; the golden ids are then chunk ids. Questions are
``{"id", "text", "relevant_ids", "answerable"?}``. A holdout is one JSON object, ``{"removed_documents": [...],
"now_unanswerable": [...]}``: documents to leave out, and the questions that this makes unanswerable.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from harry_mcp.errors import EvalError

Row = TypeVar("Row", bound=BaseModel)


class CorpusRow(BaseModel):
    """A document, or a ready-made chunk of one."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    text: str
    title: str = ""
    url: str = ""
    doc_id: str = ""


class Question(BaseModel):
    """A question and the ids that answer it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    text: str
    relevant_ids: tuple[str, ...] = ()
    answerable: bool = True


class Holdout(BaseModel):
    """What is taken away, so that near misses stay."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    removed_documents: frozenset[str] = frozenset()
    now_unanswerable: frozenset[str] = frozenset()


class GoldenSet(BaseModel):
    """A corpus and its questions, the holdout applied."""

    model_config = ConfigDict(frozen=True)

    corpus: tuple[CorpusRow, ...]
    questions: tuple[Question, ...]

    @property
    def ready_made(self) -> bool:
        """Whether the corpus comes in chunks and the golden ids are theirs."""
        return any(row.doc_id for row in self.corpus)


def load(corpus: Path, queries: Path, holdout: Path | None = None) -> GoldenSet:
    """Read a golden set.

    Raises:
        EvalError: a file is missing, a line does not fit (the message names it), or nothing is left to ask.
    """
    taken = _holdout(holdout) if holdout else Holdout()
    rows = tuple(
        row
        for row in _rows(corpus, CorpusRow)
        if row.id not in taken.removed_documents and row.doc_id not in taken.removed_documents
    )
    questions = tuple(
        question.model_copy(update={"answerable": False}) if question.id in taken.now_unanswerable else question
        for question in _rows(queries, Question)
    )
    if not rows or not questions:
        raise EvalError(f"There is nothing to measure: {len(rows)} documents and {len(questions)} questions.")
    return GoldenSet(corpus=rows, questions=questions)


def _rows(path: Path, model: type[Row]) -> Iterator[Row]:
    seen: set[str] = set()
    for number, line in enumerate(_read(path).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = model.model_validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "the line"
            raise EvalError(f"{path}, line {number}: {where}: {first['msg']}.") from error
        identity = str(getattr(row, "id", ""))
        if identity in seen:
            raise EvalError(f"{path}, line {number}: the id {identity!r} stands there twice.")
        seen.add(identity)
        yield row


def _holdout(path: Path) -> Holdout:
    try:
        data: Any = json.loads(_read(path))
        return Holdout.model_validate(data)
    except (json.JSONDecodeError, ValidationError) as error:
        raise EvalError(f"{path} is not a holdout: {str(error).splitlines()[0]}.") from error


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise EvalError(f"{path} cannot be read: {error}.") from error
