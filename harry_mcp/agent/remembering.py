"""What of a conversation goes with the next question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harry_mcp.agent.answers import Answer
from harry_mcp.domain.chat import Said
from harry_mcp.domain.plain import one_line, sanitised

_NUMBERS = re.compile(r"\s?\[\d{1,3}(?:,\s*\d{1,3})*\]")
_IN_HISTORY = 500


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
            Said("assistant", sanitised(_NUMBERS.sub("", answer.text), longest)),
        )
    ]


def as_history(said: Sequence[Said]) -> list[str]:
    """The same as the ``history`` argument of ``search_kb``."""
    return [f"{each.role}: {one_line(each.text, _IN_HISTORY)}" for each in said]
