"""What a person says of an answer, in the words in which the server takes it: thumbs and corrections."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from harry_mcp.agent.answers import Answer, Outcome
from harry_mcp.agent.connection import Connection
from harry_mcp.agent.contract import Rated, Submission, Submitted, read
from harry_mcp.domain.content import names_something
from harry_mcp.domain.counting import counted
from harry_mcp.domain.plain import one_line, sanitised
from harry_mcp.errors import InputError, ToolFailed

FEEDBACK, CORRECTION = "submit_feedback", "submit_correction"
REASONS = ("wrong", "outdated", "incomplete", "irrelevant", "bad_source", "other")
# Reasons for which the page is to blame, where the answer rests on one alone.
_OF_THE_PAGE = ("wrong", "outdated", "bad_source")
_NUMBER = re.compile(r"\[?(\d{1,3})\]?,?")
_ARROW = re.compile(r"\s*(?:=>|->|→)\s*")
_PRAISE_ONLY = (
    "Your praise is noted. No candidate for an official answer is made of it, for the answer is to be taken with care."
)
_NOTED = "Noted."
_NO_REASON = (
    f"/down needs a reason first: {', '.join(REASONS[:-1])} or {REASONS[-1]}. Then the numbers of the sources to "
    "blame, and words, as you like. Nothing was sent."
)
_OUTCOMES = {
    "created": "Stored",
    "repeated": "It was there already, word for word",
    "merged": "Counted for one that says the same",
}


class ReportKind(StrEnum):
    """What a report is; also the command of the chat that makes it."""

    UP = "up"
    DOWN = "down"
    CORRECTION = "correct"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was said of an answer, ready to be sent. ``text`` is what stood behind the command."""

    kind: ReportKind
    text: str
    about: Answer
    arguments: Mapping[str, Any]

    @property
    def line(self) -> str:
        """As it was typed."""
        return f"/{self.kind} {self.text}".rstrip()

    def replaced_by(self, later: Report) -> bool:
        """Whether a later report says the same kind of thing of the same answer."""
        return self.kind is later.kind and self.about is later.about


@dataclass(frozen=True, slots=True)
class Complaint:
    """``/down reason [numbers of sources] [words]`` in its parts.

    Raises:
        InputError: it does not begin with a reason.
    """

    reason: str
    blamed: tuple[int, ...]
    comment: str

    @classmethod
    def of(cls, text: str) -> Complaint:
        words = text.split()
        reason = words.pop(0).lower().rstrip(":,.") if words else ""
        if reason not in REASONS:
            raise InputError(f"“{one_line(reason, 40)}” is no reason. {_NO_REASON}" if reason else _NO_REASON)
        blamed: list[int] = []
        while words and (number := _NUMBER.fullmatch(words[0])):
            blamed.append(int(number[1]))
            words.pop(0)
        return cls(reason, tuple(blamed), " ".join(words))


def praising(answer: Answer) -> Report:
    """Thumbs up: what the answer says becomes a candidate for an official one, where it may.

    Raises:
        InputError: there is nothing in it to praise.
    """
    if answer.outcome in (Outcome.NOT_KNOWN, Outcome.REPLIED):
        raise InputError(
            "The last question got no answer that could become an official one. Say what is true with /correct, or why "
            "that is no good with /down."
        )
    arguments: dict[str, Any] = {"result_id": _result(answer), "rating": "up"}
    if answer.proposal is not None:
        arguments["answer"] = sanitised(answer.proposal.text, 8000)
        arguments["source_urls"] = list(answer.proposal.rests_on[:20])
    return Report(kind=ReportKind.UP, text="", about=answer, arguments=arguments)


def complaining(answer: Answer, text: str) -> Report:
    """Thumbs down, with a reason and the sources to blame.

    Raises:
        InputError: it names no reason, or blames a source that the answer does not have.
    """
    said = Complaint.of(text)
    # A page without an address, such as a file, goes by the name that the server knows it by.
    places = {source.number: source.where for source in answer.sources if source.kind != "correction"}
    for number in said.blamed:
        if not places.get(number):
            raise InputError(f"The answer has no source [{number}] that is a document. /sources lists them.")
    blamed = [places[number] for number in said.blamed]
    pages = [place for place in places.values() if place]
    if not blamed and len(pages) == 1 and said.reason in _OF_THE_PAGE:
        blamed = pages
    arguments = {
        "result_id": _result(answer),
        "rating": "down",
        "reason": said.reason,
        "comment": sanitised(said.comment, 2000),
        "source_urls": blamed,
    }
    return Report(kind=ReportKind.DOWN, text=text.strip(), about=answer, arguments=arguments)


