"""What turns text into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.search import EmbeddingSpace

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

    async def embed_queries(self, texts: Sequence[str], *, timeout: float | None = None) -> Vectors:
        """The vectors of questions in the order given, shape ``(len(texts), space.dimension)``, in one call at most.

        ``timeout`` is in seconds, retries included; None takes what the settings give.

        Raises:
            ProviderTimeout: no answer in time; the call was cancelled.
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
