"""What of a conversation goes with the next question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harry_mcp.agent.answers import QUOTES, Answer, Outcome
from harry_mcp.domain.chat import Said
from harry_mcp.domain.plain import one_line, sanitised

# Code first, for an index in it is no number of a source.
_NUMBERS = re.compile(
    r"(?P<code>^[ ]*```.*?(?:^[ ]*```|\Z)|^[ ]*~~~.*?(?:^[ ]*~~~|\Z)|`+[^`\n]*`+)|\s?\[\d{1,3}(?:[,;]\s*\d{1,3})*\]",
    re.DOTALL | re.MULTILINE,
)
_QUOTED = re.compile(r"^>[ ]?(.*\S.*)$", re.MULTILINE)
_IN_HISTORY = 500


def unnumbered(text: str) -> str:
    """A text without the numbers of sources, which point at others in the next answer."""
    return _NUMBERS.sub(lambda found: found["code"] or "", text)


def said_before(answers: Sequence[Answer], *, turns: int, longest: int) -> list[Said]:
    """The last ``turns`` turns in their order, question and answer in pairs, each of at most ``longest`` characters.

    Numbers of sources are left out: those of then would point at others now.
    """
    first = max(0, len(answers) - (turns + 1) // 2)
    return [
        said
        for answer in answers[first:]
        for said in (
            Said("user", sanitised(answer.question, longest)),
            Said("assistant", sanitised(unnumbered(answer.text), longest)),
        )
    ]


def as_history(answers: Sequence[Answer], *, turns: int) -> list[str]:
    """The same as the ``history`` argument of ``search_kb``: what was asked, and what of the answers others said.

    Our own words around a quote are none of it, nor is an answer that only says that nothing is known: a search for
    them would find what nobody spoke of. The titles of the sources come first, for they say what it was about.
    """
    told = [answer for answer in answers if answer.outcome is not Outcome.REPLIED]
    history: list[str] = []
    for answer in told[max(0, len(told) - (turns + 1) // 2) :]:
        history.append(f"user: {one_line(answer.question, _IN_HISTORY)}")
        if essence := _essence(answer):
            history.append(f"assistant: {one_line(essence, _IN_HISTORY)}")
    return history


def _essence(answer: Answer) -> str:
    """What an answer was made from, then what it says."""
    titles = [source.title for source in answer.sources if source.title and source.kind != "correction"]
    text = unnumbered(answer.text)
    if answer.outcome is Outcome.NOT_KNOWN:
        text = ""
    elif answer.written_by == QUOTES:
        text = " ".join((*answer.corrections, *_QUOTED.findall(text)))
    return ". ".join(part for part in ("; ".join(dict.fromkeys(titles)), text.strip()) if part)
