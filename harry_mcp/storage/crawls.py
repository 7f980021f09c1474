"""The frontier of a crawl: which addresses were met, which wait, and how the others ended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import AsyncConnection

from harry_mcp.domain.crawls import CrawlState, Decision, Entry, Meeting, StoredPages, Visit, Wanted
from harry_mcp.errors import StorageError
from harry_mcp.storage import queries

_SQL = queries.load("crawls")
# The first half of an advisory lock's key, so that crawls share no key with anything else: "hc" in hex.
_LOCK_SPACE = 0x6863


@dataclass(frozen=True, slots=True)
class _Held:
    held: bool


@dataclass(frozen=True, slots=True)
class KeptLink:
    """A link of a page as it was when the page was read last."""

    url: str
    nofollow: bool


@dataclass(frozen=True, slots=True)
class _Id:
    id: int
    url: str


@dataclass(frozen=True, slots=True)
class Met:
    """An address that the present run has met; ``reason`` is why it was refused, if it was, ``asked`` whether a
    server answered for it."""

    id: int
    url: str
    waiting: bool
    reason: str
    asked: bool
    bytes: int


@dataclass(frozen=True, slots=True)
class _Holder:
    fingerprint: str
    url: str


class Crawls:
    """Crawls as one connection sees them."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    async def enter(self, start_url: str, prefix: str) -> CrawlState:
        """The crawl that starts there and reaches that far, made when it is not known."""
        where = {"start_url": start_url, "prefix": prefix}
        await queries.run(self._connection, _SQL["enter"], where)
        state = await queries.one(self._connection, _SQL["get"], CrawlState, where)
        if state is None:
            raise StorageError(f"The crawl of {start_url} was removed while it began.")
        return state

    async def try_lock(self, crawl_id: int) -> bool:
        """Take a crawl for as long as this connection lives or until it is unlocked."""
        key = {"space": _LOCK_SPACE, "id": crawl_id}
        found = await queries.one(self._connection, _SQL["try_lock"], _Held, key)
        return found is not None and found.held

    async def unlock(self, crawl_id: int) -> None:
        await queries.one(self._connection, _SQL["unlock"], _Held, {"space": _LOCK_SPACE, "id": crawl_id})

    async def begin_again(self, crawl_id: int) -> None:
        """Begin the next run, if the last one came to its end."""
        await queries.run(self._connection, _SQL["begin_again"], {"id": crawl_id})

    async def seeded(self, crawl_id: int, warnings: Sequence[str]) -> None:
        await queries.run(self._connection, _SQL["seeded"], {"id": crawl_id, "warnings": list(warnings)})

    async def finish(self, crawl_id: int) -> None:
        await queries.run(self._connection, _SQL["finish"], {"id": crawl_id})

    async def met(self, crawl_id: int) -> list[Met]:
        return await queries.many(self._connection, _SQL["met"], Met, {"id": crawl_id})

    async def meet(self, crawl_id: int, meetings: Sequence[Meeting]) -> dict[str, int]:
        """Put addresses, each once, into the frontier; their ids by URL."""
        rows = await queries.many(
            self._connection,
            _SQL["meet"],
            _Id,
            {
                "id": crawl_id,
                "urls": [item.url for item in meetings],
                "depths": [item.depth for item in meetings],
                "hops": [item.hops for item in meetings],
                "lastmods": [item.lastmod for item in meetings],
                "reasons": [item.reason for item in meetings],
            },
        )
        return {row.url: row.id for row in rows}

    async def next(
        self, crawl_id: int, *, busy: Iterable[int], deepest: int, limit: int, wanted: Wanted
    ) -> list[Visit]:
        """Up to ``limit`` addresses whose turn it is, without the ``busy`` ones and those beyond a depth."""
        parameters: dict[str, object] = {
            "id": crawl_id,
            "busy": list(busy),
            "deepest": deepest,
            "limit": limit,
            "recipe": wanted.recipe,
            "topic": wanted.topic,
            "fresh": wanted.fresh,
        }
        return await queries.many(self._connection, _SQL["next"], Visit, parameters)

    async def stored_pages(self, start_url: str, prefix: str, wanted: Wanted) -> StoredPages:
        """What is stored of a crawl, which need not be known yet."""
        where = {"start_url": start_url, "prefix": prefix, "recipe": wanted.recipe, "topic": wanted.topic}
        return await queries.one(self._connection, _SQL["stored_pages"], StoredPages, where) or StoredPages(0, 0)

    async def links_of(self, url_id: int) -> list[KeptLink]:
        return await queries.many(self._connection, _SQL["links_of"], KeptLink, {"id": url_id})

    async def keep_links(self, url_id: int, links: Sequence[int]) -> None:
        """Keep the ids of the addresses that a page links to, negative where it asks not to go there."""
        await queries.run(self._connection, _SQL["keep_links"], {"id": url_id, "links": list(links)})

    async def settle(self, decisions: Sequence[Decision]) -> None:
        """Write down how addresses ended. The documents of stored ones are in the knowledge base already."""
        await queries.run(
            self._connection,
            _SQL["settle"],
            {
                "ids": [item.id for item in decisions],
                "outcomes": [item.outcome.value for item in decisions],
                "reasons": [item.reason for item in decisions],
                "details": [item.detail for item in decisions],
                "targets": [item.target for item in decisions],
                "statuses": [item.status for item in decisions],
                "sizes": [item.size for item in decisions],
                "etags": [item.etag for item in decisions],
                "last_modifieds": [item.last_modified for item in decisions],
                "fingerprints": [item.fingerprint for item in decisions],
            },
        )

    async def refuse_waiting(self, crawl_id: int, reason: str) -> None:
        await queries.run(self._connection, _SQL["refuse_waiting"], {"id": crawl_id, "reason": reason})

    async def ask_again(self, ids: Sequence[int], *, alone: Sequence[int]) -> None:
        """Have addresses fetched whole once more; those in ``alone`` whatever they call their canonical address."""
        await queries.run(self._connection, _SQL["ask_again"], {"ids": list(ids), "alone": list(alone)})

    async def reopen(self, ids: Sequence[int]) -> None:
        await queries.run(self._connection, _SQL["reopen"], {"ids": list(ids)})

    async def fail(self, ids: Sequence[int], reason: str) -> None:
        await queries.run(self._connection, _SQL["fail"], {"ids": list(ids), "reason": reason})

    async def propose_unlinked(self, crawl_id: int, *, depth: int) -> None:
        """Propose for archiving what this crawl once stored and the present run, which went so deep, met nowhere."""
        await queries.run(self._connection, _SQL["unlinked"], {"id": crawl_id, "depth": depth})

    async def holders(self, crawl_id: int) -> dict[str, str]:
        """The stored page that has a content, by the content's fingerprint."""
        rows = await queries.many(self._connection, _SQL["holders"], _Holder, {"id": crawl_id})
        return {row.fingerprint: row.url for row in rows}

    async def entries(self, crawl_id: int) -> list[Entry]:
        """Every address that the present run has met."""
        return await queries.many(self._connection, _SQL["entries"], Entry, {"id": crawl_id})
