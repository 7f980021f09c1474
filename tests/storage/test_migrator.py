"""OPS-2: forward-only migrations, safe with several processes starting at once; the schema is a visible diff."""

from __future__ import annotations

import difflib
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo

from harry_mcp.errors import DatabaseUnavailable, MigrationError
from harry_mcp.providers.local.embedder import SPACE
from harry_mcp.settings import Settings, child_environment, load_settings
from harry_mcp.storage import migrator
from harry_mcp.storage.database import Database
from harry_mcp.storage.embedded_binaries import bin_folder
from harry_mcp.storage.scratch import scratch_database
from tests.storage.recount import rows

pytestmark = pytest.mark.promise("OPS-2")

SCHEMA = Path(__file__).with_name("schema.sql")
OPENER = """
import asyncio, sys
from harry_mcp.providers.local.embedder import SPACE
from harry_mcp.settings import load_settings
from harry_mcp.storage.database import Database
settings = load_settings()
print("ready", flush=True)
sys.stdin.readline()
async def work():
    database = await Database.open(settings, SPACE)
    async with database.reading() as unit:
        print((await unit.keywords.statistics()).chunks)
    await database.close()
asyncio.run(work())
"""
OBJECTS = "SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = 'harry'"


@pytest.fixture
async def empty(settings: Settings) -> AsyncIterator[Settings]:
    """Settings that name an empty database."""
    async with scratch_database(settings) as own:
        yield own


async def connect(settings: Settings) -> AsyncConnection[Any]:
    return await AsyncConnection.connect(settings.database_url.get_secret_value(), autocommit=True)


async def test_processes_that_open_an_empty_database_at_once_all_succeed(empty: Settings) -> None:
    environment = child_environment(HARRY_DATABASE_URL=empty.database_url.get_secret_value())
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", OPENER],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
    for process in processes:
        said, errors = process.communicate(timeout=60)
        assert (process.returncode, said, errors) == (0, "0\n", "")
    async with await connect(empty) as connection:
        steps = await rows(connection, "SELECT number, name, checksum FROM harry.migrations ORDER BY number")
        assert steps == [(step.number, step.name, step.checksum) for step in migrator.migrations()]
        assert await rows(connection, "SELECT count(*) FROM harry.embedding_spaces") == [(1,)]
        assert await rows(connection, "SELECT count(*) FROM harry.corpus") == [(1,)]


async def test_migrating_again_does_nothing(empty: Settings) -> None:
    async with await connect(empty) as connection:
        assert await migrator.migrate(connection) == len(migrator.migrations())
        before = await rows(connection, "SELECT xmin::text, ctid::text, * FROM harry.migrations")
        assert await migrator.migrate(connection) == 0
        assert await rows(connection, "SELECT xmin::text, ctid::text, * FROM harry.migrations") == before
        # The search path of the steps does not stay
        assert "harry" not in (await rows(connection, "SHOW search_path"))[0][0]


async def test_a_newer_schema_is_refused(empty: Settings) -> None:
    known = migrator.migrations()[-1].number
    async with await connect(empty) as connection:
        await migrator.migrate(connection)
        await connection.execute("INSERT INTO harry.migrations (number, name, checksum) VALUES (9000, 'later', '')")
    with pytest.raises(MigrationError, match=f"schema 9000, this harry knows up to {known}. Install the newer harry"):
        await Database.open(empty, SPACE)


async def test_a_migration_that_was_changed_is_refused(empty: Settings) -> None:
    async with await connect(empty) as connection:
        await migrator.migrate(connection)
        await connection.execute("UPDATE harry.migrations SET checksum = 'other' WHERE number = 1")
    with pytest.raises(MigrationError, match="Migration 1 was changed after it ran"):
        await Database.open(empty, SPACE)


async def test_a_migration_that_fails_leaves_nothing_and_says_why(empty: Settings) -> None:
    async with await connect(empty) as connection:
        # Somebody else's table is in the way of a step that comes late
        await connection.execute("CREATE SCHEMA harry")
        await connection.execute("CREATE TABLE harry.kb_gaps (theirs integer)")
    with pytest.raises(MigrationError, match='relation "kb_gaps" already exists') as caught:
        await Database.open(empty, SPACE)
    assert "Nothing was changed" in str(caught.value)
    assert "\n" not in str(caught.value)
    async with await connect(empty) as connection:
        assert await rows(connection, OBJECTS) == [("kb_gaps",)]
        assert await rows(connection, "SELECT FROM pg_extension WHERE extname = 'vector'") == []
        await connection.execute("DROP TABLE harry.kb_gaps")
        assert await migrator.migrate(connection) == len(migrator.migrations())


