"""Crawling a site into the knowledge base: what is asked for, what comes first, and what is said at the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from harry_mcp.domain.crawls import CrawlState, Reason, Wanted
from harry_mcp.errors import InputError, SourceError
from harry_mcp.ingest.addresses import canonical_address
from harry_mcp.ingest.crawl.fetcher import NoAnswer, SiteFetcher
from harry_mcp.ingest.crawl.frontier import Frontier
from harry_mcp.ingest.crawl.links import Link
from harry_mcp.ingest.crawl.outlook import Outlook, look_ahead
from harry_mcp.ingest.crawl.report import CrawlReport, RunFacts, report_of
from harry_mcp.ingest.crawl.robots import Robots
from harry_mcp.ingest.crawl.run import CrawlProgress, Limits, SiteRun
from harry_mcp.ingest.crawl.scope import Scope
from harry_mcp.ingest.crawl.seeds import RobotsBook, SeedReader
from harry_mcp.ingest.crawl.visiting import Visitor
from harry_mcp.ingest.fetched import LARGEST, Largest
from harry_mcp.ingest.ingester import Ingester
from harry_mcp.settings import CrawlSection
from harry_mcp.storage.crawls import Crawls
from harry_mcp.storage.database import Database

_TRIES = 20  # to take a crawl that another process holds: one that was killed may still be on its way out
_BETWEEN = 0.1  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlRequest:
    """What to crawl. ``prefix`` is a path; ``depth`` and ``pages`` are the settings' when None.

    ``topic`` is that of all its pages. ``fresh`` asks for every page whole, also for those that did not change.
    """

    url: str
    prefix: str = "/"
    depth: int | None = None
    pages: int | None = None
    allow_private: bool = False
    topic: str = ""
    fresh: bool = False


class Crawler:
    """Crawls sites, one run at a time for each."""

    def __init__(
        self,
        database: Database,
        ingester: Ingester,
        settings: CrawlSection,
        *,
        page_bytes: int = LARGEST.other,
        pdf_bytes: int = LARGEST.pdf,
    ) -> None:
        self._database = database
        self._ingester = ingester
        self._settings = settings
        self._largest = Largest(other=page_bytes, pdf=pdf_bytes)

    async def crawl(
        self, request: CrawlRequest, *, report: Callable[[CrawlProgress], None] | None = None
    ) -> CrawlReport:
        """Crawl a site, or go on where a run before this one was ended.

        Raises:
            SourceError: it is no web address, cannot be reached, forbids us altogether, or is another site by now.
            InputError: another process is crawling it.
            DatabaseUnavailable, ProviderError: as in :meth:`Ingester.ingest`; the next run goes on from there.
        """
        scope = plan(request, self._settings)
        async with (
            self._fetcher(request, scope) as fetcher,
            self._taken(scope) as crawl_id,
        ):
            book = RobotsBook(fetcher, self._settings.user_agent)
            rules = await self._permission(book, scope, request)
            async with self._database.transaction() as unit:
                before = await unit.crawls.enter(scope.start, scope.prefix)
                await unit.crawls.begin_again(crawl_id)
                state = await unit.crawls.enter(scope.start, scope.prefix)
            frontier = await self._frontier(state, scope, fetcher, rules)
            visitor = self._visitor(fetcher, book, scope)
            await visitor.learn()
            run = SiteRun(
                crawl_id=crawl_id,
                start=scope.start,
                database=self._database,
                ingester=self._ingester,
                visitor=visitor,
                frontier=frontier,
                limits=Limits(
                    pages=request.pages or self._settings.pages,
                    bytes=self._settings.site_bytes,
                    concurrency=self._settings.concurrency,
                    blocked_after=self._settings.blocked_after,
                ),
                wanted=self._wanted(request),
                report=report,
            )
            spent = self._spent
            await run.go()
            done = await self._report(scope, before, run, fetcher, self._spent - spent)
            _refuse_nothing(done, scope)
            return done

    async def outlook(self, request: CrawlRequest) -> Outlook:
        """What a crawl will meet, to tell beforehand what it will cost. Writes nothing, and reads a few pages.

        Raises:
            SourceError: as :meth:`crawl`.
        """
        scope = plan(request, self._settings)
        wanted = self._wanted(request)
        async with self._fetcher(request, scope) as fetcher:
            book = RobotsBook(fetcher, self._settings.user_agent)
            rules = await self._permission(book, scope, request)
            seeds = (await SeedReader(fetcher, scope, rules, self._settings.sitemap_urls).read()).seeds
            listed = [seed.url for seed in seeds if scope.refusal(seed.url, 1) is None and rules.allows(seed.url)]
            async with self._database.reading() as unit:
                stored = await unit.crawls.stored_pages(scope.start, scope.prefix, wanted)
            visitor = self._visitor(fetcher, book, scope)
            await visitor.learn()
            most = request.pages or self._settings.pages
            return await look_ahead(visitor, scope, listed, stored, most=most, fresh=wanted.fresh)

    def _fetcher(self, request: CrawlRequest, scope: Scope) -> SiteFetcher:
        return SiteFetcher(self._settings, private=scope if request.allow_private else None)

    def _visitor(self, fetcher: SiteFetcher, book: RobotsBook, scope: Scope) -> Visitor:
        return Visitor(fetcher, book, scope, user_agent=self._settings.user_agent, largest=self._largest)

    def _wanted(self, request: CrawlRequest) -> Wanted:
        return Wanted(recipe=self._ingester.recipe, topic=request.topic, fresh=request.fresh)

    @property
    def _spent(self) -> float:
        return self._ingester.situator.spent if self._ingester.situator else 0.0

    @asynccontextmanager
    async def _taken(self, scope: Scope) -> AsyncGenerator[int, None]:
        """The crawl's id, while no other process has it."""
        async with self._database.reading() as unit:
            state = await unit.crawls.enter(scope.start, scope.prefix)
            if not await _take(unit.crawls, state.id):
                raise InputError(f"Another process is crawling {scope.start} right now; let it finish.")
            try:
                yield state.id
            finally:
                await unit.crawls.unlock(state.id)

    async def _permission(self, book: RobotsBook, scope: Scope, request: CrawlRequest) -> Robots:
        """The site's robots.txt, which has to let us in."""
        host = urlsplit(scope.start).netloc
        try:
            rules = await book.rules(scope.start)
        except NoAnswer as error:
            if error.reason is Reason.SERVER_ERROR:
                raise SourceError(
                    f"{host} cannot be crawled now: its robots.txt cannot be read ({error}), and without it a crawler "
                    "must stay away. Try again later."
                ) from error
            hint = (
                " (--allow-private, or HARRY_INGEST__PRIVATE_ADDRESSES=true)" if error.reason is Reason.PRIVATE else ""
            )
            raise SourceError(f"{host} cannot be crawled: {error}{hint}.") from error
        if not rules.allows(scope.start):
            raise SourceError(f"The robots.txt of {host} forbids {rules.agent} to read {scope.start}.")
        if rules.delay > self._settings.longest_delay:
            raise SourceError(
                f"The robots.txt of {host} asks for {rules.delay:g} seconds between two pages, which is more than "
                f"HARRY_CRAWL__LONGEST_DELAY ({self._settings.longest_delay:g}). Raise it if you have the time."
            )
        return rules

    async def _frontier(self, state: CrawlState, scope: Scope, fetcher: SiteFetcher, rules: Robots) -> Frontier:
        """The frontier of this run, with all that the site lists of itself in it."""
        frontier = Frontier(state.id, scope)
        async with self._database.reading() as unit:
            await frontier.load(unit.crawls)
        if state.seeded:
            frontier.listed = not state.warnings
            return frontier
        listed = await SeedReader(fetcher, scope, rules, self._settings.sitemap_urls).read()
        lastmods = {seed.url: seed.lastmod for seed in listed.seeds}
        async with self._database.transaction() as unit:
            await frontier.meet(unit.crawls, [Link(scope.start)], depth=0)
            await frontier.meet(unit.crawls, [Link(url) for url in lastmods], depth=1, lastmods=lastmods)
            await unit.crawls.seeded(state.id, listed.warnings)
        frontier.listed = not listed.warnings
        return frontier

    async def _report(
        self, scope: Scope, before: CrawlState, run: SiteRun, fetcher: SiteFetcher, spent: float
    ) -> CrawlReport:
        async with self._database.reading() as unit:
            state = await unit.crawls.enter(scope.start, scope.prefix)
            entries = await unit.crawls.entries(state.id)
        facts = RunFacts(
            site=scope.start,
            prefix=scope.prefix,
            run=state.run,
            resumed=state.run == before.run and before.seeded,
            stopped=run.stopped,
            warnings=state.warnings,
            requests=fetcher.requests,
            chunks_written=run.chunks_written,
            template_contexts=run.template_contexts,
            spent=spent,
            allowance=self._ingester.situator.allowance if self._ingester.situator else 0.0,
        )
        return report_of(entries, facts)


