"""The frontier of one run: in the database, with an index in memory so that a link met before costs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from harry_mcp.domain.crawls import Meeting, Reason
from harry_mcp.ingest.crawl.links import Link
from harry_mcp.ingest.crawl.scope import Scope
from harry_mcp.storage.crawls import Crawls

_AT_ONCE = 5000  # rows in one statement
# An address that was refused for the way it was met on is open when another way leads to it.
_OF_THE_WAY = frozenset({Reason.DEPTH, Reason.NOFOLLOW})


@dataclass(frozen=True, slots=True)
class _Known:
    id: int
    reason: str


class Frontier:
    """Which addresses this run has met. Writing takes the caller's unit of work, so that it can be one act.

    ``listed`` is false when a list of the site (a sitemap) could not be read.
    """

    def __init__(self, crawl_id: int, scope: Scope) -> None:
        self._crawl_id = crawl_id
        self._scope = scope
        self._known: dict[str, _Known] = {}
        self.asked = 0
        self.bytes = 0
        self.listed = True

    @property
    def depth(self) -> int:
        return self._scope.depth

    def __len__(self) -> int:
        return len(self._known)

    async def load(self, crawls: Crawls) -> None:
        """Take up what a run before this process has met."""
        for row in await crawls.met(self._crawl_id):
            self._known[row.url] = _Known(row.id, row.reason)
            self.asked += row.asked
            self.bytes += row.bytes

    async def meet(
        self,
        crawls: Crawls,
        links: Sequence[Link],
        *,
        depth: int,
        hops: int = 0,
        lastmods: dict[str, datetime | None] | None = None,
    ) -> list[int]:
        """Enter what is new of the addresses; the ids of all, negative where the way is closed."""
        fresh: dict[str, Meeting] = {}
        for link in links:
            reason = self._scope.refusal(link.url, depth, nofollow=link.nofollow) or ""
            known = self._known.get(link.url)
            if known is None or (known.reason in _OF_THE_WAY and not reason):
                lastmod = (lastmods or {}).get(link.url)
                fresh[link.url] = Meeting(url=link.url, depth=depth, hops=hops, lastmod=lastmod, reason=reason)
        meetings = list(fresh.values())
        for start in range(0, len(meetings), _AT_ONCE):
            part = meetings[start : start + _AT_ONCE]
            ids = await crawls.meet(self._crawl_id, part)
            self._known.update((item.url, _Known(ids[item.url], item.reason)) for item in part)
        return [(-1 if link.nofollow else 1) * self._known[link.url].id for link in links]