def correcting(answer: Answer | None, text: str) -> Report:
    """``what was wrong => what is true``, or what is true alone, against the last answer.

    Raises:
        InputError: there is no answer, or nothing that could be remembered.
    """
    if answer is None:
        raise InputError("There is no answer yet to correct. Ask a question first.")
    wrong, truth = _parted(text)
    if not truth:
        raise InputError("Say what is true: /correct WRONG => TRUE, or /correct TRUE.")
    if not names_something(truth):
        raise InputError(
            "That names nothing that it is true of. Write a sentence that stands alone, like: /correct The API limit "
            "is 600 requests a minute."
        )
    if not wrong:
        known = answer.outcome is not Outcome.NOT_KNOWN
        wrong = one_line(answer.text if known else f"It is not known: {answer.question}", 1000)
    arguments: dict[str, Any] = {"wrong": wrong, "truth": truth, "lesson": one_line(truth, 1000)}
    if answer.search_id:
        arguments["result_id"] = answer.search_id
    return Report(kind=ReportKind.CORRECTION, text=text.strip(), about=answer, arguments=arguments)


async def delivered(connection: Connection, report: Report) -> list[str]:
    """Send a report; what became of it, in sentences.

    Raises:
        ToolFailed: the server does not take it.
        ServerUnavailable: nobody knows that it arrived.
    """
    if report.kind is ReportKind.CORRECTION:
        stored = read(Submitted, CORRECTION, await _called(connection, CORRECTION, report.arguments))
        return [_told(each) for each in stored.submissions] or ["It was sent."]
    rated = read(Rated, FEEDBACK, await _called(connection, FEEDBACK, report.arguments))
    effects = [one_line(effect, 500) for effect in rated.effects]
    if report.kind is ReportKind.UP and "answer" not in report.arguments:
        return [*effects, _PRAISE_ONLY]
    return effects or [_NOTED]


async def praise(connection: Connection, answer: Answer) -> list[str]:
    """:func:`praising`, sent at once."""
    return await delivered(connection, praising(answer))


async def complain(connection: Connection, answer: Answer, text: str) -> list[str]:
    """:func:`complaining`, sent at once."""
    return await delivered(connection, complaining(answer, text))


async def correct(connection: Connection, answer: Answer | None, text: str) -> list[str]:
    """:func:`correcting`, sent at once."""
    return await delivered(connection, correcting(answer, text))


def _told(each: Submission) -> str:
    """What became of a lesson: the server's own words for it are for agents."""
    kept = each.correction
    reason = f": {one_line(kept.status_reason, 300).rstrip('. ')}" if kept.status_reason else ""
    stands = {
        "active": "it counts from the next question on",
        "pending": f"it waits for review{reason}",
        "deprecated": f"it was given up{reason}",
    }.get(kept.status, one_line(kept.status, 40))
    were = "was" if each.redacted == 1 else "were"
    private = f" {counted(each.redacted, 'private detail')} {were} taken out of it." if each.redacted else ""
    done = _OUTCOMES.get(each.outcome, one_line(each.outcome, 40))
    return f"{done}; {stands}.{private}\n  “{one_line(kept.lesson, 500)}”"


def _parted(text: str) -> tuple[str, str]:
    parts = _ARROW.split(sanitised(text, 4000), maxsplit=1)
    if len(parts) == 2:
        return parts[0].strip(), parts[1].strip()
    return "", parts[0].strip()


async def _called(connection: Connection, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if tool not in await connection.tools():
        raise ToolFailed("This server takes nothing of the kind from you. Your role there may be too low.")
    return (await connection.call(tool, arguments)).structured


def _result(answer: Answer) -> str:
    if not answer.result_id:
        raise InputError("The server gave this answer no name, so it cannot be rated.")
    return answer.result_id
