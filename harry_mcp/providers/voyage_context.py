"""Voyage's contextualised embeddings: the passages of a document are embedded together, each knowing the others.

An alternative to contexts by a language model: nothing is written, so keywords gain nothing, and a changed passage
means that its whole document is embedded anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from harry_mcp.ports import Vectors
from harry_mcp.providers.voyage import VoyageEmbedder
from harry_mcp.providers.voyage_connection import filled

if TYPE_CHECKING:
    from voyageai.client_async import AsyncClient

# The service takes 32,000 tokens of one document, and 120,000 tokens and 1,000 documents in one request. A token is
# some three characters of English, and one of Chinese: the sizes here, in bytes, are safe for both.
_DOCUMENT_BYTES = 60_000
_REQUEST_BYTES = 240_000
_REQUEST_DOCUMENTS = 1000

_Part = tuple[int, list[str]]


class VoyageContextEmbedder(VoyageEmbedder):
    """A contextualised Voyage model, such as ``voyage-context-3``."""

    async def embed_passages(self, documents: Sequence[Sequence[str]]) -> list[Vectors]:
        found: list[list[Vectors]] = [[] for _ in documents]
        for request in _requests(_parts(documents)):
            vectors = await self._together([part for _, part in request], "document")
            for (number, _), own in zip(request, vectors, strict=True):
                found[number].append(own)
        nothing = np.empty((0, self.space.dimension), dtype=np.float32)
        return [np.concatenate([nothing, *parts]) for parts in found]

    async def _embed(self, texts: Sequence[str], input_type: str, timeout: float | None = None) -> Vectors:
        """Texts that each stand alone, such as questions."""
        return np.concatenate(await self._together([[text] for text in texts], input_type, timeout))

    async def _together(
        self, groups: Sequence[Sequence[str]], input_type: str, timeout: float | None = None
    ) -> list[Vectors]:
        s = self._settings
        sent = [[filled(text) for text in group] for group in groups]

        async def request(client: AsyncClient) -> Vectors:
            answer = await client.contextualized_embed(
                sent, model=s.model, input_type=input_type, output_dimension=s.dimension
            )
            self._connection.used(answer.total_tokens, s.price)
            found: list[Any] = [vector for result in answer.results for vector in result.embeddings]
            return self._checked(found, sum(len(group) for group in sent))

        flat = await self._connection.call(request, timeout=timeout)
        ends = np.cumsum([len(group) for group in sent])[:-1]
        return list(np.split(flat, ends))


def _parts(documents: Sequence[Sequence[str]]) -> Iterator[_Part]:
    """The documents with their numbers, long ones in parts that are embedded each for itself."""
    for number, passages in enumerate(documents):
        part: list[str] = []
        size = 0
        for passage in passages:
            more = len(passage.encode("utf-8", "replace"))
            if part and size + more > _DOCUMENT_BYTES:
                yield number, part
                part, size = [], 0
            part.append(passage)
            size += more
        if part:
            yield number, part


def _requests(parts: Iterator[_Part]) -> Iterator[list[_Part]]:
    request: list[_Part] = []
    size = 0
    for part in parts:
        more = sum(len(passage.encode("utf-8", "replace")) for passage in part[1])
        if request and (size + more > _REQUEST_BYTES or len(request) >= _REQUEST_DOCUMENTS):
            yield request
            request, size = [], 0
        request.append(part)
        size += more
    if request:
        yield request
