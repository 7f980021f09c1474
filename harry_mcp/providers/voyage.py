"""Voyage AI's embeddings: the only importer of its SDK.

A question and a passage are embedded differently (``input_type``), as the models were trained. The SDK's own retries
pay no heed to Retry-After, so they are off and ours are on.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.search import EmbeddingSpace
from harry_mcp.errors import ProviderError, ProviderNotConfigured, ProviderTimeout
from harry_mcp.ports import Vectors
from harry_mcp.providers.query_cache import QueryCache
from harry_mcp.settings import VoyageSection

if TYPE_CHECKING:
    from voyageai.client_async import AsyncClient

_PASSING = (408, 409, 429, 500, 502, 503, 504, 529)
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 8.0


class VoyageEmbedder:
    """A Voyage model. The SDK is imported at the first use; without a key every use fails."""

    def __init__(self, key: str, settings: VoyageSection, *, query_cache: int = 2048) -> None:
        self._key = key
        self._settings = settings
        self._cache = QueryCache(query_cache)
        self._client: AsyncClient | None = None

    @property
    def space(self) -> EmbeddingSpace:
        s = self._settings
        return EmbeddingSpace(provider="voyage", model=s.model, dimension=s.dimension, version="1")

    async def load(self) -> None:
        """Import the SDK now instead of at the first use."""
        self._client = self._client or await asyncio.to_thread(self._connect)

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        most = self._settings.batch
        batches = [texts[start : start + most] for start in range(0, len(texts), most)]
        vectors = [await self._embed(batch, "document") for batch in batches]
        return np.concatenate(vectors) if vectors else np.empty((0, self._settings.dimension), dtype=np.float32)

    async def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        key = " ".join(text.split())
        vector = self._cache.get(key)
        if vector is None:
            vector = (await self._embed([key], "query"))[0]
            self._cache.put(key, vector)
        return vector

    async def _embed(self, texts: Sequence[str], input_type: str) -> Vectors:
        s = self._settings
        sent = [filled(text) for text in texts]

        async def call(client: AsyncClient) -> list[Any]:
            answer = await client.embed(sent, model=s.model, input_type=input_type, output_dimension=s.dimension)
            return answer.embeddings

        return self._checked(await self._patiently(call), len(sent))

    async def _patiently(self, call: Callable[[AsyncClient], Awaitable[list[Any]]]) -> list[Any]:
        """The answer to a call, with retries, within the patience of the settings."""
        try:
            async with asyncio.timeout(self._settings.patience):
                return await self._with_retries(call)
        except TimeoutError as error:
            raise ProviderTimeout(f"{self._settings.model} did not answer in time. Try again later.") from error

    async def _with_retries(self, call: Callable[[AsyncClient], Awaitable[list[Any]]]) -> list[Any]:
        client = self._client = self._client or await asyncio.to_thread(self._connect)
        for left in range(self._settings.retries, -1, -1):
            try:
                return await self._once(client, call)
            except _Failed as failed:
                if not (failed.passing and left):
                    raise failed.error from failed.__cause__
                pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (self._settings.retries - left))
                await asyncio.sleep(pause * random.uniform(0.75, 1) if failed.retry_after < 0 else failed.retry_after)
        raise ProviderError

    async def _once(self, client: AsyncClient, call: Callable[[AsyncClient], Awaitable[list[Any]]]) -> list[Any]:
        import aiohttp
        from voyageai import error as voyage

        s = self._settings
        try:
            return await call(client)
        except voyage.AuthenticationError as error:
            raise _Failed(
                ProviderNotConfigured(
                    "VOYAGE_API_KEY is missing or refused. Check the key, or set HARRY_EMBEDDING__PROVIDER to local."
                )
            ) from error
        except (voyage.Timeout, TimeoutError) as error:
            slow = ProviderTimeout(f"{s.model} did not answer in time. Try again later.")
            raise _Failed(slow, passing=True) from error
        except (voyage.APIConnectionError, aiohttp.ClientError) as error:
            gone = ProviderError(f"{s.model} cannot be reached at {s.base_url}: {_short(error)}.")
            raise _Failed(gone, passing=True) from error
        except voyage.VoyageError as error:
            raise _failed(s.model, error, error.http_status, error.headers) from error  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
        except (ValueError, KeyError, TypeError, AttributeError) as error:  # a body that holds no vectors
            raise _Failed(ProviderError(f"{s.model} answered what holds no vectors: {_short(error)}.")) from error

    def _checked(self, found: list[Any], count: int) -> Vectors:
        """The vectors at unit length.

        Raises:
            ProviderError: they are too few, of another dimension, or no numbers.
        """
        try:
            vectors = np.asarray(found, dtype=np.float32)
        except (ValueError, TypeError) as error:
            raise ProviderError(f"{self._settings.model} answered what holds no vectors.") from error
        if vectors.shape != (count, self._settings.dimension):
            raise ProviderError(
                f"{self._settings.model} answered vectors of shape {vectors.shape}, not "
                f"{(count, self._settings.dimension)}. Check HARRY_VOYAGE__DIMENSION."
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(vectors).all() or not lengths.all():
            raise ProviderError(f"{self._settings.model} answered a vector without a direction.")
        return (vectors / lengths).astype(np.float32)

    def _connect(self) -> AsyncClient:
        if not self._key:
            raise ProviderNotConfigured(
                f"There is no VOYAGE_API_KEY for {self._settings.model}. Set it, or HARRY_EMBEDDING__PROVIDER to local."
            )
        from voyageai.client_async import AsyncClient

        s = self._settings
        return AsyncClient(api_key=self._key, max_retries=0, timeout=s.timeout, base_url=s.base_url)


def filled(text: str) -> str:
    """The text, a full stop for an empty one: the service refuses those, and they have no meaning to embed."""
    return text if text.strip() else "."


class _Failed(Exception):
    """One attempt failed. ``retry_after`` is -1 when the service named no time."""

    def __init__(self, error: ProviderError, *, passing: bool = False, retry_after: float = -1.0) -> None:
        super().__init__(str(error))
        self.error = error
        self.passing = passing
        self.retry_after = retry_after


def _failed(model: str, error: Exception, status: int | None, headers: Mapping[str, str]) -> _Failed:
    try:
        retry_after = max(0.0, float(headers.get("retry-after", "")))
    except ValueError:  # none, or a date
        retry_after = -1.0
    told = ProviderError(f"{model} failed with status {status or 'unknown'}: {_short(error)}.")
    return _Failed(told, passing=status in _PASSING, retry_after=retry_after)


def _short(error: Exception) -> str:
    return " ".join(str(error.__cause__ or error).split())[:200].rstrip(". ") or type(error).__name__
