"""The files of a golden set, one JSON object a line.

The corpus holds documents ``{"id", "title", "text", "url"?}``. Rows that also have a ``doc_id`` are ready-made chunks
of that document, in order; the golden ids are then chunk ids.

Questions are ``{"id", "text", "relevant_ids", "answerable"?, "history"?}``. ``relevant_ids`` name the rows of the
corpus that answer it. ``answerable`` is true unless it says otherwise; questions that the corpus does not answer are
what the verdict is judged by and calibrated on, so have as many of them as of the others if you can. ``history`` makes
a follow-up: the turns before it, oldest first, as texts or as ``{"role", "content"}``. An ``answer`` in words serves
``harry eval loop``, whose people quote of a page what is nearest to it.

A holdout is one JSON object, ``{"removed_documents": [...], "now_unanswerable": [...]}``: documents to leave out, and
the questions that this makes unanswerable. It makes unanswerable questions that have near misses, which are the hard
ones. Unknown keys are passed over.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

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
    """A question and the ids that answer it. ``answer`` is in words, empty where the file gives none; nothing that is
    measured of a search rests on it, so it is no part of what tells golden sets apart."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    text: str
    relevant_ids: tuple[str, ...] = ()
    answerable: bool = True
    history: tuple[str, ...] = ()
    answer: str = Field(default="", exclude=True)

    @field_validator("answer", mode="before")
    @classmethod
    def _words(cls, value: Any) -> str:
        """Files may hold anything under this name."""
        return value if isinstance(value, str) else ""

    @field_validator("history", mode="before")
    @classmethod
    def _turns(cls, value: Any) -> Any:
        """Turns as "role: content", the form that the loop takes; ``null`` is no turn."""
        return [_turn(item) for item in cast(list[Any], value)] if isinstance(value, list) else value or ()


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

    @property
    def fingerprint(self) -> str:
        """Changes with anything that is read or asked, so that only runs over the same are compared."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]

    @property
    def findable(self) -> int:
        """Questions that have something to be found: the ones that retrieval is measured by."""
        return sum(question.answerable and bool(question.relevant_ids) for question in self.questions)

    @property
    def lost(self) -> list[str]:
        """Ids of answerable questions of which no golden row is in the corpus; they count as missed."""
        there = {row.id for row in self.corpus}
        return [q.id for q in self.questions if q.answerable and q.relevant_ids and not there & set(q.relevant_ids)]


def load(corpus: Path, queries: Path, holdout: Path | None = None) -> GoldenSet:
    """Read a golden set.

    Raises:
        EvalError: a file is missing, a line does not fit (the message names it), nothing is left to ask, or the
            questions are not about this corpus.
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
    golden = GoldenSet(corpus=rows, questions=questions)
    if golden.findable and len(golden.lost) == golden.findable:
        raise EvalError(f"None of the relevant_ids in {queries} is an id in {corpus}. Are they of the same set?")
    return golden


def _turn(item: Any) -> Any:
    if not isinstance(item, Mapping):
        return item
    turn = cast(Mapping[str, Any], item)
    text = turn.get("content", turn.get("text"))
    return f"{turn['role']}: {text}" if turn.get("role") and isinstance(text, str) else text


def _rows(path: Path, model: type[Row]) -> Iterator[Row]:
    seen: set[str] = set()
    # Not splitlines: JSON may hold U+2028 and its like as they are, and they end no line of the file.
    for number, line in enumerate(_read(path).split("\n"), start=1):
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
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise EvalError(f"{path} cannot be read: {error}.") from error
