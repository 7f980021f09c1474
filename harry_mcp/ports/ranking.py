"""What says how well a passage answers a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from harry_mcp.domain.search import Candidate, CorpusStatistics, QueryTerm


class FusionRanker(Protocol):
    """Orders candidates by what retrieval measured of them. It reads no text, so it is always there."""

    @property
    def name(self) -> str:
        """Ranker and version, as it stands in ``relevance_source``."""
        ...

    def rank(
        self, terms: Sequence[QueryTerm], candidates: Sequence[Candidate], statistics: CorpusStatistics
    ) -> list[Candidate]:
        """The candidates, best first, with ``lexical``, ``fusion`` and ``score`` set."""
        ...


class Reranker(Protocol):
    """A model that reads the question with each passage."""

    @property
    def name(self) -> str:
        """Ranker with model and version. A calibration belongs to exactly one name."""
        ...

    async def score(self, question: str, passages: Sequence[str], *, timeout: float | None = None) -> list[float]:
        """How well each passage answers the question, 0 to 1 and not calibrated, in the order given.

        ``timeout`` is in seconds, retries included.

        Raises:
            ProviderTimeout: no answer in time; the call was cancelled.
            ProviderError: the service failed, or did not score every passage.
        """
        ...