def plan(request: CrawlRequest, settings: CrawlSection) -> Scope:
    """What a request reaches. Raises SourceError when that is nothing."""
    start = canonical_address(request.url)
    prefix = urlsplit(canonical_address(urljoin(start, "/" + request.prefix.strip().lstrip("/")))).path
    scope = Scope(start=start, prefix=prefix, depth=settings.depth if request.depth is None else request.depth)
    if not scope.holds(urlsplit(start).path):
        raise SourceError(f"{start} is not under {prefix}. Start at a page that is, or widen the prefix.")
    refusal = scope.refusal(start, 0)
    if refusal is not None:
        raise SourceError(f"{start} cannot be crawled: it is no page with text.")
    return scope


async def _take(crawls: Crawls, crawl_id: int) -> bool:
    for _ in range(_TRIES):
        if await crawls.try_lock(crawl_id):
            return True
        await asyncio.sleep(_BETWEEN)
    return False


def _refuse_nothing(report: CrawlReport, scope: Scope) -> None:
    """A site of which not even the start page could be had is one sentence and no report."""
    moved = report.redirected.get(scope.start)
    if moved and report.seen == len(report.redirected) + len(report.refused) and not scope.same_site(moved):
        raise SourceError(f"{scope.start} redirects to another site, {moved}. Crawl that one if you mean it.")
    if report.seen == 1 and report.failed:
        why = next(iter(report.failed.values())).why
        raise SourceError(f"{scope.start} cannot be crawled: {why}.")
