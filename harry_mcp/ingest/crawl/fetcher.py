"""GET for a crawl: paced, bounded in time and size, and never from an address that was not checked."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from harry_mcp.domain.crawls import Reason
from harry_mcp.errors import SourceError
from harry_mcp.ingest.addresses import all_public, canonical_address, lookup
from harry_mcp.ingest.crawl.pacing import Pacer, retry_after
from harry_mcp.ingest.crawl.scope import Scope
from harry_mcp.ingest.fetched import Body, FetchedPage, Largest
from harry_mcp.ingest.fetching import MOVED, host_and_port, pinned_request
from harry_mcp.settings import CrawlSection

if TYPE_CHECKING:
    import httpx

# Answers that may be better a moment later; two of them tell the whole crawl to be quiet and not one request only.
_PASSING = frozenset({429, 500, 502, 503, 504})
_QUIET = frozenset({429, 503})
_HOPS = 5
_REMEMBERED = 60.0  # seconds that a checked number is used for: a crawl asks one host thousands of times


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said. ``location`` is the canonical address of a redirect, "" for any other answer.

    Who asked for a page closes it.
    """

    page: FetchedPage
    status: int
    headers: Mapping[str, list[str]] = field(default_factory=dict[str, list[str]])
    location: str = ""

    def header(self, name: str) -> str:
        return next(iter(self.headers.get(name, [])), "")


class NoAnswer(SourceError):
    """There is no answer that can be used; ``reason`` says why, and ``str()`` says it in half a sentence."""

    def __init__(self, reason: Reason, sentence: str) -> None:
        super().__init__(sentence)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class _Server:
    """What sends requests to a server, and what writes them."""

    transport: httpx.AsyncHTTPTransport
    client: httpx.AsyncClient


