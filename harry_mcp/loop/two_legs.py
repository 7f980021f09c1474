"""A question of a conversation: searched as it stands, and with what was spoken of put in. The better one counts.

Words alone do not tell a follow-up from a question that stands alone, but what the two find does: put in where it
belongs, what was spoken of makes a page stand out; put in where it does not, it hides the page that did. So the
verdicts are compared. Words that were put in can bring up a page, but they never make it strong by themselves: for that
it must hold the words of the question too.

What is remembered of a question, and what it is remembered as, never hangs on which way found more. A whole question is
the one that was typed, so that the same words mean the same in every conversation; one that points elsewhere is the one
that was written out.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from harry_mcp.domain.search import Band, Verdict
from harry_mcp.domain.together import both
from harry_mcp.domain.tokens import index_terms
from harry_mcp.loop.attempts import Attempt, Course, documents_found
from harry_mcp.loop.remembered import Also
from harry_mcp.stages.rank.ranker import RankStage
from harry_mcp.stages.retrieve.history import HistoryRewriter, Rewritten
from harry_mcp.stages.retrieve.leaning import Leaning, asks_on, leaning, own_words, points
from harry_mcp.tracing import stage

Ask = Callable[[str, Course], Awaitable[Attempt]]
# Seconds of the deadline that a second leg must find: less, and it would only be cut off.
_ROOM = 1.0
# A page that answers a question which points elsewhere is among the first that what it points at finds.
_AGREED = 3
# Share of the question's own words that a page must hold to be strong, and that it must hold where the question may
# have stood alone: then all but one of four.
_COVERED = 0.5
_COVERED_WHOLLY = 0.75
# Of so many words a page that answers holds one at least; a single one may stand there in another form.
_SURELY = 2
_UNCOVERED = (
    "What was spoken of before brought up the best passage; it holds too few of the words of the question itself."
)
_NOT_AGREED = "The best passage fits the question by itself; it may have nothing to do with what was spoken of before."
_NOTHING_NEW = "The question has no words of its own to find a passage by, so this may be what was said already."


@dataclass(frozen=True, slots=True)
class _Leg:
    """One way of asking, what it found, its notes, and how many milliseconds it took."""

    question: str
    attempt: Attempt
    course: Course
    took: float

    @property
    def verdict(self) -> Verdict:
        return self.attempt.verdict


@dataclass(frozen=True, slots=True)
class _Covered:
    """How many words of its own a question has, and the share of them that a page holds."""

    words: int
    share: float


class TwoLegs:
    """One question with the turns before it, searched in one way or in two."""

    def __init__(self, rewriter: HistoryRewriter, ranker: RankStage, ask: Ask) -> None:
        """``ask``: search for a question, with notes of its own."""
        self._rewriter = rewriter
        self._ranker = ranker
        self._ask = ask

    async def search(self, question: str, turns: Sequence[str], course: Course) -> Attempt:
        """What the better way of asking found, as an attempt at the question; ``course`` is told of both.

        A question that may stand alone is asked as it is, and a second time only where that is not strong. One that
        points elsewhere is asked both ways at once, or in the way that a model wrote it.

        Raises:
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        lean = leaning(question) if turns else Leaning.ALONE
        if lean is Leaning.LEANS:
            return await self._leaning(question, turns, course)
        bare = await self._leg(question, course)
        if lean is Leaning.ALONE or bare.verdict.band is Band.STRONG or course.deadline.left < _ROOM:
            return _settled(course, question, bare)
        rewritten = await self._rewritten(question, turns, course)
        if rewritten.question == question:
            return _settled(course, question, bare)
        carried = await self._leg(rewritten.question, course)
        better = carried.verdict.score > bare.verdict.score and carried.verdict.band is not Band.WEAK
        if better and (rewritten.by_model or _covered(carried.attempt, question).share >= _COVERED_WHOLLY):
            return _settled(course, question, carried, bare, of=bare)
        return _settled(course, question, bare, carried)

    async def _leaning(self, question: str, turns: Sequence[str], course: Course) -> Attempt:
        rewritten = await self._rewritten(question, turns, course)
        if rewritten.by_model or rewritten.question == question:
            leg = await self._leg(rewritten.question, course)
            return _settled(course, question, leg if rewritten.by_model else self._asking_on(leg, question))
        bare, found = await both(self._leg(question, course), self._leg(rewritten.question, course))
        carried = self._asking_on(self._held(found, question, rewritten), question)
        if _outdoes(bare, found, agreed_on=points(question)):
            shown = self._asking_on(self._agreed(bare, found), question)
            return _settled(course, question, shown, carried, of=carried)
        return _settled(course, question, carried, bare)

    async def _rewritten(self, question: str, turns: Sequence[str], course: Course) -> Rewritten:
        with stage("rewrite", course.timings):
            rewritten = await self._rewriter.stand_alone(question, turns, course.deadline)
        course.lost(rewritten.degraded)
        return rewritten

    async def _leg(self, question: str, course: Course) -> _Leg:
        started, own = time.perf_counter(), course.beside()
        attempt = await self._ask(question, own)
        return _Leg(question, attempt, own, (time.perf_counter() - started) * 1000)

    def _agreed(self, bare: _Leg, carried: _Leg) -> _Leg:
        """A question that points elsewhere as it stands, less sure where what it points at does not lead there."""
        if carried.verdict.band is not Band.WEAK and _agree(bare, carried):
            return bare
        return self._doubted(bare, _NOT_AGREED)

    def _asking_on(self, leg: _Leg, question: str) -> _Leg:
        """The leg, less sure of itself where nothing was asked but why, or what else."""
        return self._doubted(leg, _NOTHING_NEW) if asks_on(question) else leg

    def _doubted(self, leg: _Leg, why: str, most: Band = Band.MODERATE) -> _Leg:
        ranking, verdict = self._ranker.doubted(leg.attempt.ranking, leg.verdict, why, most=most)
        return replace(leg, attempt=replace(leg.attempt, ranking=ranking, verdict=verdict))

    def _held(self, leg: _Leg, question: str, rewritten: Rewritten) -> _Leg:
        """The leg, less sure of itself where the words of the question are not in what it found."""
        covered = _covered(leg.attempt, question)
        if rewritten.by_model or covered.share >= _COVERED:
            return leg
        nothing = not covered.share and covered.words >= _SURELY
        return self._doubted(leg, _UNCOVERED, Band.WEAK if nothing else Band.MODERATE)


