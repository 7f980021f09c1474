"""What the doctor says of the index that searches the vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harry_mcp.cli.doctor_check import Check
from harry_mcp.cli.vectors import in_words, mirror
from harry_mcp.errors import ProviderError
from harry_mcp.settings import Settings

if TYPE_CHECKING:
    from harry_mcp.storage.database import Database


async def index_check(database: Database, settings: Settings) -> Check:
    """Who searches the vectors, and whether it is whole."""
    async with mirror(database, settings) as applier:
        if applier is None:
            return await _pgvector(database)
        try:
            found = await applier.status()
        except ProviderError as error:
            return Check.failed("index", error)
        return Check("index", found.whole or not found.watched, "qdrant: " + "; ".join(in_words(found)))


async def _pgvector(database: Database) -> Check:
    async with database.reading() as unit:
        if not await unit.outbox.watched():
            return Check("index", True, "pgvector, in the database")
        changes = (await unit.outbox.backlog()).changes
    return Check(
        "index",
        False,
        f"pgvector, but changes are still written down for a Qdrant ({changes} so far). Run `harry vectors off` with "
        "its settings, or set HARRY_VECTORS__INDEX to qdrant here too",
    )
