"""Pages on their way into the knowledge base, in batches, while the crawl goes on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace

from harry_mcp.domain.crawls import Decision, Outcome, Reason, Visit
from harry_mcp.ingest.crawl.answers import decide
from harry_mcp.ingest.crawl.pages import Finding
from harry_mcp.ingest.ingester import Ingester
from harry_mcp.storage.database import Database

_BATCH = 16  # pages that are stored together
_PATIENCE = 5.0  # seconds after which a smaller batch is stored, so that a kill during a slow crawl costs little


class PageStore:
    """Stores pages one batch after the other, and decides each when its document is stored.

    ``unsettled`` holds the ids of the addresses that are on their way. ``lost`` is called with a finding whose
    document the database refused. ``template_contexts`` says of which pages the model gave not all contexts, and why.
    """

    def __init__(self, database: Database, ingester: Ingester, topic: str, lost: Callable[[Finding], None]) -> None:
        self._database = database
        self._ingester = ingester
        self._topic = topic
        self._lost = lost
        self._batch: list[tuple[Visit, Finding]] = []
        self._since = 0.0
        self._storing: asyncio.Task[None] | None = None
        self.unsettled: set[int] = set()
        self.chunks_written = 0
        self.template_contexts: dict[str, str] = {}

    async def add(self, visit: Visit, finding: Finding) -> None:
        self._since = self._since or time.monotonic()
        self._batch.append((visit, finding))
        self.unsettled.add(visit.id)
        if len(self._batch) >= _BATCH:
            await self._next()

    async def tick(self) -> None:
        """Store what has waited for long, and raise what went wrong since."""
        if self._storing is not None and not self._storing.done():
            return
        if self._storing is not None or (self._batch and time.monotonic() - self._since > _PATIENCE):
            await self._next()

    async def flush(self) -> None:
        """Store all."""
        await self._next()
        await self._next()

    async def close(self) -> None:
        """Let the batch under way end; what is not stored is fetched again by the next run."""
        if self._storing is not None:
            await asyncio.gather(self._storing, return_exceptions=True)

    async def _next(self) -> None:
        """Begin to store the batch; the one before must be through, or memory would fill with pages."""
        if self._storing is not None:
            await self._storing
        batch, self._batch, self._since = self._batch, [], 0.0
        self._storing = asyncio.create_task(self._store(batch), name="harry-crawl-store") if batch else None

    async def _store(self, batch: list[tuple[Visit, Finding]]) -> None:
        found = [item.document for _, item in batch if item.document is not None]
        outcome = await self._ingester.ingest([replace(document, topic=self._topic) for document in found])
        self.chunks_written += outcome.chunks_written
        self.template_contexts |= outcome.template_contexts
        decisions: list[Decision] = []
        for visit, finding in batch:
            why = outcome.failed.get(visit.url)
            if why is not None:
                self._lost(finding)
                finding = Finding(outcome=Outcome.FAILED, reason=Reason.NOT_STORED, detail=why, status=finding.status)
            decisions.append(decide(visit, finding))
        async with self._database.transaction() as unit:
            await unit.crawls.settle(decisions)
        self.unsettled.difference_update(visit.id for visit, _ in batch)
