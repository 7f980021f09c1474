"""What the score contract says is to be done. Pure rules; no model has a say in them."""

from __future__ import annotations

import re
from enum import StrEnum

from harry_mcp.agent.contract import SearchResult, WebResult

_CODE = re.compile(
    r"```|~~~|^\s{4,}\S.*[;{}()]\s*$|Traceback \(most recent|\w+\(\w*\)|=>|::|</?\w+>|[{};]\s*$", re.MULTILINE
)
_IDENTIFIER = re.compile(r"\b[a-z]+[A-Z]\w*|\b\w+_\w+\b|`[^`\n]+`|\b\w+\.\w+\(|\b[A-Z]\w*(?:Error|Exception)\b")
_ABOUT_CODE = re.compile(
    r"\b(?:code|snippet|script|function|method|class|regex|query|sql|python|javascript|typescript|java|rust|golang|"
    r"bash|shell|curl|json|yaml|api call|sdk|compile|refactor|debug|stack trace|exception|implement|library|import)\b",
    re.IGNORECASE,
)
_BLOCK = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)


class Course(StrEnum):
    """How a question is answered."""

    OFFICIAL = "official"
    ANSWER = "answer"
    CARE = "care"
    DISPUTED = "disputed"
    WEB = "web"
    CORRECTIONS = "corrections"
    NOTHING = "nothing"
    REPLY = "reply"


CARE_NOTES = {
    Course.CARE: "The knowledge base covers this only in part (score {score:.2f}).",
    Course.DISPUTED: "Documents contradict each other about this, and it is open which is right (score {score:.2f}).",
}
"""What is told beside an answer that is to be taken with care."""


def wants_web(search: SearchResult) -> bool:
    """Whether the web is to be asked before all else: also where a verdict praises hits that are not there."""
    if search.verified.exact or search.verdict.next_action == "reply":
        return False
    return search.verdict.next_action == "call_web_fallback" or not search.hits


def may_ask_web(search: SearchResult) -> bool:
    """Whether a model may ask the web: not where the hits answer the question."""
    return wants_web(search) or search.verdict.next_action == "answer_with_care"


def course_of(search: SearchResult, web: WebResult | None) -> Course:
    """The course for the results of both tools; ``web`` is None where it was not asked.

    A correction that only may have to do with the question is no answer to it.
    """
    if search.verified.exact:
        return Course.OFFICIAL
    if search.verdict.next_action == "reply":
        return Course.REPLY
    if not wants_web(search):
        if search.verdict.next_action == "answer":
            return Course.ANSWER
        # Strong and still to be taken with care: the answer is there, and something speaks against it.
        return Course.DISPUTED if search.verdict.band == "strong" else Course.CARE
    if web is not None and web.next_action == "answer_from_web_with_care" and web.results:
        return Course.WEB
    return Course.CORRECTIONS if any(each.answers for each in search.corrections) else Course.NOTHING


def code_heavy(question: str, search: SearchResult) -> bool:
    """Whether a question is mostly about code: it holds code, or it speaks of code and the best hits are code."""
    if _CODE.search(question):
        return True
    signs = len(_IDENTIFIER.findall(question)) + len(_ABOUT_CODE.findall(question))
    in_hits = any(_BLOCK.search(hit.text) for hit in search.hits[:2])
    return signs >= 2 or (signs == 1 and in_hits)