async def test_migrations_are_numbered_without_gaps_and_open_with_a_reason() -> None:
    steps = migrator.migrations()
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    for step in steps:
        assert step.text.startswith("-- "), step.name
        assert "DROP SCHEMA" not in step.text.upper()


async def test_a_user_with_no_right_but_on_its_own_database_is_enough(empty: Settings) -> None:
    async with await connect(empty) as connection:
        name = connection.info.dbname
        await connection.execute("CREATE EXTENSION vector")
        await connection.execute("DROP ROLE IF EXISTS harry_plain")
        await connection.execute("CREATE ROLE harry_plain LOGIN")
        await connection.execute(f"GRANT CREATE ON DATABASE {name} TO harry_plain".encode())
    url = make_conninfo(empty.database_url.get_secret_value(), user="harry_plain")
    plain = load_settings({"HARRY_DATABASE_URL": url})
    database = await Database.open(plain, SPACE)
    await database.vacuum()
    await database.close()
    async with await connect(empty) as connection:
        owners = await rows(connection, "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'harry'")
        assert owners == [("harry_plain",)]
        # One that may not even do that is told so
        await connection.execute("CREATE ROLE harry_none LOGIN")
    none = load_settings({"HARRY_DATABASE_URL": make_conninfo(url, user="harry_none")})
    with pytest.raises(MigrationError, match=r"permission denied .* right to create objects"):
        await Database.open(none, SPACE)
    async with await connect(empty) as connection:
        await connection.execute("DROP OWNED BY harry_plain, harry_none CASCADE")
        await connection.execute("DROP ROLE harry_plain, harry_none")


@pytest.mark.parametrize(
    "url",
    ["postgres//harry:hush@host/db", "host=a hush", "mysql://harry:hush@host", "postgresql://harry:hush@host:1/?no=1"],
)
async def test_an_address_that_is_none_is_refused_without_showing_its_password(url: str) -> None:
    with pytest.raises(DatabaseUnavailable) as caught:
        await Database.open(load_settings({"HARRY_DATABASE_URL": url}), SPACE)
    assert "none that PostgreSQL's library reads. Write HARRY_DATABASE_URL as" in str(caught.value)
    assert "hush" not in str(caught.value)
    with pytest.raises(DatabaseUnavailable) as caught:
        async with scratch_database(load_settings({"HARRY_DATABASE_URL": url})):
            pass
    assert "hush" not in str(caught.value)


async def test_the_migrations_make_the_schema_that_is_written_down(settings: Settings) -> None:
    """After a wanted change: ``UPDATE_SNAPSHOTS=1 pytest tests/storage/test_migrator.py`` writes it down anew."""
    found = _dump(settings.database_url.get_secret_value())
    if os.environ.get("UPDATE_SNAPSHOTS"):
        SCHEMA.write_text(found, encoding="utf-8")
    written = SCHEMA.read_text(encoding="utf-8")
    diff = "\n".join(
        difflib.unified_diff(written.splitlines(), found.splitlines(), "schema.sql", "migrated", lineterm="")
    )
    assert not diff, f"Run this test with UPDATE_SNAPSHOTS=1 if the change is wanted.\n{diff}"


def _dump(url: str) -> str:
    """The schema as the wheel's pg_dump describes it, without what depends on its version."""
    command = [bin_folder() / "pg_dump", "--schema-only", "--no-owner", "--no-privileges", "--schema=harry", url]
    dumped = subprocess.run(command, capture_output=True, check=True, text=True, encoding="utf-8").stdout
    noise = re.compile(r"^(--.*|SET .*;|SELECT pg_catalog\.set_config.*;|\\(un)?restrict .*)\n", re.MULTILINE)
    body = re.sub(r"\n{2,}", "\n\n", noise.sub("", dumped)).strip()
    return (
        "-- What the migrations make, as pg_dump describes it. Written by test_migrator.py; do not edit.\n"
        "-- After a wanted change: UPDATE_SNAPSHOTS=1 pytest tests/storage/test_migrator.py\n\n" + body + "\n"
    )
