"""A real Chromium, and servers with databases of their own, once for each module: they start slowly."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright
from psycopg import AsyncConnection, sql
from psycopg.conninfo import make_conninfo

from harry_mcp.app import App
from harry_mcp.settings import load_settings
from harry_mcp.storage.embedded import EmbeddedPostgres
from tests.console.driving import Watched, apart
from tests.console.filled import fill
from tests.console.served import Served, served
from tests.console.stored import Stored

_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def chromium() -> Generator[Browser]:
    """The system's Chromium."""
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("there is no chromium on this machine")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def database(postgres: EmbeddedPostgres, template: str) -> Generator[str]:
    """A migrated, empty database, by its address."""
    name = f"console_{next(_numbers)}"

    async def execute(statement: str, *names: str) -> None:
        async with await AsyncConnection.connect(postgres.dsn, autocommit=True) as connection:
            identifiers = (sql.Identifier(each) for each in names)
            await connection.execute(sql.SQL(statement).format(*identifiers))  # pyright: ignore[reportArgumentType]

    apart(execute("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY", name, template))
    yield make_conninfo(postgres.dsn, dbname=name)
    apart(execute("DROP DATABASE {} WITH (FORCE)", name))


@contextmanager
def server_over(url: str, folder: Path) -> Generator[Served]:
    """The server over a database."""
    with served(folder, HARRY_DATABASE_URL=url) as server:
        yield server


@pytest.fixture
def watched(chromium: Browser) -> Generator[Callable[..., Watched]]:
    """Opens pages that are watched: at the end no script ran that is not ours, and nothing broke a policy."""
    contexts: list[BrowserContext] = []
    pages: list[Watched] = []

    def open_page(**options: object) -> Watched:
        context = chromium.new_context(**options)  # pyright: ignore[reportArgumentType]
        context.set_default_timeout(15_000)
        contexts.append(context)
        pages.append(Watched(context.new_page()))
        return pages[-1]

    yield open_page
    faults = [fault for page in pages for fault in page.faults]
    for context in contexts:
        context.close()
    assert faults == []


@pytest.fixture(scope="session")
def stored(postgres: EmbeddedPostgres, template: str, tmp_path_factory: pytest.TempPathFactory) -> Generator[Stored]:
    """A server over a knowledge base that has some of everything. Each test takes documents that no other takes."""
    folder = tmp_path_factory.mktemp("console")
    with database(postgres, template) as url:
        apart(_filled(url, folder))
        with server_over(url, folder) as server:
            yield Stored(server.base, url)


async def _filled(url: str, folder: Path) -> None:
    settings = load_settings({"HARRY_DATABASE_URL": url, "HARRY_DATA_DIR": str(folder)})
    options = "-c search_path=harry,public"
    async with (
        await App.open(settings) as app,
        await AsyncConnection.connect(url, autocommit=True, options=options) as connection,
    ):
        await fill(app, connection)
