"""Real parts for every test: one PostgreSQL for the session, one clone of a migrated database for each test."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import AsyncConnection, sql
from psycopg.conninfo import make_conninfo
from pydantic import SecretStr

from harry_mcp.app import App
from harry_mcp.providers.local.embedder import LocalEmbedder
from harry_mcp.settings import Settings, load_settings
from harry_mcp.storage.database import Database
from harry_mcp.storage.embedded import EmbeddedPostgres

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real data for tests, which lies beside the repository and not in it."""
    if not SHARED.is_dir():
        pytest.skip("the shared test data is not beside this checkout")
    return SHARED


@pytest.fixture(scope="session", autouse=True)
def _no_settings_from_outside() -> Iterator[None]:
    saved = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("HARRY_")}
    yield
    os.environ.update(saved)


@pytest.fixture(scope="session", autouse=True)
def _ctrl_c_counts() -> Iterator[None]:
    """Tests that run in the background of a shell are started with SIGINT ignored, and what they start would be too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def postgres() -> Iterator[EmbeddedPostgres]:
    # Not under pytest's own folder: another session that starts as root shuts that one to the server's account.
    with tempfile.TemporaryDirectory(prefix="harry-tests-", ignore_cleanup_errors=True) as folder:
        server = EmbeddedPostgres.start(Path(folder) / "postgres")
        _write_lazily(server.dsn)
        yield server
        server.close()


def _write_lazily(dsn: str) -> None:
    """Nothing of it outlives the tests: no commit and no database that is made or dropped waits for a disk.

    Databases are then copied file by file: that is faster than by the log, and without this far slower.
    """
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("ALTER SYSTEM SET synchronous_commit = off")
        connection.execute("ALTER SYSTEM SET full_page_writes = off")
        connection.execute("SELECT pg_reload_conf()")


@pytest.fixture(scope="session")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


@pytest.fixture(scope="session")
def template(postgres: EmbeddedPostgres, embedder: LocalEmbedder) -> str:
    """The name of a migrated, empty database."""
    name = "harry_template"

    async def make() -> None:
        await _execute(postgres.dsn, "CREATE DATABASE {}", name)
        url = make_conninfo(postgres.dsn, dbname=name)
        database = await Database.open(load_settings({"HARRY_DATABASE_URL": url}), embedder.space)
        await database.close()

    asyncio.run(make())
    return name


async def _execute(dsn: str, statement: str, *names: str) -> None:
    async with await AsyncConnection.connect(dsn, autocommit=True) as connection:
        await connection.execute(
            sql.SQL(statement).format(*(sql.Identifier(name) for name in names))  # pyright: ignore[reportArgumentType]
        )


@pytest.fixture
async def settings(postgres: EmbeddedPostgres, template: str, tmp_path: Path) -> AsyncIterator[Settings]:
    """Settings that name a database of this test's own."""
    name = f"test_{next(_numbers)}"
    await _execute(postgres.dsn, "CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY", name, template)
    url = SecretStr(make_conninfo(postgres.dsn, dbname=name))
    yield load_settings({"HARRY_DATA_DIR": str(tmp_path)}).model_copy(update={"database_url": url})
    await _execute(postgres.dsn, "DROP DATABASE {} WITH (FORCE)", name)


@pytest.fixture
async def database(settings: Settings, embedder: LocalEmbedder) -> AsyncIterator[Database]:
    opened = await Database.open(settings, embedder.space)
    yield opened
    await opened.close()


@pytest.fixture
async def app(settings: Settings, embedder: LocalEmbedder) -> AsyncIterator[App]:
    async with await App.open(settings, loaded=embedder) as opened:
        yield opened


@pytest.fixture
async def connection(settings: Settings) -> AsyncIterator[AsyncConnection[tuple[object, ...]]]:
    """A connection of the test's own, to see what is stored."""
    async with await psycopg.AsyncConnection.connect(
        settings.database_url.get_secret_value(), autocommit=True, options="-c search_path=harry,public"
    ) as opened:
        yield opened
