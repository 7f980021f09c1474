"""Where a crawl begins beside its start page: robots.txt, llms.txt and the sitemaps."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from harry_mcp.domain.crawls import Reason
from harry_mcp.errors import SourceError
from harry_mcp.ingest.crawl import robots, sitemap
from harry_mcp.ingest.crawl.fetcher import Answer, NoAnswer, SiteFetcher
from harry_mcp.ingest.crawl.links import absolute, markdown_links
from harry_mcp.ingest.crawl.robots import Robots
from harry_mcp.ingest.crawl.scope import Scope
from harry_mcp.ingest.decoding import decode
from harry_mcp.ingest.fetched import Largest

_LLMS_BYTES = 2 * 1024 * 1024
_NESTED = 3  # sitemap indexes inside one another; the protocol allows one, generators write two
_FILES = 1000  # sitemap files of one site
# Redirects that lead nowhere: then there are no rules (RFC 9309, 2.3.1.2).
_NO_RULES = frozenset({Reason.TOO_MANY_REDIRECTS, Reason.STATUS})
_HTML = re.compile(r"\s*<(?:!doctype|html|head|body)", re.IGNORECASE)


class RobotsBook:
    """The robots.txt of every server of a site, each read once."""

    def __init__(self, fetcher: SiteFetcher, user_agent: str) -> None:
        self._fetcher = fetcher
        self._user_agent = user_agent
        self._rules: dict[str, Robots | NoAnswer] = {}
        self._one = asyncio.Lock()

    async def rules(self, url: str) -> Robots:
        """The rules of the server of an address (RFC 9309, 2.3.1): none for a 4xx.

        Raises:
            NoAnswer: the server is in trouble, and one must then stay away from all of it.
        """
        server = origin(url)
        async with self._one:
            if server not in self._rules:
                try:
                    self._rules[server] = await self._read(server)
                except NoAnswer as error:
                    self._rules[server] = error
        found = self._rules[server]
        if isinstance(found, NoAnswer):
            raise found
        return found

    async def _read(self, server: str) -> Robots:
        try:
            answer = await self._fetcher.follow(f"{server}/robots.txt", largest=Largest.of(robots.LARGEST), cut=True)
        except NoAnswer as error:
            if error.reason in _NO_RULES:
                return robots.parse_robots(b"", self._user_agent)
            raise
        if answer.status >= 500 or answer.status == 429:
            raise NoAnswer(Reason.SERVER_ERROR, f"it answers with status {answer.status}")
        body = answer.page.body if answer.status == 200 else b""
        rules = robots.parse_robots(body, self._user_agent)
        self._fetcher.slow_down(rules.delay)
        return rules


@dataclass(frozen=True, slots=True)
class Seed:
    """An address that the site itself lists."""

    url: str
    lastmod: datetime | None = None


@dataclass(frozen=True, slots=True)
class Seeds:
    """What the site lists, each address once, and what could not be read of its lists."""

    seeds: tuple[Seed, ...]
    warnings: tuple[str, ...]


class SeedReader:
    """Reads llms.txt and the sitemaps of a site."""

    def __init__(self, fetcher: SiteFetcher, scope: Scope, rules: Robots, most: int) -> None:
        self._fetcher = fetcher
        self._scope = scope
        self._rules = rules
        self._most = most
        self._found: dict[str, Seed] = {}
        self._warnings: list[str] = []

    async def read(self) -> Seeds:
        await self._llms()
        await self._sitemaps()
        return Seeds(tuple(self._found.values()), tuple(self._warnings))

    async def _llms(self) -> None:
        url = origin(self._scope.start) + "/llms.txt"
        answer = await self._get(url, _LLMS_BYTES, named=False) if self._rules.allows(url) else None
        if answer is None or answer.page.media_type in ("text/html", "application/xhtml+xml"):
            return
        try:
            text = decode(answer.page.body, source=url, charset=answer.page.charset)
        except SourceError:
            return
        if not _HTML.match(text):
            for link in markdown_links(text, answer.page.url):
                self._add(Seed(link))

    async def _sitemaps(self) -> None:
        home = origin(self._scope.start)
        named = [url for place in self._rules.sitemaps if (url := absolute(place, home + "/"))]
        guess = f"{home}/sitemap.xml"
        waiting = deque((url, 0) for url in dict.fromkeys(named))
        if guess not in named and self._rules.allows(guess):
            waiting.append((guess, 0))
        seen = {url for url, _ in waiting}
        while waiting and len(self._found) < self._most:
            url, depth = waiting.popleft()
            found = await self._sitemap(url, named=url != guess or guess in named)
            for listed in found.pages:
                address = absolute(listed.url, url)
                if address and len(self._found) < self._most:
                    self._add(Seed(address, listed.lastmod))
            for listed in found.sitemaps:
                child = absolute(listed.url, url)
                if child in seen or not child:
                    continue
                if not self._trusted(child, url):
                    self._warnings.append(f"The sitemap {child} was left out: it lies on another site.")
                    continue
                if depth >= _NESTED or len(seen) >= _FILES:
                    self._warnings.append(f"The sitemap {child} was left out: they are too many, or too nested.")
                    continue
                seen.add(child)
                waiting.append((child, depth + 1))
        if waiting:
            self._warnings.append(
                f"Only {self._most} addresses were taken from the sitemaps (HARRY_CRAWL__SITEMAP_URLS)."
            )

    async def _sitemap(self, url: str, *, named: bool) -> sitemap.Sitemap:
        answer = await self._get(url, sitemap.LARGEST, named=named)
        if answer is None:
            return sitemap.Sitemap()
        try:
            found = await asyncio.to_thread(sitemap.parse_sitemap, answer.page.body, most=self._most)
        except SourceError as error:
            if named or "web page" not in str(error):  # a site without a sitemap may show a page in its place
                self._warnings.append(f"The sitemap {url} cannot be read: {error}.")
            return sitemap.Sitemap()
        if found.problem:
            self._warnings.append(f"The sitemap {url} was read in part: {found.problem}.")
        return found

    async def _get(self, url: str, largest: int, *, named: bool) -> Answer | None:
        """The answer if it is one; what is missing is worth a warning only when the site named it."""
        try:
            answer = await self._fetcher.follow(url, largest=Largest.of(largest))
        except NoAnswer as error:
            self._warnings.append(f"{url} cannot be read: {error}.")
            return None
        if answer.status != 200 and (named or answer.status >= 500 or answer.status == 429):
            self._warnings.append(f"{url} cannot be read: the site answers with status {answer.status}.")
        return answer if answer.status == 200 else None

    def _trusted(self, child: str, parent: str) -> bool:
        return self._scope.same_site(child) or origin(child) == origin(parent)

    def _add(self, seed: Seed) -> None:
        known = self._found.get(seed.url)
        if known is None or (known.lastmod is None and seed.lastmod is not None):
            self._found[seed.url] = seed


def origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
