"""A site to crawl, and a crawler over a knowledge base of the test's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import AsyncConnection, sql
from psycopg.conninfo import make_conninfo
from pydantic import SecretStr

from harry_mcp.app import App
from harry_mcp.profile import DomainProfile
from harry_mcp.providers.local.embedder import LocalEmbedder
from harry_mcp.settings import Settings
from harry_mcp.storage.database import Database
from harry_mcp.storage.embedded import EmbeddedPostgres
from tests.ingest.crawl.reading import Reader
from tests.ingest.crawl.site import Site, serving


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(Site()) as found:
        yield found


@pytest.fixture
def reader(settings: Settings, database: Database, embedder: LocalEmbedder, connection: AsyncConnection[Any]) -> Reader:
    return Reader(App(settings, DomainProfile(), database, embedder), connection)


@pytest.fixture
def elsewhere(postgres: EmbeddedPostgres, template: str, settings: Settings) -> Iterator[Settings]:
    """The same settings, with a second knowledge base to compare the first with."""
    name = sql.Identifier("test_elsewhere")
    with psycopg.connect(postgres.dsn, autocommit=True) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY").format(name, sql.Identifier(template))
        )
        url = SecretStr(make_conninfo(postgres.dsn, dbname="test_elsewhere"))
        yield settings.model_copy(update={"database_url": url})
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))
