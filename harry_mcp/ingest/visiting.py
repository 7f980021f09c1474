"""A visit to one host: HEAD, a GET of one byte where HEAD says too little, pauses, and silence when it asks for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from harry_mcp.domain.sources import PRIVATE, Probe, SourceState, leads_home, same_site, state_of
from harry_mcp.errors import SourceError
from harry_mcp.ingest.addresses import all_public, canonical_address, lookup, private_name
from harry_mcp.ingest.crawl.pacing import Pacer, retry_after
from harry_mcp.ingest.fetching import MOVED, host_and_port, pinned_request, why_not
from harry_mcp.ingest.reachability import server_was_there, silence
from harry_mcp.settings import CurateSection

if TYPE_CHECKING:
    import httpx

_HOPS = 5
_QUIET = frozenset({429, 503})
# Refusals to speak in a row, without a word for how long, after which a host is left alone.
_BLOCKED_AFTER = 3
_UNASKED = 3600.0  # seconds that it is then left alone
# Requests without any answer, one after the other, from which on a host is silent, and not its pages.
_SILENT_AFTER = 5


class _Silent(Exception):
    """There was no answer; ``probe`` says so."""

    def __init__(self, probe: Probe) -> None:
        super().__init__(probe.reason)
        self.probe = probe


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    location: str


class Visit:
    """The connections to one host, and how it wants to be asked."""

    def __init__(
        self, settings: CurateSection, user_agent: str, *, allow_private: bool, clock: Callable[[], datetime]
    ) -> None:
        self._settings = settings
        self._user_agent = user_agent
        self._allow_private = allow_private
        self._clock = clock
        self._pacer = Pacer(settings.probe_per_host, settings.probe_delay)
        # One for each server: httpx shares connections by number, and a certificate is good for one name only.
        self._clients: dict[str, httpx.AsyncClient] = {}
        self._numbers: dict[tuple[str, int], str] = {}
        self._blocked = 0
        self._retry_at: datetime | None = None
        self._spoke = False
        self._silences: list[Probe] = []

    def shut(self, until: float) -> bool:
        """Whether no more is to be asked."""
        fell_silent = self._spoke and len(self._silences) >= _SILENT_AFTER
        return self._retry_at is not None or fell_silent or time.monotonic() >= until

    def heard(self, answer: Probe) -> None:
        """Note whether the host speaks at all."""
        if answer.status:
            self._spoke = True
            self._silences.clear()
        elif answer.outcome is SourceState.UNCLEAR:
            self._silences.append(answer)

    @property
    def mute(self) -> Probe | None:
        """The answer that stands for all of a host which never spoke. One that fell silent is left alone instead."""
        return self._silences[-1] if not self._spoke and len(self._silences) >= _SILENT_AFTER else None

    async def close(self) -> None:
        for client in self._clients.values():
            await client.aclose()

    async def probe(self, address: str) -> Probe:
        """What an address says. HEAD alone is believed only when it says that the page is there."""
        try:
            start = canonical_address(address)
        except SourceError as error:
            return Probe(outcome=SourceState.SKIPPED, method="", reason=str(error))
        found = Probe(outcome=SourceState.UNCLEAR, method="HEAD")
        for method in ("HEAD", "GET"):
            try:
                found = await self._walk(method, start)
            except _Silent as silence:
                found = silence.probe
            if found.outcome in (SourceState.ALIVE, SourceState.SKIPPED) or found.status == 429 or self._retry_at:
                break
        return replace(found, retry_at=self._retry_at)

    async def _walk(self, method: str, start: str) -> Probe:
        """Follow the redirects within the site; one that leads away ends it."""
        address, seen, status = start, {start}, 0
        for _ in range(_HOPS + 1):
            answer = await self._ask(method, address)
            if not answer.location:
                return _judged(method, answer.status, home=leads_home(start, address))
            if not same_site(start, answer.location):
                return self._moved(method, answer)
            address, status = answer.location, answer.status
            if address in seen:
                break
            seen.add(address)
        reason = "its redirects lead nowhere"
        raise _Silent(Probe(outcome=SourceState.UNCLEAR, method=method, status=status, reason=reason))

    def _moved(self, method: str, answer: _Answer) -> Probe:
        """It redirects to another site. One that is private is a network's own, which wants a login first."""
        found = Probe(outcome=SourceState.DEAD, method=method, status=answer.status, location=answer.location[:1000])
        if self._allow_private or not private_name(host_and_port(answer.location)[0]):
            return replace(found, reason="it redirects to another site")
        reason = "it redirects to a private address, as a network does that wants a login"
        return replace(found, outcome=SourceState.UNCLEAR, reason=reason)

    async def _ask(self, method: str, address: str) -> _Answer:
        """One answer; once more after a silence that the host asks for, if it is short."""
        answer, wait = await self._turn(method, address)
        if wait is None:
            return answer
        if 0 <= wait <= self._settings.longest_wait:
            self._pacer.silence(wait)
            answer, wait = await self._turn(method, address)
        if wait is not None and wait > 0:
            self._retry_at = self._clock() + timedelta(seconds=wait)
        return answer

    async def _turn(self, method: str, address: str) -> tuple[_Answer, float | None]:
        """An answer, and the seconds of silence that it asks for."""
        import httpx

        limit = self._settings.probe_timeout
        unclear = Probe(outcome=SourceState.UNCLEAR, method=method)
        async with self._pacer.turn():
            try:
                # Each step of a request has the limit too; this one is for a server that sends a byte now and then.
                async with asyncio.timeout(2 * limit):
                    response = await self._send(method, address)
            except (TimeoutError, httpx.TimeoutException) as error:
                reason = f"it did not answer within {limit:g} seconds"
                raise _Silent(replace(unclear, reason=reason, reached=server_was_there(error))) from error
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise _Silent(replace(unclear, reason=silence(error), reached=server_was_there(error))) from error
        return _Answer(response.status_code, _location(method, address, response)), self._silence(response)

    def _silence(self, response: httpx.Response) -> float | None:
        """Seconds for which the host wants no more requests, None when it does not say so."""
        if response.status_code not in _QUIET:
            self._blocked = 0
            return None
        asked = retry_after(response.headers.get("retry-after", ""), datetime.now(UTC))
        if asked is not None:
            return asked
        self._blocked += response.status_code == 429
        return _UNASKED if self._blocked >= _BLOCKED_AFTER else None

    async def _send(self, method: str, address: str) -> httpx.Response:
        """The head of an answer; its body is let go."""
        number = await self._number(method, address)
        headers = {"user-agent": self._user_agent} | ({"range": "bytes=0-0"} if method == "GET" else {})
        client = self._client(address)
        request = pinned_request(client, address, number, headers=headers, timeout=self._settings.probe_timeout)
        request.method = method
        response = await client.send(request, stream=True)
        with suppress(OSError):
            await response.aclose()
        return response

    async def _number(self, method: str, address: str) -> str:
        """The IP address to connect to, which is the one that was checked."""
        where = host_and_port(address)
        if where not in self._numbers:
            silent = Probe(outcome=SourceState.UNCLEAR, method=method)
            try:
                numbers = await asyncio.to_thread(lookup, *where)
            except SourceError as error:
                raise _Silent(replace(silent, reason=str(error).rstrip("."))) from error
            if not self._allow_private and not all_public(numbers):
                raise _Silent(replace(silent, outcome=SourceState.SKIPPED, reason=PRIVATE))
            self._numbers[where] = numbers[0]
        return self._numbers[where]

    def _client(self, address: str) -> httpx.AsyncClient:
        import httpx

        parts = urlsplit(address)
        server = f"{parts.scheme}://{parts.netloc}"
        if server not in self._clients:
            # Proxies of the environment would resolve names again, out of reach of the check.
            self._clients[server] = httpx.AsyncClient(trust_env=False, follow_redirects=False)
        return self._clients[server]


def _judged(method: str, status: int, *, home: bool) -> Probe:
    state = state_of(status)
    if state is SourceState.ALIVE and home:
        reason = "it redirects to a page that stands for all that is gone"
        return Probe(outcome=SourceState.UNCLEAR, method=method, status=status, reason=reason)
    return Probe(
        outcome=state, method=method, status=status, reason="" if state is SourceState.ALIVE else why_not(status)
    )


def _location(method: str, address: str, response: httpx.Response) -> str:
    if response.status_code not in MOVED or "location" not in response.headers:
        return ""
    try:
        return canonical_address(urljoin(address, response.headers["location"]))
    except (SourceError, ValueError) as error:
        reason = "it redirects to what is no web address"
        raise _Silent(
            Probe(outcome=SourceState.UNCLEAR, method=method, status=response.status_code, reason=reason)
        ) from error
