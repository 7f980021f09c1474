"""Two passages in all but the same words: copies of one, or variants that tell different things?

Copies may stand for one another. Variants may not: one number, name or "not" in a thousand characters is another fact.
"""

from __future__ import annotations

import functools

from harry_mcp.domain.alignment import Aligned, changed_statements
from harry_mcp.domain.differences import Kind, differences
from harry_mcp.domain.disagreeing import denied, siblings
from harry_mcp.domain.plain import one_line
from harry_mcp.domain.search import Passage
from harry_mcp.domain.tokens import index_terms

_TITLE = 80


@functools.lru_cache(maxsize=1000)  # the same passages are found for many questions
def changed(here: str, there: str) -> tuple[Aligned, ...]:
    """The statements that differ in a way that matters, empty for copies. A side is empty where one has no other."""
    if here == there:
        return ()
    return tuple(pair for pair in changed_statements(here, there) if differences(pair.before, pair.after).blocking)


def contradict(question: str, here: Passage, there: Passage) -> bool:
    """Whether two passages of different documents deny each other in what a question is about.

    Pages about two versions or editions do not, and neither do statements that share no word with the question, where
    others of the passage share some.
    """
    if here.document_id == there.document_id or siblings((here.title, there.title)):
        return False
    pairs = [pair for pair in changed(here.raw_content, there.raw_content) if _deny(pair)]
    if not pairs:
        return False
    asked = set(index_terms(question))
    return any(asked & set(index_terms(pair.before)) for pair in pairs) or not asked & set(
        index_terms(here.raw_content)
    )


def told_otherwise(other: Passage) -> str:
    """The caveat of a passage that another one denies."""
    return (
        f"Another page says otherwise about this: “{one_line(other.title, _TITLE)}” ({other.document_id}). "
        "Tell both, and that they contradict each other."
    )


def _deny(pair: Aligned) -> bool:
    if not (pair.before and pair.after):
        return False
    found = differences(pair.before, pair.after).found
    return bool(denied(pair.before, pair.after)) or all(each.kind is Kind.OPPOSITE and each.certain for each in found)
