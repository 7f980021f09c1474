"""Services that are asked or told something, and what holds connections to them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, runtime_checkable

from harry_mcp.domain.notifications import Delivery, Notification
from harry_mcp.domain.web import WebPage


@runtime_checkable
class Loadable(Protocol):
    """An adapter that holds something: an SDK to import, connections to close."""

    async def load(self) -> None:
        """Import and connect now instead of at the first use."""
        ...

    async def close(self) -> None:
        """Give the connections back."""
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
