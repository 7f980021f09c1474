"""Whether a correction stands against an official answer: it came later, answers the same question, and says another
thing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harry_mcp.domain.corrections import Correction
from harry_mcp.domain.differences import Vocabulary
from harry_mcp.domain.sentences import sentences
from harry_mcp.domain.verified import Match, VerifiedMatch, VerifiedResponse
from harry_mcp.stages.verify.spoken import denies, keys, leans, question_of


def unless_outdated(match: VerifiedMatch, corrections: Sequence[Correction]) -> VerifiedMatch:
    """An exact match as a partial one, with the reason, where a correction stands against it; else as it is.

    ``corrections`` are the active ones that answer the question.
    """
    entry = match.response
    if match.match is not Match.EXACT or entry is None:
        return match
    against = next((each for each in corrections if _stands_against(entry, each)), None)
    if against is None:
        return match
    since = f"{against.updated_at:%Y-%m-%d}"
    reason = f"The correction {against.id} of {since} is newer than its approval and says otherwise."
    return replace(match, match=Match.PARTIAL, reason=reason)


def _stands_against(entry: VerifiedResponse, correction: Correction) -> bool:
    # From the last time that somebody said it, or decided that it counts.
    newer = entry.approved_at is None or correction.updated_at > entry.approved_at
    return newer and not _says_so(entry.answer, correction)


def _says_so(answer: str, correction: Correction) -> bool:
    """Whether a sentence of an answer has every word of what is so, and denies as much.

    Of a lesson that leans on its question the sentence must be on that one: "It costs 19 euro" may be said of another.
    """
    said = [each.plain for each in sentences(answer)]
    if leans(correction) and len(said) > 1:
        said = [each for each in said if question_of(each, correction, Vocabulary())]
    texts = [text for text in (correction.truth, correction.lesson) if keys(text)]
    return any(keys(text) <= keys(each) and denies(text) == denies(each) for text in texts for each in said)
