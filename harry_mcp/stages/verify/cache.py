"""Which official answer, if any, serves a question, and why not another.

Two questions with a cosine of 0.99 may ask the opposite, so nearness only proposes. An exact match also needs that the
two differ in nothing that matters, that nothing which the answer cites has changed, that complaints have not degraded
it, and that a search for the new question finds what the answer rests on. What fails any of these is given as context,
with the reason. What an admin said "never this for that" of is not given at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harry_mcp.domain.counting import counted
from harry_mcp.domain.differences import Vocabulary, differences
from harry_mcp.domain.plain import folded, sanitised
from harry_mcp.domain.verified import CacheRules, Match, VerifiedMatch, degraded
from harry_mcp.settings import VerifySection
from harry_mcp.storage.verified import NearResponse

# Characters of a stored question that a reason quotes.
_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """An entry near to a question. ``documents`` are those that it rests on."""

    response: NearResponse
    cosine: float
    documents: frozenset[str] = frozenset()


def rules_of(settings: VerifySection) -> CacheRules:
    """The settings that decide how an entry is served."""
    return CacheRules(
        exact=settings.exact,
        partial=settings.partial,
        degrade=settings.degrade,
        retire=settings.retire,
        retire_negatives=settings.retire_negatives,
        wrong_bound=settings.wrong_bound,
    )


def choose(
    question: str, near: Sequence[Near], found: Sequence[str], settings: VerifySection, vocabulary: Vocabulary
) -> VerifiedMatch:
    """The best entry for a question; the first that is exact, else the nearest that is partial.

    ``near`` is the nearest first. ``found`` are the ids of the documents that a search for the question brings, best
    first.
    """
    rules = rules_of(settings)
    best = VerifiedMatch(match=Match.NONE, reason="No verified response is near to this question.")
    for item in near:
        if item.cosine < rules.partial:
            break
        if _refused(question, item, rules, vocabulary):
            if best.response is None:
                best = VerifiedMatch(match=Match.NONE, reason=_refusal(item.response))
            continue
        seen = found[: settings.evidence_hits] if settings.evidence_hits else None
        why = _against(question, item, seen, rules, vocabulary)
        if not why:
            return _match(Match.EXACT, item)
        if best.response is None:
            best = _match(Match.PARTIAL, item, why)
    return best


def _match(match: Match, item: Near, reason: str = "") -> VerifiedMatch:
    caveats = tuple(
        f"It rests on “{sanitised(title, _SHOWN)}”, which is flagged for review: it may be out of date or wrong."
        for title in item.response.flagged
    )
    return VerifiedMatch(match=match, response=item.response, cosine=item.cosine, reason=reason, caveats=caveats)


def _against(question: str, item: Near, found: Sequence[str] | None, rules: CacheRules, vocabulary: Vocabulary) -> str:
    """What speaks against serving an entry as the official answer; empty when nothing does."""
    entry = item.response
    if entry.held:
        return f"It is held back for review: {entry.held}."
    if degraded(entry.uses, entry.negatives, rules):
        return (
            f"{counted(entry.negatives, 'complaint')} about it {'stands' if entry.negatives == 1 else 'stand'} against "
            f"{counted(entry.uses, 'use')}."
        )
    if folded(question) == folded(entry.question):
        return ""
    bar = max(rules.exact, entry.threshold)
    if item.cosine < bar:
        return f"It answers a question that is near, not the same (cosine {item.cosine:.3f}, needed {bar:.3f})."
    differing = differences(question, entry.question, vocabulary=vocabulary)
    if differing.blocking:
        return f"It answers another question: {differing.blocking[0]}."
    if found is None:
        return f"It may answer another question: {differing.uncertain[0]}." if differing.uncertain else ""
    return _evidence_against(item.documents, found, doubt=str(differing.uncertain[0]) if differing.uncertain else "")


def _refused(question: str, item: Near, rules: CacheRules, vocabulary: Vocabulary) -> bool:
    """Whether a question is one that the entry must never answer, or that one in other words.

    In other words it is the one of the two questions that it is nearer to, or that it differs in nothing from.
    """
    entry = item.response
    if folded(question) == folded(entry.refused_question):
        return True
    if folded(question) == folded(entry.question) or entry.refused_cosine < rules.partial:
        return False
    if entry.refused_cosine >= item.cosine:
        return True
    same = entry.refused_cosine >= rules.exact
    return same and not differences(question, entry.refused_question, vocabulary=vocabulary)


def _refusal(entry: NearResponse) -> str:
    return f"A curator said that {entry.id} must never be served for “{sanitised(entry.refused_question, _SHOWN)}”."


def _evidence_against(documents: frozenset[str], found: Sequence[str], *, doubt: str) -> str:
    """What the search says: an answer's documents must be found for the question, first of all where words differ."""
    if not documents:
        return f"It may answer another question: {doubt}." if doubt else ""
    if documents.isdisjoint(found):
        return "A search for this question does not find the documents that it rests on."
    if doubt and documents.isdisjoint(found[:1]):
        return f"It may answer another question: {doubt}."
    return ""
