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
from harry_mcp.domain.search import Candidate, CorpusStatistics, EmbeddingSpace, QueryTerm
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
