"""What the doctor says of the index that searches the vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harry_mcp.cli.doctor_jobs import Finding
from harry_mcp.cli.vectors import in_words, mirror
from harry_mcp.errors import ProviderError
from harry_mcp.settings import Settings

if TYPE_CHECKING:
    from harry_mcp.storage.database import Database


async def index_finding(database: Database, settings: Settings) -> Finding:
    """Name, whether it is well, and what is found."""
    async with mirror(database, settings) as applier:
        if applier is None:
            return await _pgvector(database)
        try:
            found = await applier.status()
        except ProviderError as error:
            return "index", False, str(error)
        return "index", found.whole or not found.watched, "qdrant: " + "; ".join(in_words(found))


async def _pgvector(database: Database) -> Finding:
    async with database.reading() as unit:
        if not await unit.outbox.watched():
            return "index", True, "pgvector, in the database"
        changes = (await unit.outbox.backlog()).changes
    return (
        "index",
        False,
        f"pgvector, but changes are still written down for a Qdrant ({changes} so far). Run `harry vectors off` with "
        "its settings, or set HARRY_VECTORS__INDEX to qdrant here too",
    )
