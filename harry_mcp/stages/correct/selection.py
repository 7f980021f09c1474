"""Which corrections bear on a question: few, or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from harry_mcp.domain.content import names_something
from harry_mcp.domain.corrections import Correction, Relevant, asked_id
from harry_mcp.domain.differences import Kind, Vocabulary, differences
from harry_mcp.domain.tokens import STOP_WORDS, index_terms
from harry_mcp.stages.correct.asking import Subject, same_question, shown, subject_of, text_of

# Questions in other words share few words with a lesson, so meaning counts most; the rest tells an error code or a
# product from its neighbour. Cross-validated on the golden set of EVL-5: 0.85 to 1.0 do equally well, 0.7 finds a tenth
# fewer.
_MEANING = 0.9
# One that bears this much less on the question than the best is about something near it. On the same set this takes a
# third of the needless ones away and loses none that was wanted.
_BESIDE_BEST = 0.7
# Lessons that share so many of their words speak of one thing, and one of them is out of date.
_SAME_THING = 0.5
NOTHING_KNOWN = Vocabulary()


def relevance(question: str, correction: Correction, cosine: float) -> float:
    """How far a correction bears on a question, 0 to 1: meaning, and the share of the question's words in it."""
    wanted = _words(question)
    held = _words(text_of(correction))
    share = len(wanted & held) / len(wanted) if wanted else 0.0
    return max(0.0, min(1.0, _MEANING * cosine + (1 - _MEANING) * share))


def bearing(
    question: str,
    correction: Correction,
    cosine: float,
    asked: Mapping[str, float],
    *,
    floor: float,
    same: float,
    vocabulary: Vocabulary = NOTHING_KNOWN,
) -> Relevant | None:
    """A correction with its relevance to a question, or None where it does not bear on it.

    ``cosine`` is that to the lesson, ``asked`` those to questions that corrections were made on, by ``asked_id``. From
    ``same`` on such a question may be this one, and the correction is then as relevant as the two are alike. A bare
    judgement, such as "It doesn't", bears on no question but its own.
    """
    own = relevance(question, correction, cosine)
    near = {each: asked.get(asked_id(correction.id, each), 0.0) for each in correction.questions}
    nearest = sorted(near, key=lambda each: -near[each])
    for each in nearest:
        if same_question(question, each, near[each], floor=same, vocabulary=vocabulary):
            alike = min(1.0, max(own, near[each], same))
            return Relevant(correction=correction, relevance=alike, same_question=True, asked=shown(correction, each))
    if own < floor or not _telling(correction):
        return None
    subject = subject_of(question, correction, vocabulary)
    if subject is Subject.UNSAID:
        return None
    asked_first = shown(correction, nearest[0]) if nearest else ""
    return Relevant(correction=correction, relevance=own, asked=asked_first, other_subject=subject is Subject.OTHER)


def select(
    scored: Sequence[Relevant], *, floor: float, most: int, tokens: int, cost: Callable[[Relevant], int]
) -> tuple[Relevant, ...]:
    """The most relevant ones over a floor, within a budget of tokens; of those that conflict, the newer one first.

    Of those that were made on this very question the newer one is first too, and a bare judgement last.

    Those that lie far behind the best are left out, unless they outdate one that is not. One that does not fit is
    passed over for a smaller one behind it, but never for an older one that says otherwise.
    """
    over = [item for item in scored if item.relevance >= floor]
    bar = _BESIDE_BEST * max((item.relevance for item in over), default=0.0)
    near = [item for item in over if item.relevance >= bar]
    near += [item for item in over if item.relevance < bar and any(_outdates(item, other) for other in near)]
    kept: list[Relevant] = []
    passed_over: list[Relevant] = []
    left = tokens
    for item in _newest_first(_telling_first(sorted(near, key=lambda each: (-each.relevance, each.correction.id)))):
        if len(kept) >= most:
            break
        price = cost(item)
        if price > left or any(_outdates(other, item) for other in passed_over):
            passed_over.append(item)
            continue
        kept.append(item)
        left -= price
    return tuple(replace(item, contradicts=_newest_against(item, kept)) for item in kept)


def _telling_first(ranked: Sequence[Relevant]) -> list[Relevant]:
    """The same places with those that were made on this very question exchanged among themselves: first those that say
    more than a bare judgement, and of these the newer ones."""
    own = sorted(
        (item for item in ranked if item.same_question),
        key=lambda each: (_telling(each.correction), each.correction.created_at),
        reverse=True,
    )
    following = iter(own)
    return [next(following) if item.same_question else item for item in ranked]


def _telling(correction: Correction) -> bool:
    return names_something(f"{correction.lesson} {correction.truth}")


def _newest_first(ranked: Sequence[Relevant]) -> list[Relevant]:
    """The same places with those that conflict exchanged among themselves, so that the newer one stands first."""
    order = list(ranked)
    for places in _quarrels(ranked):
        by_age = sorted((ranked[place] for place in places), key=lambda each: each.correction.created_at, reverse=True)
        for place, item in zip(places, by_age, strict=True):
            order[place] = item
    return order


def _quarrels(ranked: Sequence[Relevant]) -> list[list[int]]:
    """Places of items that conflict, directly or by way of one another; in order."""
    groups: list[list[int]] = []
    for place, item in enumerate(ranked):
        at_odds = [
            group for group in groups if any(conflict(item.correction, ranked[other].correction) for other in group)
        ]
        groups = [group for group in groups if group not in at_odds]
        groups.append([*(other for group in at_odds for other in group), place])
    return [sorted(group) for group in groups if len(group) > 1]


def _outdates(newer: Relevant, older: Relevant) -> bool:
    later = newer.correction.created_at > older.correction.created_at
    return later and conflict(newer.correction, older.correction)


def _newest_against(item: Relevant, others: Sequence[Relevant]) -> str:
    newer = [other.correction for other in others if _outdates(other, item)]
    return max(newer, key=lambda each: each.created_at).id if newer else ""


def conflict(one: Correction, other: Correction) -> bool:
    """Whether two corrections speak of one thing and say different things of it.

    A name or number that only one of them has makes that one more exact; it is no conflict.
    """
    a, b = _words(one.lesson), _words(other.lesson)
    if not a or not b or len(a & b) < _SAME_THING * min(len(a), len(b)):
        return False
    found = differences(one.lesson, other.lesson).blocking
    return any((each.a and each.b) or each.kind is Kind.NEGATION for each in found)


def _words(text: str) -> set[str]:
    return {term for term in index_terms(text) if term not in STOP_WORDS}
