"""OPS-5: what is exported and taken in again is what it was."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from psycopg import AsyncConnection, sql
from psycopg.conninfo import make_conninfo
from pydantic import SecretStr

from harry_mcp.app import App
from harry_mcp.settings import Settings, load_settings
from harry_mcp.storage.embedded import EmbeddedPostgres
from harry_mcp.storage.transfer import KINDS, LEFT_OUT, LEFT_OUT_COLUMNS
from tests.loop.small_base import ANN, CURATOR, IN_OTHER_WORDS, KEYS, down, filled, page
from tests.storage.recount import assert_index_is_exact, rows
from tests.transfer.lived_in import LESSON, NEVER, exported, live_in, taken

pytestmark = pytest.mark.promise("OPS-5")

_TABLES = """
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = 'harry' AND c.relkind IN ('r', 'p') AND NOT c.relispartition
"""
_COLUMNS = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'harry'"


@pytest.fixture
async def elsewhere(postgres: EmbeddedPostgres, template: str, tmp_path: Path) -> AsyncIterator[Settings]:
    """Settings that name a second, empty database."""
    name = f"elsewhere_{tmp_path.name[-20:]}".lower().replace("-", "_")
    async with await AsyncConnection.connect(postgres.dsn, autocommit=True) as server:
        await server.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY").format(
                sql.Identifier(name), sql.Identifier(template)
            )
        )
    url = SecretStr(make_conninfo(postgres.dsn, dbname=name))
    yield load_settings({"HARRY_DATA_DIR": str(tmp_path)}).model_copy(update={"database_url": url})
    async with await AsyncConnection.connect(postgres.dsn, autocommit=True) as server:
        await server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
async def other(elsewhere: Settings) -> AsyncIterator[App]:
    async with await App.open(elsewhere) as opened:
        yield opened


@pytest.fixture
async def other_connection(elsewhere: Settings) -> AsyncIterator[AsyncConnection[Any]]:
    async with await AsyncConnection.connect(
        elsewhere.database_url.get_secret_value(), autocommit=True, options="-c search_path=harry,public"
    ) as opened:
        yield opened


def by_kind(lines: list[str]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in lines[1:-1]:
        record = json.loads(line)
        found[record["kind"]].append(record["row"])
    return found


async def test_an_export_taken_in_and_exported_again_is_the_same(
    app: App,
    connection: AsyncConnection[Any],
    other: App,
    other_connection: AsyncConnection[Any],
) -> None:
    await live_in(app, connection)
    first = await exported(app.database)
    report = await taken(other.database, first)
    assert report.different == 0
    assert report.added == len(first) - 2
    assert await exported(other.database) == first
    await assert_index_is_exact(other_connection)
    # And it answers as before, down to the scores
    for question in (IN_OTHER_WORDS, NEVER, "When are invoices sent?", "What is in Zürich?"):
        before = await app.loop.search(question, record=False)
        after = await other.loop.search(question, record=False)
        assert [(c.public_id, c.score, c.bm25) for c in after.ranking] == [
            (c.public_id, c.score, c.bm25) for c in before.ranking
        ]
        assert after.verified.match is before.verified.match
        assert [each.correction.id for each in after.corrections] == [each.correction.id for each in before.corrections]
    # What a curator did there can be taken back here
    rewritten = (await other.loop.review.recent(limit=10))[-1]
    await other.loop.review.rollback(rewritten.action_id, CURATOR)
    page_now = await other.loop.read(KEYS.id, offset=0, limit=10_000)
    assert page_now.text == KEYS.text
    # and new rows get new numbers
    await filled(other, page("New", "A new page about the key ring."))
    await assert_index_is_exact(other_connection)


async def test_every_table_and_every_column_is_exported_or_left_out_for_a_reason(
    app: App, connection: AsyncConnection[Any]
) -> None:
    """A new table goes into ``KINDS`` with its two queries, or into ``LEFT_OUT`` with the reason."""
    assert {name for (name,) in await rows(connection, _TABLES)} == {*KINDS, *LEFT_OUT}
    assert not set(KINDS) & set(LEFT_OUT)
    await live_in(app, connection)
    found = by_kind(await exported(app.database))
    assert sorted(found) == sorted(KINDS)
    columns: dict[str, set[str]] = defaultdict(set)
    for table, column in await rows(connection, _COLUMNS):
        columns[table].add(column)
    for kind in KINDS:
        assert {*found[kind][0], *LEFT_OUT_COLUMNS.get(kind, {})} == columns[kind], kind


async def test_taking_it_in_again_changes_nothing(
    app: App, connection: AsyncConnection[Any], other: App, other_connection: AsyncConnection[Any]
) -> None:
    await live_in(app, connection)
    first = await exported(app.database)
    await taken(other.database, first)
    again = await taken(other.database, first)
    assert (again.added, again.different) == (0, 0)
    assert await exported(other.database) == first
    at_home = await taken(app.database, first)
    assert (at_home.added, at_home.different) == (0, 0)
    assert await exported(app.database) == first
    await assert_index_is_exact(other_connection)


async def test_another_base_gets_what_it_lacks_and_keeps_what_it_has(
    app: App, connection: AsyncConnection[Any], other: App, other_connection: AsyncConnection[Any]
) -> None:
    await live_in(app, connection)
    theirs = page("Invoices", "Invoices are sent by pigeon.")
    own = page("Own", "Only this base knows of the blue door.")
    await other.ingester.ingest([theirs, own])
    await other.loop.submit_correction(LESSON, ANN)
    found = await other.loop.search("Who knows of the blue door?")
    await other.loop.recorded()
    await down(other, found, ANN)
    before = by_kind(await exported(other.database))
    lines = await exported(app.database)
    dry = await taken(other.database, lines, dry_run=True)
    assert by_kind(await exported(other.database)) == before
    report = await taken(other.database, lines)
    assert {kind: (told.added, told.different) for kind, told in dry.kinds.items()} == {
        kind: (told.added, told.different) for kind, told in report.kinds.items()
    }
    assert theirs.id in report.kinds["documents"].differing
    assert (await other.loop.read(theirs.id, offset=0, limit=1000)).text == theirs.text
    await assert_index_is_exact(other_connection)
    after = by_kind(await exported(other.database))
    for kind in KINDS:
        kept = [json.dumps(row, sort_keys=True) for row in after[kind]]
        for row in before[kind]:
            assert json.dumps(row, sort_keys=True) in kept, kind
    # Passages, versions and vectors point at what they pointed at
    names = {row["public_id"]: row["id"] for row in after["chunks"]}
    vectors = {row["chunk_id"]: row["embedding"] for row in after["chunk_vectors"]}
    original = by_kind(lines)
    old_vectors = {row["chunk_id"]: row["embedding"] for row in original["chunk_vectors"]}
    moved = [row for row in original["chunks"] if row["document_id"] != theirs.id]
    assert moved
    for row in moved:
        assert vectors[names[row["public_id"]]] == old_vectors[row["id"]]
    changes = {row["document_id"]: row["log_id"] for row in after["review_changes"]}
    log = {row["id"]: row["document_id"] for row in after["kb_curation_log"]}
    assert all(log[number] == document_id for document_id, number in changes.items())
    (first, second) = after["crawl_urls"]
    assert (first["links"], second["links"]) == ([second["id"], first["id"]], [first["id"]])
    hit = (await other.loop.search(IN_OTHER_WORDS, record=False)).hits[0]
    assert hit.passage.document_id == KEYS.id
    # The rest is as it was
    again = await taken(other.database, lines)
    assert again.added == 0
    assert again.different == report.different
    assert by_kind(await exported(other.database)) == after


async def test_what_is_not_wanted_stays_behind(app: App, connection: AsyncConnection[Any], other: App) -> None:
    await live_in(app, connection)
    lines = await exported(app.database, vectors=False, searches=False)
    kinds = by_kind(lines)
    assert set(KINDS) - set(kinds) == {
        *("chunk_vectors", "version_vectors", "memory_vectors"),
        *("searches", "web_searches"),
    }
    report = await taken(other.database, lines)
    assert report.added == len(lines) - 2
    assert await exported(other.database, vectors=False, searches=False) == lines
    # Later with searches: the gaps are known already
    later = await taken(other.database, await exported(app.database))
    assert later.kinds["kb_gap_logs"].added == 0
