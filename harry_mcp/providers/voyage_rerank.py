"""Voyage AI's re-ranking models: each reads the question with one passage at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from harry_mcp.errors import ProviderError
from harry_mcp.providers.line import Failed
from harry_mcp.providers.usage import UsageMeter
from harry_mcp.providers.voyage_connection import VoyageConnection, filled
from harry_mcp.settings import VoyageSection

if TYPE_CHECKING:
    from voyageai.client_async import AsyncClient


class VoyageReranker:
    """A Voyage re-ranking model. The SDK is imported at the first use."""

    def __init__(self, key: str, settings: VoyageSection, *, usage: UsageMeter | None = None) -> None:
        self._settings = settings
        self._connection = VoyageConnection(
            key, settings, model=settings.rerank_model, local="HARRY_RANK__RERANKER", usage=usage
        )

    @property
    def name(self) -> str:
        return f"voyage:{self._settings.rerank_model}"

    async def load(self) -> None:
        """Import the SDK now instead of at the first use."""
        await self._connection.load()

    async def close(self) -> None:
        await self._connection.close()

    async def score(self, question: str, passages: Sequence[str], *, timeout: float | None = None) -> list[float]:
        if not passages:
            return []
        s = self._settings
        sent = [filled(passage) for passage in passages]

        async def request(client: AsyncClient) -> list[float]:
            answer = await client.rerank(filled(question), sent, model=s.rerank_model)
            self._connection.used(answer.total_tokens, s.rerank_price)
            return _aligned(s.rerank_model, answer.results, len(sent))

        return await self._connection.call(request, timeout=timeout)


def _aligned(model: str, results: Sequence[Any], count: int) -> list[float]:
    """The scores in the order of the passages; the service answers best first.

    Raises:
        Failed: a passage has no score or two, or one that is not between 0 and 1.
    """
    scores = dict[int, float]()
    for result in results:
        score = result.relevance_score
        if type(score) not in (int, float) or not math.isfinite(score) or not 0 <= score <= 1:
            raise Failed(ProviderError(f"{model} gave a passage a score that is not between 0 and 1."))
        scores[result.index] = float(score)
    if len(results) != count or set(scores) != set(range(count)):
        raise Failed(ProviderError(f"{model} did not score each of the {count} passages once."))
    return [scores[number] for number in range(count)]
