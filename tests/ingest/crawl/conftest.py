"""A site to crawl, and a crawler over a knowledge base of the test's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from psycopg import AsyncConnection

from harry_mcp.app import App
from harry_mcp.profile import DomainProfile
from harry_mcp.providers.local.embedder import LocalEmbedder
from harry_mcp.settings import Settings
from harry_mcp.storage.database import Database
from tests.ingest.crawl.reading import Reader
from tests.ingest.crawl.site import Site, serving


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(Site()) as found:
        yield found


@pytest.fixture
def reader(settings: Settings, database: Database, embedder: LocalEmbedder, connection: AsyncConnection[Any]) -> Reader:
    return Reader(App(settings, DomainProfile(), database, embedder), connection)
