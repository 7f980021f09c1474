"""What memories say of one question, and of the same question in the words of a conversation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from harry_mcp.domain.corrections import Relevant
from harry_mcp.domain.differences import Vocabulary
from harry_mcp.domain.feedback import PastFailure
from harry_mcp.domain.search import gap_id
from harry_mcp.domain.verified import Match, VerifiedMatch
from harry_mcp.stages.verify.cache import Near


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is remembered of one question."""

    verified: VerifiedMatch
    corrections: tuple[Relevant, ...] = ()
    failures: tuple[PastFailure, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearby:
    """What lies near to a question in the memories, before it is known what a search for it finds."""

    verified: tuple[Near, ...] = ()
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    corrections: tuple[Relevant, ...] = ()
    failures: tuple[PastFailure, ...] = ()
    also: Also | None = None


@dataclass(frozen=True, slots=True)
class Also:
    """A follow-up as it was typed, what lies near to those words, and the documents that they find, best first."""

    question: str
    nearby: Nearby
    found: Sequence[str]


def joined(
    own: Remembered, typed: Remembered, *, question: str, select: Callable[[Sequence[Relevant]], tuple[Relevant, ...]]
) -> Remembered:
    """What is remembered of a follow-up that was written out, with what was said of just the words that were ``typed``.

    What is only near to those is left out, for they point at many things. ``question`` are those words; ``select``
    keeps corrections within their budget.
    """
    exact = typed.verified.match is Match.EXACT and own.verified.match is not Match.EXACT
    held = {item.correction.id for item in own.corrections if item.same_question}
    more = [item for item in typed.corrections if item.same_question and item.correction.id not in held]
    replaced = {item.correction.id for item in more}
    beside = [item for item in own.corrections if item.correction.id not in replaced]
    known = {failure.id for failure in own.failures}
    same = [each for each in typed.failures if each.id not in known and gap_id(each.question) == gap_id(question)]
    return Remembered(
        typed.verified if exact else own.verified,
        select([*beside, *more]) if more else own.corrections,
        (*own.failures, *same),
    )
