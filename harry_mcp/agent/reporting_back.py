"""What a person says of an answer, taken back to the server: thumbs and corrections."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harry_mcp.agent.answers import Answer
from harry_mcp.agent.connection import Connection
from harry_mcp.agent.contract import Rated, Submitted, read
from harry_mcp.domain.plain import one_line, sanitised
from harry_mcp.errors import InputError, ToolFailed

FEEDBACK, CORRECTION = "submit_feedback", "submit_correction"
REASONS = ("wrong", "outdated", "incomplete", "irrelevant", "bad_source", "other")
# Reasons for which the page is to blame, where the answer rests on one alone.
_OF_THE_PAGE = ("wrong", "outdated", "bad_source")
_NUMBER = re.compile(r"\[?(\d{1,3})\]?,?")
_ARROW = re.compile(r"\s*(?:=>|->|→)\s*")


@dataclass(frozen=True, slots=True)
class Complaint:
    """``/down [reason] [numbers of sources] [words]`` in its parts."""

    reason: str
    blamed: tuple[int, ...]
    comment: str

    @classmethod
    def of(cls, text: str) -> Complaint:
        words = text.split()
        reason = words.pop(0).lower().rstrip(":,.") if words and words[0].lower().rstrip(":,.") in REASONS else "other"
        blamed: list[int] = []
        while words and (number := _NUMBER.fullmatch(words[0])):
            blamed.append(int(number[1]))
            words.pop(0)
        return cls(reason, tuple(blamed), " ".join(words))


async def praise(connection: Connection, answer: Answer) -> list[str]:
    """Thumbs up: the answer becomes a candidate for an official one. What was done about it.

    Raises:
        ToolFailed, ServerUnavailable: nothing was stored.
    """
    arguments = {
        "result_id": _result(answer),
        "rating": "up",
        "answer": sanitised(answer.text, 8000),
        "source_urls": [source.url for source in answer.sources if source.url][:20],
    }
    return await _rated(connection, arguments)


async def complain(connection: Connection, answer: Answer, text: str) -> list[str]:
    """Thumbs down, with a reason and the sources to blame. What was done about it.

    Raises:
        InputError: it blames a source that the answer does not have.
        ToolFailed, ServerUnavailable: nothing was stored.
    """
    said = Complaint.of(text)
    urls = {source.number: source.url for source in answer.sources}
    for number in said.blamed:
        if not urls.get(number):
            raise InputError(f"The answer has no source [{number}] with an address. /sources lists them.")
    blamed = [urls[number] for number in said.blamed]
    pages = [url for url in urls.values() if url]
    if not blamed and len(pages) == 1 and said.reason in _OF_THE_PAGE:
        blamed = pages
    arguments = {
        "result_id": _result(answer),
        "rating": "down",
        "reason": said.reason,
        "comment": sanitised(said.comment, 2000),
        "source_urls": blamed,
    }
    return await _rated(connection, arguments)


async def correct(connection: Connection, answer: Answer | None, text: str) -> list[str]:
    """``what was wrong => what is true``, or what is true alone, against the last answer. What became of it.

    Raises:
        InputError: there is nothing to store.
        ToolFailed, ServerUnavailable: nothing was stored.
    """
    wrong, found, truth = _parted(text)
    if not truth:
        raise InputError("Say what is true: /correct WRONG => TRUE, or /correct TRUE.")
    if not found:
        if answer is None:
            raise InputError("There is no answer yet to correct. Say both: /correct WRONG => TRUE.")
        wrong = one_line(answer.text, 1000)
    arguments: dict[str, Any] = {"wrong": wrong, "truth": truth, "lesson": one_line(truth, 1000)}
    if answer is not None:
        arguments["result_id"] = answer.search_id
    result = await _called(connection, CORRECTION, arguments)
    stored = read(Submitted, CORRECTION, result)
    told = [
        f"{one_line(each.outcome, 40)}: {one_line(each.correction.lesson, 500)} "
        f"({one_line(each.correction.status, 40)})"
        for each in stored.submissions
    ]
    return [*told, one_line(stored.next_step, 500)]


def _parted(text: str) -> tuple[str, bool, str]:
    parts = _ARROW.split(sanitised(text, 4000), maxsplit=1)
    if len(parts) == 2:
        return parts[0].strip(), bool(parts[0].strip()), parts[1].strip()
    return "", False, parts[0].strip()


async def _rated(connection: Connection, arguments: Mapping[str, Any]) -> list[str]:
    result = read(Rated, FEEDBACK, await _called(connection, FEEDBACK, arguments))
    return [one_line(effect, 500) for effect in result.effects] or ["Noted."]


async def _called(connection: Connection, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if tool not in await connection.tools():
        raise ToolFailed(f"This server takes none from you: it has no tool {tool}. Your role there may be too low.")
    return (await connection.call(tool, arguments)).structured


def _result(answer: Answer) -> str:
    if not answer.result_id:
        raise ToolFailed("The server gave this answer no name, so it cannot be rated.")
    return answer.result_id
