"""Stage 2 as a whole: order, collapse what is all but the same, score, judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harry_mcp.domain.calibration import Calibration
from harry_mcp.domain.documents import DocumentStatus
from harry_mcp.domain.rot import undecided
from harry_mcp.domain.search import Band, Candidate, Hit, NextAction, Retrieval, Verdict
from harry_mcp.ports import FusionRanker
from harry_mcp.settings import RankSection
from harry_mcp.stages.rank.bands import band_of, next_action, reason
from harry_mcp.stages.rank.calibration import LOCAL, SHORT, ContrastCurve, background
from harry_mcp.stages.rank.duplicates import collapse

# Of the moderate threshold: weak for a reason, and not for being far away.
_JUST_UNDER = 0.9
_DISPUTED = (
    "Documents contradict each other about this: tell both sides, and that it is open which is right. The caveats of "
    "the hits name them."
)


class RankStage:
    """Turns a retrieval into a ranking and a verdict."""

    def __init__(
        self, ranker: FusionRanker, settings: RankSection, near_duplicate: float, curve: ContrastCurve = LOCAL
    ) -> None:
        self._ranker = ranker
        self._settings = settings
        self._near_duplicate = near_duplicate
        self._curve = curve

    @property
    def name(self) -> str:
        """The local ranker with its built-in curve: the name that a curve fitted on top of it belongs to."""
        return f"{self._ranker.name}/{self._curve.name}"

    def band(self, score: float) -> Band:
        """The band of a score under these settings."""
        return band_of(score, self._settings)

    def rank(
        self, retrieval: Retrieval, *, filtered: bool = False, calibration: Calibration | None = None
    ) -> tuple[list[Candidate], Verdict]:
        """The candidates, best first and scored, and the judgement of the whole; ``filtered`` when not all could be.

        ``calibration`` maps the built-in scores further; it must be one of this stage's ``name``.
        """
        ranked = self._ranker.rank(retrieval.terms, retrieval.candidates, retrieval.statistics)
        level = background(ranked)
        terms = len(retrieval.terms)
        scored = collapse(
            [self._scored(candidate, level, terms, calibration) for candidate in ranked],
            self._near_duplicate,
            2 * self._settings.candidates,
        )
        source = f"{self.name}/{calibration.id}" if calibration else self.name
        score = scored[0].score if scored else 0.0
        return scored, self._verdict(score, source, "" if scored else _nothing_found(retrieval, filtered=filtered))

    def judge(
        self, reranked: Sequence[Candidate], local: Verdict, ranker: str, calibration: Calibration | None
    ) -> Verdict:
        """The judgement after a model has read the passages.

        Without a curve of that model the verdict stays the local one: the model's raw scores say which passage is
        better, but not how good.
        """
        if calibration is not None:
            return self._verdict(reranked[0].score, f"{ranker}/{calibration.id}", reranked=True)
        source = f"{ranker}/uncalibrated, scored by {local.relevance_source}"
        return self._verdict(local.score, source, reranked=True)

    def doubted(
        self, ranking: Sequence[Candidate], verdict: Verdict, why: str, *, most: Band
    ) -> tuple[Sequence[Candidate], Verdict]:
        """A ranking and its judgement that rest on what does not hold: of the band ``most`` where they were better."""
        middle = (self._settings.strong + self._settings.moderate) / 2
        cap = middle if most is Band.MODERATE else self._settings.moderate * _JUST_UNDER
        if verdict.score <= cap:
            return ranking, verdict
        band = self.band(cap)
        doubted = replace(
            verdict,
            score=cap,
            answerable=cap,
            band=band,
            next_action=next_action(band),
            reason=reason(band, why, found=True),
        )
        return [item._replace(score=min(item.score, cap)) for item in ranking], doubted

    def _scored(self, candidate: Candidate, level: float, terms: int, calibration: Calibration | None) -> Candidate:
        local = self._curve.score(candidate.fusion, level)
        score = calibration.of(local) if calibration else local
        if SHORT.applies(terms, candidate):
            local, score = min(local, SHORT.cap), min(score, SHORT.cap)
        return candidate._replace(score=score, local=local)

    def _verdict(self, score: float, source: str, nothing_found: str = "", *, reranked: bool = False) -> Verdict:
        band = self.band(score)
        why = nothing_found or f"The best passage has a chance of {score:.0%} to answer the question."
        return Verdict(
            score=score,
            answerable=score,
            band=band,
            next_action=next_action(band),
            reason=reason(band, why, found=not nothing_found),
            relevance_source=source,
            reranked=reranked,
        )


def warned(verdict: Verdict, hits: Sequence[Hit]) -> Verdict:
    """The judgement with a word of warning, and never plainly to be answered from, where other documents deny the best
    hits. Score and band stay: they say how well the question is met, not which side is right."""
    if not _disputed([hit for hit in hits if hit.band is hits[0].band]):
        return verdict
    careful = NextAction.ANSWER_WITH_CARE if verdict.next_action is NextAction.ANSWER else verdict.next_action
    return replace(verdict, next_action=careful, reason=f"{verdict.reason} {_DISPUTED}")


def _disputed(best: Sequence[Hit]) -> bool:
    """Whether hits are denied in what they say about the question, or a curator's queue has it open which is right: the
    first of them or another document, or two of them that contradict each other."""
    if any(hit.disputed for hit in best):
        return True
    told = [undecided(hit.passage.caveats) if hit.passage.status == DocumentStatus.FLAGGED else "" for hit in best]
    ids = {hit.passage.document_id for hit in best}
    return bool(told and told[0]) or any(key in words for words in told for key in ids)


def _nothing_found(retrieval: Retrieval, *, filtered: bool) -> str:
    """Why there is no candidate: three causes, of which the filters alone are no gap."""
    if not retrieval.statistics.chunks:
        return "The knowledge base holds no searchable document yet; `harry ingest` fills it."
    if filtered:
        return "No passage that the filters let through matches; ask again without them, or check how they are spelt."
    return "No passage matches the question in words or in meaning."
