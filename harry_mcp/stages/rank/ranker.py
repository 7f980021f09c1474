"""Stage 2 as a whole: order, collapse what is all but the same, score, judge."""

from __future__ import annotations

from collections.abc import Sequence

from harry_mcp.domain.search import Band, Candidate, Retrieval, Verdict
from harry_mcp.ports import Reranker
from harry_mcp.settings import RankSection
from harry_mcp.stages.rank.bands import band_of, next_action, reason
from harry_mcp.stages.rank.calibration import LOCAL, SHORT, ContrastCurve, background
from harry_mcp.stages.rank.duplicates import collapse


class RankStage:
    """Turns a retrieval into a ranking and a verdict."""

    def __init__(
        self, ranker: Reranker, settings: RankSection, near_duplicate: float, curve: ContrastCurve = LOCAL
    ) -> None:
        self._ranker = ranker
        self._settings = settings
        self._near_duplicate = near_duplicate
        self._curve = curve

    def band(self, score: float) -> Band:
        """The band of a score under these settings."""
        return band_of(score, self._settings)

    def rank(self, retrieval: Retrieval) -> tuple[list[Candidate], Verdict]:
        """The candidates, best first and scored, and the judgement of the whole."""
        ranked = self._ranker.rank(retrieval.terms, retrieval.candidates, retrieval.statistics)
        level = background(ranked)
        terms = len(retrieval.terms)
        scored = [
            candidate._replace(score=self._score(candidate, level, terms))
            for candidate in collapse(ranked, self._near_duplicate, 2 * self._settings.candidates)
        ]
        return scored, self._verdict(scored)

    def _score(self, candidate: Candidate, level: float, terms: int) -> float:
        score = self._curve.score(candidate.fusion, level)
        return min(score, SHORT.cap) if SHORT.applies(terms, candidate) else score

    def _verdict(self, scored: Sequence[Candidate]) -> Verdict:
        score = scored[0].score if scored else 0.0
        band = self.band(score)
        why = (
            f"The best passage has a chance of {score:.0%} to answer the question."
            if scored
            else "No passage matches the question in words or in meaning."
        )
        return Verdict(
            score=score,
            answerable=score,
            band=band,
            next_action=next_action(band),
            reason=reason(band, why),
            relevance_source=f"{self._ranker.name}/{self._curve.name}",
        )
