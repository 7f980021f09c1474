"""What is to be noted beside an answer: what was not read of the question, and what went wrong before."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from harry_mcp.agent.contract import SearchResult
from harry_mcp.domain.plain import one_line

# A search takes courtesies off both ends of a question and adds words behind it; a rewritten one shares few words.
_SHARED_WORDS = 10
_COURTESY = 100
_MEASURED = re.compile(r"\s*\([^()]*\d[^()]*\)")


def unread(question: str, searched: str) -> list[str]:
    """A note where a search read only the beginning of a question: a long one is cut."""
    asked, took = question.split(), searched.split()
    same = SequenceMatcher(None, asked, took, autojunk=False).find_longest_match()
    left = " ".join(asked[same.a + same.size :])
    if same.size < _SHARED_WORDS or len(left) <= _COURTESY:
        return []
    last = one_line(" ".join(asked[: same.a + same.size][-5:]), 100)
    return [
        f"The question is long, and the search read it only up to “… {last}”. Ask the rest as a question of its own."
    ]


def past_warnings(search: SearchResult) -> list[str]:
    """An official answer to a question near this one, and complaints about answers to ones like it."""
    warned: list[str] = []
    near = search.verified
    if near.match == "partial" and near.answer:
        # What it measured says nothing to people.
        differs = _MEASURED.sub("", one_line(near.reason, 200))
        warned.append(f"There is an official answer to “{one_line(near.question, 200)}”. {differs}".rstrip())
    if search.past_failures:
        first = search.past_failures[0]
        said = f" ({one_line(first.comment, 200)})" if first.comment else ""
        reason = one_line(first.reason, 40).replace("_", " ")
        warned.append(f"An earlier answer to a question like this was complained of: {reason}{said}.")
    return warned
