"""What the loop asks of the outside, where money or a network begins. Adapters live in ``providers``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel

from harry_mcp.domain.chat import ChatMessage, ChatTurn, ToolSpec
from harry_mcp.domain.notifications import Delivery, Notification
from harry_mcp.domain.search import (
    Candidate,
    CorpusStatistics,
    EmbeddingSpace,
    QueryTerm,
    Scored,
    SearchFilters,
)
from harry_mcp.domain.web import WebPage

Vectors = npt.NDArray[np.float32]
Shape = TypeVar("Shape", bound=BaseModel)


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


@runtime_checkable
class Loadable(Protocol):
    """An adapter that holds something: an SDK to import, connections to close."""

    async def load(self) -> None:
        """Import and connect now instead of at the first use."""
        ...

    async def close(self) -> None:
        """Give the connections back."""
        ...


class LanguageModel(Protocol):
    """Answers a question with text, or with an object of a given shape.

    ``timeout`` is in seconds, retries included; None takes what the settings give. A call that is not answered in time
    is cancelled.
    """

    @property
    def name(self) -> str:
        """The model, as recipes and reports name it."""
        ...

    async def complete(
        self, question: str, *, system: str, most_tokens: int, document: str = "", timeout: float | None = None
    ) -> Completion:
        """The answer to a question, about a document when one is given.

        ``system`` and ``document`` come first and are the same for many questions: a provider that can keeps them
        cached between calls. The answer may be cut off at ``most_tokens``.

        Raises:
            ProviderTimeout: no answer in time.
            ProviderNotConfigured: the key or the model is refused; asking again is no use.
            ProviderError: the service failed, or gave no text.
        """
        ...

    async def answer(
        self, question: str, *, system: str, shape: type[Shape], most_tokens: int, timeout: float | None = None
    ) -> Shape:
        """The answer as an object of ``shape``, whose docstring and field descriptions the model reads.

        Raises:
            ProviderTimeout: no answer in time.
            ProviderNotConfigured: the key or the model is refused; asking again is no use.
            ProviderError: the service failed, or the answer does not have the shape.
        """
        ...


class ChatModel(Protocol):
    """Takes part in a conversation and may call tools."""

    @property
    def name(self) -> str: ...

    async def turn(
        self,
        messages: Sequence[ChatMessage],
        *,
        system: Sequence[str],
        tools: Sequence[ToolSpec],
        may_call: bool,
        timeout: float | None,
        hear: Callable[[str], None],
        start_over: Callable[[], None],
    ) -> ChatTurn:
        """The next turn. The first part of ``system`` is the same for all conversations and may be cached.

        ``hear`` gets the text piece by piece as it comes. When an attempt breaks off and the next one begins,
        ``start_over`` says that what was heard of this turn is void. ``tools`` stay listed, for earlier turns name
        them; without ``may_call`` none may be called.

        Raises:
            ProviderTimeout: no answer in time.
            ProviderNotConfigured: the key or the model is refused; asking again is no use.
            ProviderError: the service failed.
        """
        ...


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


class WebSearch(Protocol):
    """A search engine for the web."""

    @property
    def name(self) -> str:
        """The service and how it is asked; answers of two names are never kept under one key."""
        ...

    async def search(
        self, question: str, *, hosts: Sequence[str], results: int, timeout: float | None = None
    ) -> list[WebPage]:
        """At most ``results`` pages, asked for on ``hosts`` only, in the service's order.

        The service may return pages of other hosts: whoever passes them on checks each of them. ``timeout`` is in
        seconds, retries included.

        Raises:
            ProviderTimeout: no answer in time; the call was cancelled.
            ProviderNotConfigured: the key is refused; asking again is no use.
            ProviderError: the service failed, or its answer is no list of pages.
        """
        ...


class Notifier(Protocol):
    """Takes a message to people."""

    @property
    def name(self) -> str:
        """Where it goes through, without secrets."""
        ...

    async def send(self, message: Notification, *, last_step: Callable[[], Awaitable[None]]) -> Delivery:
        """Send a message once to all of its recipients.

        ``last_step`` is awaited at the last moment at which the message is surely not sent. If it raises, nothing is
        sent.

        Raises:
            ProviderTimeout: no answer in time.
            ProviderNotConfigured: the user or the certificate is refused; asking again is no use.
            DeliveryUnknown: after ``last_step`` no answer came; the message may have been sent.
            ProviderError: the service failed or refused the message; nothing was sent.
        """
        ...


@dataclass(frozen=True, slots=True)
class Nearest:
    """One list for each query, its best chunks first. ``degraded`` names what the lists may lack."""

    legs: Sequence[Sequence[Scored]] = ()
    degraded: tuple[str, ...] = ()


class VectorIndex(Protocol):
    """Finds the searchable chunks whose vectors are nearest to queries."""

    async def nearest(
        self,
        queries: Sequence[npt.NDArray[np.float32]],
        *,
        limit: int,
        floor: float,
        at_least: int,
        filters: SearchFilters,
        timeout: float | None = None,
    ) -> Nearest:
        """For each query at most ``limit`` chunks with their cosine, ties by id.

        Those under ``floor`` only among the first ``at_least``. None of them is one that PostgreSQL does not hold as
        searchable, or that the filters do not let through, at the moment when it is returned. ``timeout`` is in
        seconds, for what is asked of another service.

        Raises:
            ProviderTimeout: the service did not answer in time.
            ProviderError: the service failed, or was left alone because it kept failing.
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """What must hold of a point, empty fields of none. It may let through more than the filters of a search do, never
    less: ``topic`` and ``language`` are in small letters, ``under`` is one of the point's prefixes, ``since`` is in
    seconds of the epoch."""

    topic: str = ""
    language: str = ""
    under: str = ""
    since: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorPoint:
    """A searchable chunk as a store keeps it; ``under`` are the prefixes of its source and its address."""

    chunk_id: int
    vector: Sequence[float]
    topic: str
    language: str
    updated_at: float
    under: Sequence[str]


class VectorStore(Protocol):
    """A service that keeps copies of vectors, in collections that are searched by cosine.

    Every method raises ProviderTimeout when it is not answered in time, ProviderNotConfigured when the service refuses
    the key or cannot be used as set, and ProviderError when it fails or the collection is not there.
    """

    @property
    def name(self) -> str:
        """The service and where it is, without secrets."""
        ...

    async def make(self, collection: str, dimension: int) -> None:
        """A new, empty collection."""
        ...

    async def drop(self, collection: str) -> None:
        """Remove a collection; one that is not there is no error."""
        ...

    async def put(self, collection: str, points: Sequence[VectorPoint]) -> None:
        """Store points in place of those of the same chunks. Searches see them when this returns."""
        ...

    async def remove(self, collection: str, chunk_ids: Sequence[int]) -> None:
        """Remove points, those that are there. Searches see none of them when this returns."""
        ...

    async def nearest(
        self,
        collection: str,
        queries: Sequence[npt.NDArray[np.float32]],
        *,
        limit: int,
        narrowing: Narrowing,
        timeout: float,
    ) -> list[list[int]]:
        """For each query the chunks nearest by cosine, the best first. ``timeout`` is in seconds."""
        ...

    async def count(self, collection: str) -> int | None:
        """How many points a collection holds, None where there is none of this name."""
        ...

    async def close(self) -> None:
        """Give the connections back."""
        ...