def _settled(course: Course, typed: str, shown: _Leg, other: _Leg | None = None, *, of: _Leg | None = None) -> Attempt:
    """The attempt that is shown, with the notes of both ways.

    ``of`` is the way whose words are the question, where it is not the one that is shown.
    """
    own, attempt = of or shown, shown.attempt
    if of is not None:
        attempt = replace(
            attempt, query=of.attempt.query, nearby=of.attempt.nearby, found=documents_found(of.attempt.ranking)
        )
    course.take(shown.course)
    if other is not None:
        course.lost(*other.course.degraded)
        course.timings["other_leg"] = other.took
        course.told["also_searched"] = shown.question if other is of else other.question
    if of is not None:
        course.told["found_by"] = shown.question
    if own.question == typed:
        return attempt
    course.told["asked"] = typed
    bare = shown if shown.question == typed else other
    return attempt if bare is None else _with_typed(attempt, bare)


def _with_typed(attempt: Attempt, bare: _Leg) -> Attempt:
    """The attempt with what is remembered of the words that were typed beside that of the question."""
    near = bare.attempt.nearby
    if attempt.nearby is None or near is None:
        return attempt
    also = Also(bare.question, near, documents_found(bare.attempt.ranking))
    return replace(attempt, nearby=replace(attempt.nearby, also=also))


def _outdoes(bare: _Leg, carried: _Leg, *, agreed_on: bool) -> bool:
    """Whether a question that leans on others is still better asked as it stands.

    Where a word in it points at something, what that brings must find the page too.
    """
    if bare.verdict.band is Band.WEAK or bare.verdict.score <= carried.verdict.score:
        return False
    return not agreed_on or _agree(bare, carried)


def _agree(bare: _Leg, carried: _Leg) -> bool:
    first = documents_found(bare.attempt.ranking)[:1]
    return bool(first) and first[0] in documents_found(carried.attempt.ranking)[:_AGREED]


def _covered(attempt: Attempt, question: str) -> _Covered:
    """How far the best page holds the question's own words, in any of its passages that were found."""
    first = documents_found(attempt.ranking)[:1]
    passages = [passage for passage in attempt.passages.values() if passage.document_id in first]
    language = (passages[0].language if passages else "") or "en"
    own = own_words(question, language)
    held = {term for passage in passages for term in index_terms(passage.contextual_content, language)}
    return _Covered(len(own), len(own & held) / len(own) if own and passages else 1.0)
