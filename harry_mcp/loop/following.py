"""Where web addresses lead: each is asked for as a browser would, hop by hop, and let go of after its first bytes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from harry_mcp.domain.crawls import Reason
from harry_mcp.ingest.crawl.fetcher import NoAnswer, SiteFetcher
from harry_mcp.ingest.fetched import Largest
from harry_mcp.settings import CrawlSection
from harry_mcp.stages.verify.web import Led

_HOPS = 5
_FIRST_BYTES = Largest.of(1)
# Where nothing at all could be reached, names take seconds to fail and each holds a thread; so nobody asks for a while.
_REST_SECONDS = 60.0


class Follower:
    """Asks for addresses from this machine, never at a private number. The same guard as the crawler's."""

    def __init__(self, user_agent: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._user_agent = user_agent
        self._clock = clock
        self._rests_until = 0.0

    async def __call__(
        self, addresses: Sequence[str], *, allowed: Callable[[str], bool], seconds: float
    ) -> Sequence[Led]:
        led = {address: Led(address, 0) for address in addresses}
        if seconds <= 0 or self._clock() < self._rests_until:
            return [led[address] for address in addresses]
        async with self._fetcher(seconds) as fetcher:
            tasks = [
                asyncio.create_task(_host(fetcher, group, allowed, led), name="harry-follow")
                for group in _by_host(addresses)
            ]
            await asyncio.wait(tasks, timeout=seconds)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if all(found.status == 0 for found in led.values()):
            self._rests_until = self._clock() + _REST_SECONDS
        return [led[address] for address in addresses]

    def _fetcher(self, seconds: float) -> SiteFetcher:
        polite = CrawlSection(user_agent=self._user_agent, timeout=seconds, retries=0, delay=0, concurrency=16)
        return SiteFetcher(polite)


def _by_host(addresses: Sequence[str]) -> list[list[str]]:
    groups: dict[str, list[str]] = {}
    for address in dict.fromkeys(addresses):
        groups.setdefault(urlsplit(address).netloc, []).append(address)
    return list(groups.values())


async def _host(
    fetcher: SiteFetcher, addresses: Sequence[str], allowed: Callable[[str], bool], led: dict[str, Led]
) -> None:
    """Follow the addresses of one host: one alone, so that the name is looked up once, then the others together."""

    async def follow(address: str) -> None:
        led[address] = await _led(fetcher, address, allowed)

    first, *others = addresses
    await follow(first)
    if led[first].status or led[first].address != first:
        await asyncio.gather(*(follow(address) for address in others))


async def _led(fetcher: SiteFetcher, start: str, allowed: Callable[[str], bool]) -> Led:
    address = start
    for _ in range(_HOPS + 1):
        try:
            answer = await fetcher.get(address, largest=_FIRST_BYTES, cut=True)
        except NoAnswer as error:
            # A redirect to what is no address at all is one that leads away; all else says nothing.
            return Led("", 0) if error.reason is Reason.STATUS else Led(start, 0)
        answer.page.close()
        if not answer.location:
            return Led(address, answer.status)
        address = answer.location
        if not allowed(address):
            return Led(address, answer.status)
    return Led(start, 0)
