"""Vectors in Qdrant, a server or its client's local mode. With ``qdrant_wire`` the only importer of its client."""

from __future__ import annotations

import math
import warnings
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from harry_mcp.errors import ProviderError, ProviderNotConfigured, ProviderTimeout
from harry_mcp.ports import Narrowing, VectorPoint
from harry_mcp.providers.line import Failed, Line
from harry_mcp.providers.qdrant_wire import INDEXED, KEY, filter_of, ids_of, lost, point_of, refused
from harry_mcp.providers.wire import sendable_key, short, silence
from harry_mcp.settings import VectorsSection

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient
    from qdrant_client.http import models

T = TypeVar("T")


class QdrantStore:
    """:class:`~harry_mcp.ports.VectorStore` over Qdrant. The client is imported at the first call.

    ``reach``: how many candidates Qdrant's graph looks at, which must be past the number that is asked for.
    """

    def __init__(self, settings: VectorsSection, *, reach: int) -> None:
        self._settings = settings
        self._reach = reach
        key = settings.qdrant_api_key.get_secret_value()
        self._line = Line(self._connect, settings, name="Qdrant", key=key)

    @property
    def name(self) -> str:
        where = self._settings.qdrant_path or self._settings.qdrant_url
        return f"qdrant at {where}"

    @property
    def local(self) -> bool:
        """Whether it is the client's local mode, which one process alone can open."""
        return self._settings.qdrant_path is not None

    async def load(self) -> None:
        """Import the client now instead of at the first call."""
        await self._line.load()

    async def make(self, collection: str, dimension: int) -> None:
        async def attempt(client: AsyncQdrantClient) -> None:
            from qdrant_client.http import models

            await client.create_collection(
                collection, vectors_config=models.VectorParams(size=dimension, distance=models.Distance.COSINE)
            )
            if self.local:  # which looks at every point and has no use for them
                return
            for field, kind in INDEXED.items():
                await client.create_payload_index(collection, field, models.PayloadSchemaType(kind), wait=True)

        await self._call(attempt, collection)

    async def drop(self, collection: str) -> None:
        async def attempt(client: AsyncQdrantClient) -> None:
            await client.delete_collection(collection)

        await self._call(attempt, collection)

    async def put(self, collection: str, points: Sequence[VectorPoint]) -> None:
        async def attempt(client: AsyncQdrantClient) -> None:
            await client.upsert(collection, [point_of(point) for point in points], wait=True)

        await self._call(attempt, collection)

    async def remove(self, collection: str, chunk_ids: Sequence[int]) -> None:
        async def attempt(client: AsyncQdrantClient) -> None:
            from qdrant_client.http import models

            await client.delete(collection, models.PointIdsList(points=list(chunk_ids)), wait=True)

        await self._call(attempt, collection)

    async def nearest(
        self,
        collection: str,
        queries: Sequence[npt.NDArray[np.float32]],
        *,
        limit: int,
        narrowing: Narrowing,
        timeout: float,
    ) -> list[list[int]]:
        async def attempt(client: AsyncQdrantClient) -> list[list[int]]:
            from qdrant_client.http import models

            asked = [
                models.QueryRequest(
                    query=query.tolist(),
                    filter=filter_of(narrowing),
                    params=self._params(limit),
                    limit=limit,
                    with_payload=False,
                )
                for query in queries
            ]
            answered = await client.query_batch_points(collection, asked)
            if len(answered) != len(queries):
                raise Failed(ProviderError("Qdrant did not answer every query."))
            return [ids_of(answer) for answer in answered]

        return await self._call(attempt, collection, timeout=timeout)

    async def count(self, collection: str) -> int | None:
        async def attempt(client: AsyncQdrantClient) -> int | None:
            if not await client.collection_exists(collection):
                return None
            return (await client.count(collection, exact=True)).count

        return await self._call(attempt, collection)

    async def close(self) -> None:
        if self._line.client is not None:
            await self._line.client.close()

    def _params(self, limit: int) -> models.SearchParams | None:
        from qdrant_client.http import models

        if self.local:  # which compares every vector in any case
            return None
        if self._settings.exact:
            return models.SearchParams(exact=True)
        return models.SearchParams(hnsw_ef=max(self._reach, limit))

    async def _call(
        self, attempt: Callable[[AsyncQdrantClient], Awaitable[T]], collection: str, *, timeout: float | None = None
    ) -> T:
        async def careful(client: AsyncQdrantClient) -> T:
            from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
            from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

            try:
                return await attempt(client)
            except UnexpectedResponse as error:
                raise refused(error, collection) from error
            except QdrantException as error:
                busy = ProviderError("Qdrant takes no more requests right now.")
                wait = error.retry_after_s if isinstance(error, ResourceExhaustedResponse) else None
                raise Failed(busy, passing=True, retry_after=wait) from error
            except ResponseHandlingException as error:
                raise self._unreadable(error.source) from error
            except (ValueError, AssertionError) as error:
                if self.local and "not found" in str(error):
                    raise Failed(lost(collection), blameless=True) from error
                raise Failed(ProviderError("Qdrant answered what its client cannot read.")) from error

        return await self._line.call(careful, timeout=timeout)

    def _unreadable(self, error: Exception) -> Failed:
        import httpx

        if isinstance(error, httpx.TimeoutException):
            return Failed(ProviderTimeout("Qdrant did not answer in time. Try again later."), passing=True)
        if isinstance(error, httpx.HTTPError | httpx.InvalidURL):
            where = self._settings.qdrant_url
            return Failed(ProviderError(f"Qdrant cannot be reached at {where}: {short(error)}."), passing=True)
        return Failed(ProviderError("Qdrant answered what its client cannot read."))

    def _connect(self) -> AsyncQdrantClient:
        try:
            from qdrant_client import AsyncQdrantClient
        except ImportError as error:
            raise ProviderNotConfigured(
                "HARRY_VECTORS__INDEX is qdrant, and Qdrant's client is not installed. Install harry-mcp[qdrant], or "
                "take pgvector."
            ) from error
        silence("httpx", "httpcore", "qdrant_client")
        s = self._settings
        if s.qdrant_path is not None:
            return self._opened(AsyncQdrantClient, str(s.qdrant_path))
        key = sendable_key(s.qdrant_api_key.get_secret_value(), KEY)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that a key goes over plain http, which the setting's description says
                return AsyncQdrantClient(
                    url=s.qdrant_url, api_key=key or None, timeout=math.ceil(s.patience), check_compatibility=False
                )
        except ValueError as error:
            raise ProviderNotConfigured(f"HARRY_VECTORS__QDRANT_URL is no address: {short(error)}.") from error

    def _opened(self, client: type[AsyncQdrantClient], folder: str) -> AsyncQdrantClient:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that a large folder would be better off in a server
                return client(path=folder, force_disable_check_same_thread=True)
        except RuntimeError as error:
            raise ProviderNotConfigured(
                f"Another process has {folder} open, and Qdrant's local mode is for one. Stop it, or run a Qdrant "
                "server and set HARRY_VECTORS__QDRANT_URL."
            ) from error
        except OSError as error:
            raise ProviderNotConfigured(f"HARRY_VECTORS__QDRANT_PATH cannot be used: {short(error)}.") from error
