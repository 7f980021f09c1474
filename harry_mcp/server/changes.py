"""Change notifications: tells clients that listen what changed, through whichever process it was changed.

The database is looked at every few seconds while somebody listens, and not at all otherwise. No connection is kept for
it, so that it works through a pooler, and any number of replicas tell their own clients.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from mcp.server.subscriptions import InMemorySubscriptionBus, ResourcesListChanged, ResourceUpdated, ServerEvent

from harry_mcp.errors import HarryError
from harry_mcp.server import resources
from harry_mcp.server.state import ServerState

if TYPE_CHECKING:
    from harry_mcp.loop.browsing import Changed

log = logging.getLogger(__name__)
# Seconds between two looks. Each is one short statement while nothing changes.
_EVERY = 2.0


class ChangeBus:
    """The SDK's fan-out, fed from the database."""

    def __init__(self, state: Callable[[], ServerState]) -> None:
        self._state = state
        self._bus = InMemorySubscriptionBus()
        self._listeners = 0
        self._watching: asyncio.Task[None] | None = None

    async def publish(self, event: ServerEvent) -> None:
        """Tell this process's clients."""
        await self._bus.publish(event)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Tell a listener from now on; the first one starts the watch."""
        leave = self._bus.subscribe(listener)
        self._listeners += 1
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watch(), name="harry-changes")
        left = False

        def unsubscribe() -> None:
            nonlocal left
            leave()
            self._listeners -= not left
            left = True

        return unsubscribe

    async def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)

    async def _watch(self) -> None:
        mark = None
        while self._listeners:
            try:
                browse = (await self._state().app()).browse
                if mark is None:
                    mark = await browse.mark()
                else:
                    mark, changed = await browse.since(mark)
                    for event in events(changed):
                        await self.publish(event)
            except HarryError as error:  # what changes meanwhile is told when the database is back
                log.debug("cannot look for changes: %s", error)
            await asyncio.sleep(_EVERY)


def events(changed: Changed) -> Iterator[ServerEvent]:
    """What to tell of a change."""
    if changed.index:
        yield ResourcesListChanged()
    if changed.corrections:
        yield ResourceUpdated(resources.CORRECTIONS)
    if changed.index or changed.curation or changed.corrections:
        yield ResourceUpdated(resources.DIGEST)
    for document_id in changed.documents:
        yield ResourceUpdated(resources.document_uri(document_id))
