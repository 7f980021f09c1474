"""One run over a site: visits go on side by side, their findings are taken in the frontier's order.

The order makes a run repeatable: of two pages with the same content the first one met wins, every time. Links are
written down before the page that has them is decided, and a page is decided after its document is stored, so a run
that is killed at any moment has lost nothing and asks only for what was in the air.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from harry_mcp.domain.crawls import Outcome, Reason, Visit, Wanted
from harry_mcp.ingest.crawl.answers import decide
from harry_mcp.ingest.crawl.chains import circles, homeless
from harry_mcp.ingest.crawl.frontier import Frontier
from harry_mcp.ingest.crawl.links import Link
from harry_mcp.ingest.crawl.pages import Finding
from harry_mcp.ingest.crawl.refusals import Refusals, is_refusal
from harry_mcp.ingest.crawl.scope import REDIRECTS
from harry_mcp.ingest.crawl.storing import PageStore
from harry_mcp.ingest.crawl.visiting import Visitor
from harry_mcp.ingest.ingester import Ingester
from harry_mcp.storage.crawls import Crawls
from harry_mcp.storage.database import Database

_AHEAD = 8  # visits in the air for each request that may be under way, so that others go on beside a slow page
_ROUNDS = 5
_CHUNKS_BEFORE_VACUUM = 200
# Answers after which the links of the last time stand: the page did not really show itself.
_NO_REAL_PAGE = frozenset({Reason.LOGIN, Reason.ERROR_PAGE, Reason.EMPTY})
_KEEPS_CONTENT = frozenset({Outcome.STORED, Outcome.UNCHANGED, Outcome.FAILED})


@dataclass(frozen=True, slots=True)
class CrawlProgress:
    """One address is decided or about to be stored; how many are so far, and how many were met."""

    url: str
    outcome: str
    done: int
    met: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When a run is long enough, and when it is being sent away."""

    pages: int
    bytes: int
    concurrency: int
    blocked_after: int


