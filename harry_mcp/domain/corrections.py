"""Corrections: what was wrong, what is true, and the one line to remember."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class CorrectionStatus(StrEnum):
    """Only ``active`` ones reach an agent. None is ever deleted."""

    PENDING = "pending"
    ACTIVE = "active"
    DEPRECATED = "deprecated"


class SubmissionOutcome(StrEnum):
    """What became of a submission: a new lesson, one that was there word for word, or one that says the same."""

    CREATED = "created"
    REPEATED = "repeated"
    MERGED = "merged"


class CorrectionAction(StrEnum):
    """What a curator may do with a correction."""

    APPROVE = "approve"
    DEPRECATE = "deprecate"
    REOPEN = "reopen"
    PROMOTE = "promote"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """A correction before it is stored: one statement about one thing.

    ``topic`` is a topic or a kind of task; ``wrong`` what was said, ``truth`` what is so, ``line`` the one to remember.
    """

    wrong: str
    truth: str
    line: str
    topic: str = ""
    source_url: str = ""

    @property
    def id(self) -> str:
        """``cor_`` and 20 hex digits of the SHA-256 of what it says; letter case and spacing aside."""
        parts = (self.topic, self.wrong, self.truth, self.line)
        key = "\x00".join(" ".join(part.casefold().split()) for part in parts)
        return "cor_" + hashlib.sha256(key.encode()).hexdigest()[:20]

    @property
    def faces(self) -> tuple[str, ...]:
        """The texts that its vector is the mean of."""
        return faces(topic=self.topic, line=self.line, wrong=self.wrong, truth=self.truth)


def faces(*, topic: str, line: str, wrong: str, truth: str) -> tuple[str, ...]:
    """The texts whose mean is the vector of a correction: the lesson with its topic and without, what is so, what was
    said.

    A question resembles what its asker believes, or what he wants to hear, as often as the lesson. On the golden set of
    EVL-5 the lesson with its topic alone tells right from wrong with an AUROC of 0.76, the mean of these with 0.87.
    """
    return f"{topic}: {line}" if topic else line, line, truth, wrong


def asked_id(correction_id: str, question: str) -> str:
    """The name of a question at a correction that was made on it; letter case and spacing aside."""
    key = " ".join(question.casefold().split())
    return f"{correction_id}.{hashlib.sha256(key.encode()).hexdigest()[:12]}"


def correction_of(asked: str) -> str:
    """The id of the correction in what :func:`asked_id` made."""
    return asked.rpartition(".")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A stored correction. ``reports`` counts submissions, ``reporters`` the people behind them.

    ``questions`` are those that it was made on, the first one first.
    """

    id: str
    topic: str
    wrong: str
    truth: str
    lesson: str
    source_url: str
    status: CorrectionStatus
    status_reason: str
    author: str
    decided_by: str
    document_id: str
    created_at: datetime
    updated_at: datetime
    reports: int
    reporters: int
    questions: tuple[str, ...] = ()

    @property
    def faces(self) -> tuple[str, ...]:
        """The texts that its vector is the mean of."""
        return faces(topic=self.topic, line=self.lesson, wrong=self.wrong, truth=self.truth)


@dataclass(frozen=True, slots=True, kw_only=True)
class Relevant:
    """An active correction that bears on a question. ``relevance`` in [0, 1] orders; it is no chance.

    ``contradicts`` names a newer one among those selected that says something else about the same thing, or is empty.
    ``same_question``: it was made on this very question. ``other_subject``: it was made on a question about another
    thing, and names that one. ``asked`` is the question that it was made on where the lesson
    alone does not say what it speaks of, or empty. ``answers``: it is the answer to the question; one that is not may
    have to do with it, no more.
    """

    correction: Correction
    relevance: float
    contradicts: str = ""
    same_question: bool = False
    other_subject: bool = False
    asked: str = ""
    answers: bool = False


@dataclass(frozen=True, slots=True)
class TouchedAnswer:
    """An answer that a correction went into."""

    result_id: str
    question: str
    relevance: float
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionChange:
    """A past question whose answer a correction would go into from then on, or no longer would."""

    question: str
    asked: int
    goes_in: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonPreview:
    """What a decision about a correction would do. Nothing was done.

    ``asked`` past questions that it bears on were tried; ``changes`` are those that it would go into or leave.
    ``unasked`` more were not tried. ``effects`` says what else would follow, in sentences.
    """

    changes: tuple[QuestionChange, ...] = ()
    asked: int = 0
    unasked: int = 0
    note: str = ""
    effects: tuple[str, ...] = ()
