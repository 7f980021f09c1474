"""What the loop asks of the outside, where money or a network begins. Adapters live in ``providers``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.search import Candidate, CorpusStatistics, EmbeddingSpace, QueryTerm

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """An answer, and the tokens that it is billed by."""

    text: str
    input_tokens: int = 0
    cache_write_tokens: int = 0
    cache_read_tokens: int = 0
    output_tokens: int = 0


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


@runtime_checkable
class DocumentEmbedder(Embedder, Protocol):
    """An embedder whose vector of a passage depends on the other passages of its document."""

    async def embed_passages(self, documents: Sequence[Sequence[str]]) -> list[Vectors]:
        """Vectors of the passages of each document, all of them given in their order.

        Raises:
            ProviderError: the model failed; nothing was embedded.
        """
        ...


class LanguageModel(Protocol):
    """Answers a question with text."""

    @property
    def name(self) -> str:
        """The model, as recipes and reports name it."""
        ...

    async def complete(self, question: str, *, system: str, document: str, most_tokens: int) -> Completion:
        """The answer to a question about a document.

        ``system`` and ``document`` come first and are the same for many questions: a provider that can keeps them
        cached between calls. The answer may be cut off at ``most_tokens``.

        Raises:
            ProviderTimeout: no answer within the time that the settings give, retries included.
            ProviderNotConfigured: the key or the model is refused; asking again is no use.
            ProviderError: the service failed, or gave no text.
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