class SiteRun:
    """Visits what waits in a frontier until nothing does, or until the site sends us away."""

    def __init__(
        self,
        *,
        crawl_id: int,
        start: str,
        database: Database,
        ingester: Ingester,
        visitor: Visitor,
        frontier: Frontier,
        limits: Limits,
        wanted: Wanted,
        report: Callable[[CrawlProgress], None] | None,
    ) -> None:
        self._id = crawl_id
        self._start = start
        self._database = database
        self._visitor = visitor
        self._frontier = frontier
        self._limits = limits
        self._wanted = wanted
        self._window = limits.concurrency * _AHEAD
        self._report = report
        self._flight: deque[tuple[Visit, asyncio.Task[Finding]]] = deque()
        self._store = PageStore(database, ingester, wanted.topic, self._lost)
        self._holders: dict[str, str] = {}
        self._refusals = Refusals(limits.blocked_after, self._window)
        self._done = 0
        self._started = False
        self.stopped = ""

    @property
    def chunks_written(self) -> int:
        return self._store.chunks_written

    @property
    def template_contexts(self) -> dict[str, str]:
        return self._store.template_contexts

    async def go(self) -> None:
        """Visit all there is to visit. ``stopped`` says why some still wait, if they do."""
        async with self._database.reading() as unit:
            self._holders = await unit.crawls.holders(self._id)
        try:
            await self._visit_all()
            for _ in range(_ROUNDS):
                if self.stopped or not await self._find_homes():
                    break
                await self._visit_all()
        finally:
            await self._land()
        if not self.stopped:
            await self._close()
        if self.chunks_written >= _CHUNKS_BEFORE_VACUUM:
            await self._database.vacuum()

    async def _visit_all(self) -> None:
        while not self.stopped:
            await self._take_off()
            if not self._flight:
                break
            visit, task = self._flight.popleft()
            await self._take(visit, await task)
        await self._store.flush()

    async def _take_off(self) -> None:
        """Start visits until enough are in the air."""
        room = self._window - len(self._flight)
        if room < self._window // 2 and self._flight:
            return
        limit = self._reached()
        if limit is None:
            room = min(room, self._limits.pages - self._frontier.asked - len(self._flight))
            if room > 0:
                await self._start_visits(room)
        elif not self._flight:
            await self._store.flush()
            async with self._database.transaction() as unit:
                await unit.crawls.refuse_waiting(self._id, limit)

    async def _start_visits(self, room: int) -> None:
        # Nothing beyond the links of what is in the air, so that every address is visited at its least depth; and
        # the start page alone at first, for what it answers decides whether there is a site at all.
        in_air = min((visit.depth for visit, _ in self._flight), default=None)
        deepest = 0 if not self._started else (in_air + 1 if in_air is not None else 10**6)
        busy = [*self._store.unsettled, *(visit.id for visit, _ in self._flight)]
        async with self._database.reading() as unit:
            due = await unit.crawls.next(self._id, busy=busy, deepest=deepest, limit=room, wanted=self._wanted)
            if not due and not self._started:
                self._started = True
                due = await unit.crawls.next(self._id, busy=busy, deepest=10**6, limit=room, wanted=self._wanted)
        for visit in due:
            self._flight.append(
                (visit, asyncio.create_task(self._visitor.visit(visit), name=f"harry-crawl {visit.id}"))
            )

    def _reached(self) -> Reason | None:
        if self._frontier.asked >= self._limits.pages:
            return Reason.PAGES
        return Reason.BYTES if self._frontier.bytes >= self._limits.bytes else None

    async def _take(self, visit: Visit, finding: Finding) -> None:
        """Write down what a visit found: its links, and its end unless that waits for a document to be stored."""
        finding = self._weighed(visit, finding)
        self._started = self._started or finding.outcome is not Outcome.REDIRECTED or visit.depth > 0
        if finding.status and finding.outcome is not Outcome.REDIRECTED:
            self._frontier.asked += 1
        self._frontier.bytes += finding.size
        async with self._database.transaction() as unit:
            await self._enter_links(unit.crawls, visit, finding)
            if finding.outcome is not Outcome.STORED:
                await unit.crawls.settle([decide(visit, finding)])
        self._done += 1
        if self._report is not None:
            self._report(CrawlProgress(visit.url, finding.outcome.value, self._done, len(self._frontier)))
        if finding.outcome is Outcome.STORED:
            await self._store.add(visit, finding)
        await self._store.tick()
        await self._notice_refusal(visit, finding)

    def _weighed(self, visit: Visit, finding: Finding) -> Finding:
        """The finding in the light of what else is known: other pages, and how it came here."""
        if finding.target and finding.outcome in (Outcome.REDIRECTED, Outcome.DUPLICATE) and visit.hops >= REDIRECTS:
            return Finding(outcome=Outcome.FAILED, reason=Reason.TOO_MANY_REDIRECTS, status=finding.status)
        if finding.reason in _NO_REAL_PAGE and visit.stored:
            finding = replace(finding, links=None)
        if finding.outcome is Outcome.STORED:
            holder = self._holders.setdefault(finding.fingerprint, visit.url)
            if holder != visit.url:
                finding = replace(finding, outcome=Outcome.DUPLICATE, reason=Reason.SAME_CONTENT, target=holder)
        decision = decide(visit, finding)
        keeps = decision.outcome in _KEEPS_CONTENT and decision.fingerprint == visit.fingerprint
        if not keeps and self._holders.get(visit.fingerprint) == visit.url:
            del self._holders[visit.fingerprint]
        return finding

    def _lost(self, finding: Finding) -> None:
        """Another page with the same content may be stored in the place of one that could not be."""
        self._holders.pop(finding.fingerprint, None)

    async def _enter_links(self, crawls: Crawls, visit: Visit, finding: Finding) -> None:
        if finding.links is None:
            kept = [Link(link.url, link.nofollow) for link in await crawls.links_of(visit.id)]
            await self._frontier.meet(crawls, kept, depth=visit.depth + 1)
        elif finding.links or finding.status == 200:
            ids = await self._frontier.meet(crawls, finding.links, depth=visit.depth + 1)
            await crawls.keep_links(visit.id, ids)
        if finding.target and finding.reason != Reason.SAME_CONTENT:
            await self._frontier.meet(crawls, [Link(finding.target)], depth=visit.depth, hops=visit.hops + 1)

    async def _notice_refusal(self, visit: Visit, finding: Finding) -> None:
        """After several refusals in a row, ask the start page whether they are meant for all of us."""
        if not self._refusals.note(visit.id, finding):
            return
        said = await self._visitor.look_in(self._start)
        if not is_refusal(said):
            self._refusals.forgive()
            return
        self.stopped = f"The site stopped answering us: {said.detail}."
        async with self._database.transaction() as unit:
            await unit.crawls.reopen(self._refusals.ids())

    async def _find_homes(self) -> bool:
        """Have duplicates fetched again whose original is not there after all; whether there were any."""
        async with self._database.transaction() as unit:
            lost = homeless(await unit.crawls.entries(self._id))
            for fingerprint in lost.fingerprints:
                self._holders.pop(fingerprint, None)
            if lost.ids:
                await unit.crawls.ask_again(lost.ids, alone=lost.alone)
        return bool(lost.ids)

    async def _close(self) -> None:
        """The end of a run: circles are failures, and what was met nowhere is proposed for archiving."""
        async with self._database.transaction() as unit:
            entries = await unit.crawls.entries(self._id)
            endless = circles(entries)
            if endless:
                await unit.crawls.fail(endless, Reason.CIRCLE)
            # Who did not see the whole site cannot say that something is missing from it.
            if self._frontier.listed and not any(entry.reason in (Reason.PAGES, Reason.BYTES) for entry in entries):
                await unit.crawls.propose_unlinked(self._id, depth=self._frontier.depth)
            await unit.crawls.finish(self._id)

    async def _land(self) -> None:
        """Let nothing of this run go on after it."""
        for _, task in self._flight:
            task.cancel()
        await asyncio.gather(*(task for _, task in self._flight), return_exceptions=True)
        self._flight.clear()
        await self._store.close()
