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

    def rank(self, retrieval: Retrieval, *, filtered: bool = False) -> tuple[list[Candidate], Verdict]:
        """The candidates, best first and scored, and the judgement of the whole; ``filtered`` when not all could be."""
        ranked = self._ranker.rank(retrieval.terms, retrieval.candidates, retrieval.statistics)
        level = background(ranked)
        terms = len(retrieval.terms)
        scored = [
            candidate._replace(score=self._score(candidate, level, terms))
            for candidate in collapse(ranked, self._near_duplicate, 2 * self._settings.candidates)
        ]
        return scored, self._verdict(scored, _nothing_found(retrieval, filtered=filtered))

    def _score(self, candidate: Candidate, level: float, terms: int) -> float:
        score = self._curve.score(candidate.fusion, level)
        return min(score, SHORT.cap) if SHORT.applies(terms, candidate) else score

    def _verdict(self, scored: Sequence[Candidate], nothing_found: str) -> Verdict:
        score = scored[0].score if scored else 0.0
        band = self.band(score)
        why = f"The best passage has a chance of {score:.0%} to answer the question." if scored else nothing_found
        return Verdict(
            score=score,
            answerable=score,
            band=band,
            next_action=next_action(band),
            reason=reason(band, why, found=bool(scored)),
            relevance_source=f"{self._ranker.name}/{self._curve.name}",
        )


def _nothing_found(retrieval: Retrieval, *, filtered: bool) -> str:
    """Why there is no candidate: three causes, of which only the last is a gap."""
    if not retrieval.statistics.chunks:
        return "The knowledge base holds no searchable document yet; `harry ingest` fills it."
    if filtered:
        return "No passage that the filters let through matches; ask again without them, or check how they are spelt."
    return "No passage matches the question in words or in meaning."