class SiteFetcher:
    """Asks the servers of one site. Redirects are for the caller to judge. ``async with`` it."""

    def __init__(self, settings: CrawlSection, *, private: Scope | None = None) -> None:
        """``private`` is a site that may have private addresses; no other one may, whoever points to it."""
        self._settings = settings
        self._pacer = Pacer(settings.concurrency, settings.delay)
        self._private = private
        # One for each server: httpx shares connections by number, and a certificate is good for one name only.
        self._servers: dict[str, _Server] = {}
        self._numbers: dict[tuple[str, int], tuple[str, float]] = {}
        self.requests = 0

    async def __aenter__(self) -> SiteFetcher:
        return self

    async def __aexit__(self, *_: object) -> None:
        for server in self._servers.values():
            await server.transport.aclose()

    def slow_down(self, delay: float) -> None:
        """Leave at least so many seconds between two requests."""
        self._pacer.delay = max(self._pacer.delay, delay)

    async def get(
        self, address: str, *, largest: Largest, headers: dict[str, str] | None = None, cut: bool = False
    ) -> Answer:
        """Ask for an address, again after a passing failure, and after the silence that the site asks for.

        With ``cut`` a body that is too large is cut and not refused.

        Raises:
            NoAnswer: a private address, no connection, too slow, or too large.
        """
        settings = self._settings
        for attempt in range(settings.retries + 1):
            last = attempt == settings.retries
            pause = settings.retry_pause * 2**attempt
            try:
                answer = await self._turn(address, largest, headers or {}, cut=cut)
            except NoAnswer as error:
                if last or error.reason is not Reason.UNREACHABLE:
                    raise
            else:
                asked = retry_after(answer.header("retry-after"), datetime.now(UTC))
                pause = pause if asked is None else asked
                if last or answer.status not in _PASSING or pause > settings.longest_wait:
                    return answer
                if answer.status in _QUIET:
                    self._pacer.silence(pause)
                    continue
            await asyncio.sleep(pause)
        raise NoAnswer(Reason.UNREACHABLE, "it was never asked")

    async def _turn(self, address: str, largest: Largest, headers: dict[str, str], *, cut: bool) -> Answer:
        """One request. The time limit begins when it is sent, not while it waits for its turn."""
        import httpx

        async with self._pacer.turn():
            limit = self._settings.timeout
            try:
                async with asyncio.timeout(limit):
                    return await self._ask(address, largest, headers, cut=cut)
            except (TimeoutError, httpx.TimeoutException) as error:
                raise NoAnswer(Reason.TIMEOUT, f"it did not answer within {limit:g} seconds") from error
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise NoAnswer(Reason.UNREACHABLE, str(error) or type(error).__name__) from error

    async def follow(self, address: str, *, largest: Largest, cut: bool = False) -> Answer:
        """The same, along a few redirects: for robots.txt and sitemaps, which belong to no page.

        Raises:
            NoAnswer: as in :meth:`get`; TOO_MANY_REDIRECTS or STATUS when they lead nowhere.
        """
        first = address
        for _ in range(_HOPS + 1):
            try:
                answer = await self.get(address, largest=largest, cut=cut)
            except NoAnswer as error:
                if error.reason is Reason.PRIVATE and address != first:
                    raise NoAnswer(Reason.STATUS, f"it redirects to {address}, a private address") from error
                raise
            if not answer.location:
                return answer
            address = answer.location
        raise NoAnswer(Reason.TOO_MANY_REDIRECTS, f"it redirects more than {_HOPS} times")

    async def _ask(self, address: str, largest: Largest, headers: dict[str, str], *, cut: bool) -> Answer:
        number = await self._number(address)
        server = self._server(address)
        headers = {"user-agent": self._settings.user_agent} | headers
        request = pinned_request(server.client, address, number, headers=headers, timeout=self._settings.timeout)
        self.requests += 1
        # Not by the client: it keeps cookies, which would show us pages that a stranger does not see, and it unpacks
        # without a bound.
        response = await server.transport.handle_async_request(request)
        try:
            location = _location(address, response)
            kept = {name.lower(): response.headers.get_list(name) for name in response.headers}
            with Body(address, response, largest) as body:
                if not location and response.status_code == 200:
                    await _read(response, body, cut=cut)
                    page = body.page()
                else:
                    page = FetchedPage(url=address)
            return Answer(page, response.status_code, kept, location)
        finally:
            await response.aclose()

    async def _number(self, address: str) -> str:
        """The IP address to connect to, which is the one that was checked."""
        where = host_and_port(address)
        number, until = self._numbers.get(where, ("", 0.0))
        if until > time.monotonic():
            return number
        try:
            numbers = await asyncio.to_thread(lookup, *where)
        except SourceError as error:
            raise NoAnswer(Reason.UNREACHABLE, str(error).rstrip(".")) from error
        if not (self._private and self._private.same_site(address)) and not all_public(numbers):
            raise NoAnswer(
                Reason.PRIVATE, f"{where[0]} is a private address, and those are not fetched unless you allow it"
            )
        self._numbers[where] = numbers[0], time.monotonic() + _REMEMBERED
        return numbers[0]

    def _server(self, address: str) -> _Server:
        import httpx

        parts = urlsplit(address)
        name = f"{parts.scheme}://{parts.netloc}"
        if name not in self._servers:
            # Proxies of the environment would resolve names again, out of reach of the check.
            transport = httpx.AsyncHTTPTransport(trust_env=False)
            self._servers[name] = _Server(transport, httpx.AsyncClient(transport=transport, trust_env=False))
        return self._servers[name]


def _location(address: str, response: httpx.Response) -> str:
    if response.status_code not in MOVED or "location" not in response.headers:
        return ""
    try:
        return canonical_address(urljoin(address, response.headers["location"]))
    except (SourceError, ValueError) as error:
        raise NoAnswer(Reason.STATUS, "it redirects to what is no web address") from error


async def _read(response: httpx.Response, body: Body, *, cut: bool) -> None:
    too_large = NoAnswer(Reason.TOO_LARGE, f"it is larger than {body.largest // 1024} KB")
    if not cut and body.declared_too_large:
        raise too_large
    fits = True
    try:
        async for packed in response.aiter_raw():
            if not (fits := body.add(packed)):
                break
        else:
            body.end()
    except SourceError as error:
        raise NoAnswer(Reason.UNREADABLE, str(error)) from error
    if not (fits or cut):
        raise too_large
