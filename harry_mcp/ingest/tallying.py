"""The work of an ingestion, and the count of it that others look at meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import Protocol

from harry_mcp.domain.documents import IngestOutcome, SourceDocument
from harry_mcp.domain.ingestions import IngestionRequest, IngestionTally, Problem
from harry_mcp.ingest.crawl.crawler import Crawler, CrawlRequest
from harry_mcp.ingest.crawl.report import CrawlReport
from harry_mcp.ingest.crawl.run import CrawlProgress
from harry_mcp.ingest.ingester import Ingester, Progress
from harry_mcp.ingest.running import in_thread
from harry_mcp.ingest.sources import SourceItem, Unreadable, missing_sources
from harry_mcp.ingest.targets import items_of, read_all
from harry_mcp.settings import IngestSection
from harry_mcp.storage.database import Database

MOST_PROBLEMS = 20
_FIELDS = {"added": "new", "changed": "changed", "unchanged": "unchanged", "failed": "failed"}


class Work(Protocol):
    """Work under way. ``tally`` is how far it is; ``error`` says at the end why nothing of it was any use."""

    tally: IngestionTally
    error: str

    async def go(self) -> None: ...


class FilesWork:
    """A file, the files under a folder or a glob, or one page."""

    def __init__(
        self, request: IngestionRequest, database: Database, ingester: Ingester, settings: IngestSection
    ) -> None:
        self._request = request
        self._database = database
        self._ingester = ingester
        self._settings = settings
        self._ids: list[str] = []
        self.tally = IngestionTally()
        self.error = ""
        self.resumed_from: datetime | None = None

    async def go(self) -> None:
        items = await in_thread(self._items)
        self.tally = replace(self.tally, total=len(items))
        outcome = await self._ingester.ingest(self._documents(items), report=self._note)
        await self._count(outcome)

    def _items(self) -> list[SourceItem]:
        return list(items_of(self._request.source, self._settings, allow_private=self._settings.private_addresses))

    def _documents(self, items: Sequence[SourceItem]) -> Iterator[SourceDocument | Unreadable]:
        for read in read_all(items, self._request.topic):
            if isinstance(read, SourceDocument):
                self._ids.append(read.id)
            yield read

    def _note(self, step: Progress) -> None:
        name = _FIELDS[step.outcome]
        self.tally = replace(
            self.tally,
            done=self.tally.done + 1,
            chunks=self.tally.chunks + step.chunks,
            doing=step.title,
            **{name: getattr(self.tally, name) + 1},
        )

    async def _count(self, outcome: IngestOutcome) -> None:
        """What became of all, told by the documents' own times where another process did a part of it."""
        read = len(outcome.added) + len(outcome.changed) + len(outcome.unchanged)
        new, changed = len(outcome.added), len(outcome.changed)
        async with self._database.reading() as unit:
            known = await unit.documents.sources_under("file:")
            if self.resumed_from is not None:
                made = await unit.ingestions.made_since(self.resumed_from, self._ids)
                new, changed = made.new, made.changed
        gone = await in_thread(lambda: sorted(missing_sources(self._request.source, known)))
        failed = [Problem("failed", source, reason) for source, reason in outcome.failed.items()]
        problems = chain(failed, (Problem("gone", source, "it is no longer in its folder") for source in gone))
        self.tally = replace(
            self.tally,
            new=new,
            changed=changed,
            unchanged=max(0, read - new - changed),
            failed=len(failed),
            gone=len(gone),
            chunks=outcome.chunks_written,
            doing="",
            problems=tuple(problems)[:MOST_PROBLEMS],
            warnings=_about_contexts(outcome.template_contexts),
        )
        if failed and not read:
            self.error = failed[0].reason


class SiteWork:
    """A whole site."""

    def __init__(self, request: IngestionRequest, crawler: Crawler, settings: IngestSection) -> None:
        self._request = request
        self._crawler = crawler
        self._settings = settings
        self.tally = IngestionTally()
        self.error = ""

    async def go(self) -> None:
        asked = self._request
        request = CrawlRequest(
            url=asked.source,
            prefix=asked.prefix,
            pages=asked.pages or None,
            topic=asked.topic,
            allow_private=self._settings.private_addresses,
        )
        self.tally = _tally_of(await self._crawler.crawl(request, report=self._note), self.tally.done)

    def _note(self, step: CrawlProgress) -> None:
        self.tally = replace(self.tally, done=step.done, total=step.met, doing=step.url)


def _tally_of(report: CrawlReport, done: int) -> IngestionTally:
    problems = chain(
        (Problem("failed", url, entry.why) for url, entry in report.failed.items()),
        (Problem("gone", url, entry.why) for url, entry in report.gone.items()),
        (Problem("refused", url, entry.why) for url, entry in report.refused.items()),
    )
    stopped = (
        [f"{report.stopped} It cost {len(report.blocked)} addresses; ask for it again to go on with them."]
        if report.stopped
        else []
    )
    return IngestionTally(
        done=report.seen - len(report.blocked),
        total=report.seen,
        new=len(report.new),
        changed=len(report.changed),
        unchanged=len(report.unchanged),
        duplicates=len(report.duplicates) + len(report.redirected),
        gone=len(report.gone),
        refused=len(report.refused),
        failed=len(report.failed),
        chunks=report.chunks_written,
        problems=tuple(problems)[:MOST_PROBLEMS],
        warnings=(*stopped, *report.warnings, *_about_contexts(report.template_contexts)),
    )


def _about_contexts(by_template: dict[str, str]) -> tuple[str, ...]:
    if not by_template:
        return ()
    source, reason = next(iter(by_template.items()))
    return (f"{len(by_template)} documents are in part without a context of the model: {source}: {reason}.",)
