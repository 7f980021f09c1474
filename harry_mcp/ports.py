"""What the loop asks of the outside, where money or a network begins. Adapters live in ``providers``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.search import Candidate, CorpusStatistics, EmbeddingSpace, QueryTerm

Vectors = npt.NDArray[np.float32]


@runtime_checkable
class Embedder(Protocol):
    """Turns text into vectors of unit length, shape ``(len(texts), space.dimension)``."""

    @property
    def space(self) -> EmbeddingSpace: ...

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors of passages, in the order given.

        Raises:
            ProviderError: the model failed; nothing was embedded.
        """
        ...

    async def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """The vector of a question, shape ``(space.dimension,)``.

        Raises:
            ProviderError: the model failed.
        """
        ...


class Reranker(Protocol):
    """Orders candidates by the chance that they answer the question."""

    @property
    def name(self) -> str:
        """Ranker and calibration with their versions, as it stands in ``relevance_source``."""
        ...

    def rank(
        self, terms: Sequence[QueryTerm], candidates: Sequence[Candidate], statistics: CorpusStatistics
    ) -> list[Candidate]:
        """The candidates, best first, with ``lexical``, ``fusion`` and ``score`` set."""
        ...
