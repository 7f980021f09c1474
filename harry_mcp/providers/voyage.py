"""Voyage AI's embeddings. A question and a passage are embedded differently (``input_type``), as the models were
trained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from harry_mcp.domain.search import EmbeddingSpace
from harry_mcp.errors import ProviderError
from harry_mcp.ports import Vectors
from harry_mcp.providers.line import Failed
from harry_mcp.providers.query_cache import QueryCache
from harry_mcp.providers.usage import UsageMeter
from harry_mcp.providers.voyage_connection import VoyageConnection, filled
from harry_mcp.settings import VoyageSection

if TYPE_CHECKING:
    from voyageai.client_async import AsyncClient


class VoyageEmbedder:
    """A Voyage model. The SDK is imported at the first use; without a key every use fails."""

    def __init__(
        self, key: str, settings: VoyageSection, *, query_cache: int = 2048, usage: UsageMeter | None = None
    ) -> None:
        self._settings = settings
        self._cache = QueryCache(query_cache)
        self._connection = VoyageConnection(
            key, settings, model=settings.model, local="HARRY_EMBEDDING__PROVIDER", usage=usage
        )

    @property
    def space(self) -> EmbeddingSpace:
        s = self._settings
        return EmbeddingSpace(provider="voyage", model=s.model, dimension=s.dimension, version="1")

    async def load(self) -> None:
        """Import the SDK now instead of at the first use."""
        await self._connection.load()

    async def close(self) -> None:
        await self._connection.close()

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        most = self._settings.batch
        batches = [texts[start : start + most] for start in range(0, len(texts), most)]
        vectors = [await self._embed(batch, "document") for batch in batches]
        return np.concatenate(vectors) if vectors else np.empty((0, self._settings.dimension), dtype=np.float32)

    async def embed_queries(self, texts: Sequence[str], *, timeout: float | None = None) -> Vectors:
        return await self._cache.through(texts, lambda missing: self._embed(missing, "query", timeout))

    async def _embed(self, texts: Sequence[str], input_type: str, timeout: float | None = None) -> Vectors:
        s = self._settings
        sent = [filled(text) for text in texts]

        async def request(client: AsyncClient) -> Vectors:
            answer = await client.embed(sent, model=s.model, input_type=input_type, output_dimension=s.dimension)
            self._connection.used(answer.total_tokens, s.price)
            return self._checked(answer.embeddings, len(sent))

        return await self._connection.call(request, timeout=timeout)

    def _checked(self, found: list[Any], count: int) -> Vectors:
        """The vectors at unit length.

        Raises:
            Failed: they are too few, of another dimension, or no numbers.
        """
        try:
            vectors = np.asarray(found, dtype=np.float64)
        except (ValueError, TypeError) as error:
            raise Failed(ProviderError(f"{self._settings.model} answered what holds no vectors.")) from error
        if vectors.shape != (count, self._settings.dimension):
            raise Failed(
                ProviderError(
                    f"{self._settings.model} answered vectors of shape {vectors.shape}, not "
                    f"{(count, self._settings.dimension)}. Check HARRY_VOYAGE__DIMENSION."
                )
            )
        with np.errstate(over="ignore", invalid="ignore"):
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise Failed(ProviderError(f"{self._settings.model} answered a vector without a direction."))
        return (vectors / lengths).astype(np.float32)
