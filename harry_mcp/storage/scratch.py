"""A database that lives as long as a ``with`` block, beside the one that the settings name."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo
from pydantic import SecretStr

from harry_mcp.errors import DatabaseUnavailable
from harry_mcp.settings import Settings, VectorsSection
from harry_mcp.storage import queries
from harry_mcp.storage.connecting import connect
from harry_mcp.storage.embedded import EmbeddedPostgres

_SQL = queries.load("scratch")


@asynccontextmanager
async def scratch_database(settings: Settings) -> AsyncGenerator[Settings, None]:
    """The settings with an empty database of its own, dropped at the end. PostgreSQL searches its vectors in any case:
    what another index holds of it would stay behind.

    Raises:
        DatabaseUnavailable: PostgreSQL cannot be reached, or does not let us create a database.
    """
    embedded = None
    dsn = settings.database_url.get_secret_value()
    if not dsn:
        embedded = await asyncio.to_thread(EmbeddedPostgres.start, settings.data_dir / "postgres")
        dsn = embedded.dsn
    name = f"harry_scratch_{secrets.token_hex(6)}"
    try:
        await _run(dsn, settings, "create", name)
        try:
            url = SecretStr(make_conninfo(dsn, dbname=name))
            yield settings.model_copy(update={"database_url": url, "vectors": VectorsSection()})
        finally:
            await _run(dsn, settings, "drop", name)
    finally:
        if embedded is not None:
            await asyncio.to_thread(embedded.close)


async def _run(dsn: str, settings: Settings, action: str, name: str) -> None:
    async with await connect(dsn, settings) as connection:
        try:
            await connection.execute(sql.SQL(_SQL[action].text).format(name=sql.Identifier(name)))
        except psycopg.Error as error:
            raise DatabaseUnavailable(
                f"A database of its own cannot be made for this ({str(error).strip()}). Give the user of "
                "HARRY_DATABASE_URL the right to create databases, or unset it."
            ) from error
