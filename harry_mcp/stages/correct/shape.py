"""Attacks by how a text is built: example turns that end in an open question, overload, one word repeated."""

from __future__ import annotations

import regex

from harry_mcp.stages.correct.findings import Finding, excerpt

_QUESTION = regex.compile(r"[^.?!\n]{8,140}\?")
_TURN = regex.compile(r"(?:^|\s)Q\s*:")
_ANSWER = regex.compile(r"(?:^|\s)A\s*:")
_RUN = regex.compile(r"(?<!\S)(\S{3,40})(?:\s+\1(?!\S)){6,}")
# A correction states; one that asks this many things is something else.
_MANY_QUESTIONS = 4


def shaped(text: str) -> list[Finding]:
    found: list[Finding] = []
    turns = list(_TURN.finditer(text))
    if len(turns) > 1 and _ANSWER.search(text) and not _ANSWER.search(text, turns[-1].start()):
        words = excerpt(text, turns[-1].start(), len(text))
        says = "It shows answered questions and leaves the last one open."
        found.append(Finding(name="few-shot", says=says, weight=0.6, excerpt=words))
    questions = list(_QUESTION.finditer(text))
    if len(questions) >= _MANY_QUESTIONS and not turns:
        words = excerpt(text, questions[0].start(), questions[-1].end())
        says = "It asks many questions where a correction states something."
        found.append(Finding(name="overload", says=says, weight=0.5, excerpt=words))
    run = _RUN.search(text)
    if run:
        words = excerpt(text, run.start(), run.end())
        found.append(Finding(name="repetition", says="It repeats one word over and over.", weight=0.6, excerpt=words))
    return found
