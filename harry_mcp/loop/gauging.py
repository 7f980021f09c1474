"""Telling OpenTelemetry how long the queues are, while somebody collects it."""

from __future__ import annotations

import asyncio
import logging

from harry_mcp import metering
from harry_mcp.errors import StorageError
from harry_mcp.storage.database import Database

log = logging.getLogger(__name__)
# Seconds between two looks, which is how often exporters send.
_EVERY = 60.0


async def tell_queues(database: Database) -> None:
    """Tell it now.

    Raises:
        StorageError: the database cannot be asked.
    """
    async with database.reading() as unit:
        metering.tell_queues(await unit.queue.lengths())


async def tell_queues_forever(database: Database) -> None:
    """Tell it again and again; does nothing where no SDK is in place."""
    while metering.wanted():
        try:
            await tell_queues(database)
        except StorageError as error:
            log.debug("the queues could not be counted: %s", error)
        await asyncio.sleep(_EVERY)
