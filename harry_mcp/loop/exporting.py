"""The whole knowledge base as lines of JSON, as it was at one moment, whatever is written meanwhile."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator

from harry_mcp.domain.transfer import END, Header, Space
from harry_mcp.storage.database import Database
from harry_mcp.storage.migrator import migrations
from harry_mcp.storage.transfer import KINDS, SEARCHES, VECTORS


async def export_lines(database: Database, *, version: str, vectors: bool, searches: bool) -> AsyncGenerator[str, None]:
    """The lines of an export, without line ends; see :mod:`harry_mcp.domain.transfer`.

    ``version`` is that of this package. The same knowledge base gives the same lines. A few hundred rows are in
    memory at once.

    Raises:
        DatabaseUnavailable: PostgreSQL went away.
    """
    wanted = [kind for kind in KINDS if (vectors or kind not in VECTORS) and (searches or kind not in SEARCHES)]
    async with database.snapshot() as unit:
        statistics = await unit.keywords.statistics()
        yield Header(
            harry=version,
            schema=len(migrations()),
            space=Space.of(database.space),
            vectors=vectors,
            searches=searches,
            revision=statistics.revision,
            numbers=await unit.transfer.numbers(),
        ).line()
        records = 0
        for kind in wanted:
            async for row in unit.transfer.rows(kind, searches=searches):
                records += 1
                yield f'{{"kind":"{kind}","row":{row}}}'
        yield json.dumps({"kind": END, "records": records})
