"""The score contract as the agent reads it: what it needs of a tool's structured result, and no more.

Any server may answer. What is missing counts as empty, and a verdict that says nothing counts as a weak one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from harry_mcp.errors import ToolFailed

_ACTIONS = ("answer", "answer_with_care", "reply", "call_web_fallback")


def _known_action(value: object) -> object:
    """An action that nobody heard of is the careful one."""
    return value if value in _ACTIONS else _ACTIONS[-1]


def _known_web_action(value: object) -> object:
    return value if value == "answer_from_web_with_care" else "say_you_do_not_know"


NextAction = Annotated[
    Literal["answer", "answer_with_care", "reply", "call_web_fallback"], BeforeValidator(_known_action)
]
WebAction = Annotated[Literal["answer_from_web_with_care", "say_you_do_not_know"], BeforeValidator(_known_web_action)]

_DOING = {
    "search_kb": "the search",
    "web_fallback": "the search of the web",
    "read_document": "reading a document",
    "submit_feedback": "your feedback",
    "submit_correction": "your correction",
}


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


Shape = TypeVar("Shape", bound=_Read)


class Verdict(_Read):
    """How far the result can be trusted. It decides what the agent does."""

    score: float = 0.0
    answerable: float = 0.0
    band: str = "weak"
    next_action: NextAction = "call_web_fallback"
    reason: str = ""


class Hit(_Read):
    """A passage."""

    score: float = 0.0
    band: str = "weak"
    title: str = ""
    url: str = ""
    source: str = ""
    heading: str = ""
    text: str = ""
    document_id: str = ""
    caveats: tuple[str, ...] = ()


class OfficialSource(_Read):
    """What an official answer rests on."""

    title: str = ""
    url: str = ""
    document_id: str = ""


class Official(_Read):
    """The official answer, if there is one."""

    match: str = "none"
    lookup_id: str = ""
    question: str = ""
    answer: str = ""
    sources: tuple[OfficialSource, ...] = ()
    approved_by: str = ""
    similarity: float = 0.0
    reason: str = ""
    caveats: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        return self.match == "exact" and bool(self.answer.strip())


class CorrectionNote(_Read):
    """A correction that bears on the question."""

    correction_id: str = ""
    lesson: str = ""
    wrong: str = ""
    truth: str = ""
    source_url: str = ""
    contradicts: str = ""
    asked: str = ""
    answers: bool = False

    @property
    def said(self) -> str:
        """The lesson, behind the question that it was made on where it needs one."""
        lesson = self.lesson or self.truth
        return f"“{self.asked}” – {lesson}" if self.asked else lesson


class Failure(_Read):
    """A question like this one that was answered badly before."""

    question: str = ""
    reason: str = ""
    comment: str = ""


class SearchResult(_Read):
    """What ``search_kb`` returns."""

    status: str = "ok"
    search_id: str = ""
    query: str = ""
    verdict: Verdict
    verified: Official = Official()
    hits: tuple[Hit, ...] = ()
    corrections: tuple[CorrectionNote, ...] = ()
    past_failures: tuple[Failure, ...] = ()
    gap_id: str = ""
    degraded: tuple[str, ...] = ()


class WebPage(_Read):
    """A page of the web."""

    score: float = 0.0
    title: str = ""
    url: str = ""
    text: str = ""
    caveats: tuple[str, ...] = ()


class WebResult(_Read):
    """What ``web_fallback`` returns."""

    status: str = "ok"
    web_id: str = ""
    next_action: WebAction = "say_you_do_not_know"
    reason: str = ""
    results: tuple[WebPage, ...] = ()
    gap_id: str = ""
    setup: tuple[str, ...] = ()


class Rated(_Read):
    """What ``submit_feedback`` returns."""

    feedback_id: str = ""
    effects: tuple[str, ...] = ()


class Stored(_Read):
    """A correction as it is kept."""

    lesson: str = ""
    status: str = ""
    status_reason: str = ""


class Submission(_Read):
    """What became of one lesson."""

    outcome: str = ""
    correction: Stored = Stored()
    redacted: int = 0


class Submitted(_Read):
    """What ``submit_correction`` returns."""

    submissions: tuple[Submission, ...] = Field(default=())


def read(shape: type[Shape], tool: str, structured: Mapping[str, Any] | None) -> Shape:
    """A tool's structured result as far as the agent needs it.

    Raises:
        ToolFailed: the server does not speak the contract.
    """
    if structured is None:
        raise ToolFailed(f"The server does not speak harry's contract: {doing(tool)} gave no structured result.")
    try:
        return shape.model_validate(dict(structured))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole"
        fault = f"{where} of what {doing(tool)} gave: {first['msg'].rstrip('.')}"
        raise ToolFailed(f"The server does not speak harry's contract: {fault}.") from None


def doing(tool: str) -> str:
    """What a tool does, for people, who know no tools."""
    return _DOING.get(tool, tool)
