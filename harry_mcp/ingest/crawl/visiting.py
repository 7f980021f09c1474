"""One visit: ask for an address, and say what its answer is worth."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import replace

from harry_mcp.domain.crawls import Outcome, Reason, Visit
from harry_mcp.ingest.crawl.answers import condition, failure, not_modified
from harry_mcp.ingest.crawl.fetcher import Answer, NoAnswer, SiteFetcher
from harry_mcp.ingest.crawl.pages import Expectations, Finding, look, words_of
from harry_mcp.ingest.crawl.robots import product_token
from harry_mcp.ingest.crawl.scope import Scope
from harry_mcp.ingest.crawl.seeds import RobotsBook, origin
from harry_mcp.ingest.fetched import Largest

# An address that no site has. A site that answers it with a page shows what it shows for every missing page.
_NOWHERE = "/harry-mcp-asks-for-a-page-that-does-not-exist"


class Visitor:
    """Visits addresses, and decides nothing."""

    def __init__(
        self, fetcher: SiteFetcher, book: RobotsBook, scope: Scope, *, user_agent: str, largest: Largest
    ) -> None:
        self._fetcher = fetcher
        self._book = book
        self._largest = largest
        self._expected = Expectations(agent=product_token(user_agent), scope=scope)

    async def learn(self) -> None:
        """See what the site shows for a page that does not exist."""
        url = origin(self._expected.scope.start) + _NOWHERE
        try:
            if not (await self._book.rules(url)).allows(url):
                return
            answer = await self._fetcher.follow(url, largest=self._largest)
        except NoAnswer:
            return
        with closing(answer.page):
            if answer.status == 200:
                try:
                    probe = await asyncio.to_thread(words_of, answer.page)
                except Exception:  # noqa: BLE001 - as below: then the site shows nothing that could be learnt
                    return
                self._expected = replace(self._expected, probe=probe)

    async def visit(self, visit: Visit) -> Finding:
        """What became of a visit; nothing that a server says raises."""
        try:
            rules = await self._book.rules(visit.url)
        except NoAnswer as error:
            said = f"its robots.txt cannot be read ({error}), and without it the site must be left alone"
            return _none(error.reason, said)
        if not rules.allows(visit.url):
            return Finding(outcome=Outcome.REFUSED, reason=Reason.ROBOTS, links=None)
        asked = condition(visit)
        try:
            answer = await self._fetcher.get(visit.url, largest=self._largest, headers=asked)
        except NoAnswer as error:
            return _none(error.reason, str(error))
        if answer.location:
            return Finding(outcome=Outcome.REDIRECTED, target=answer.location, status=answer.status)
        if answer.status == 304 and asked:
            return not_modified(visit)
        if answer.status != 200:
            return failure(answer.status)
        with closing(answer.page):
            return await self._look(visit, answer)

    async def look_in(self, url: str) -> Finding:
        """Visit an address without any knowledge of it, to see whether the site still answers."""
        blank = Visit(
            id=0, url=url, depth=0, hops=0, outcome="", reason="", target="", fingerprint="", etag="",
            last_modified="", stands_alone=False, stored=False, shown=False,
        )  # fmt: skip
        return await self.visit(blank)

    async def _look(self, visit: Visit, answer: Answer) -> Finding:
        expected = replace(self._expected, stands_alone=visit.stands_alone)
        if visit.url == expected.scope.start:
            # Some sites show their front page for whatever is missing; that does not make it a missing page.
            expected = replace(expected, probe=frozenset())
        try:
            finding = await asyncio.to_thread(look, answer.page, answer.headers, expected)
        except Exception as error:  # noqa: BLE001 - what strangers write may break any parser, and costs one page
            said = f"reading it failed ({type(error).__name__})"
            finding = Finding(outcome=Outcome.FAILED, reason=Reason.UNREADABLE, detail=said, links=None)
        return replace(
            finding,
            status=answer.status,
            size=answer.page.size,
            etag=answer.header("etag"),
            last_modified=answer.header("last-modified"),
        )


def _none(reason: Reason, detail: str) -> Finding:
    outcome = Outcome.REFUSED if reason is Reason.PRIVATE else Outcome.FAILED
    return Finding(outcome=outcome, reason=reason, detail=detail, links=None)
