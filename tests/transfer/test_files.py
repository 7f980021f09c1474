"""OPS-5: old files stay readable, and a file larger than the memory is no matter."""

from __future__ import annotations

import json
import os
import tracemalloc
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from psycopg import AsyncConnection

from harry_mcp.app import App
from harry_mcp.domain.transfer import Header, read_header
from harry_mcp.ingest.json_lines import parsed
from harry_mcp.ingest.reembedding import reembed
from harry_mcp.loop.exporting import export_lines
from harry_mcp.loop.importing import import_records
from harry_mcp.storage.database import Database
from harry_mcp.storage.migrator import migrations
from tests.loop.small_base import IN_OTHER_WORDS, KEYS
from tests.storage.recount import assert_index_is_exact
from tests.transfer.lived_in import exported, live_in, taken

pytestmark = pytest.mark.promise("OPS-5")

FORMAT_1 = Path(__file__).parent / "format_1.jsonl"
ROWS, CHARACTERS, MOST = 3_000, 10_000, 16_000_000


async def test_a_file_of_the_first_format_is_read_for_ever(app: App, connection: AsyncConnection[Any]) -> None:
    """It is written once and never again. If this fails after a migration, ``import_rows.sql`` must give what the old
    file lacks, as a migration gives it to old rows; if that cannot be, the format needs another number."""
    if os.environ.get("WRITE_FORMAT_1"):
        await live_in(app, connection)
        FORMAT_1.write_text("\n".join(await exported(app.database, vectors=False)) + "\n", encoding="utf-8")
        return
    lines = FORMAT_1.read_text(encoding="utf-8").strip().split("\n")
    report = await taken(app.database, lines)
    assert (report.added, report.different) == (len(lines) - 2, 0)
    assert (await reembed(app.database, app.embedder)).embedded > 0
    assert await app.embed_missing() > 0
    await assert_index_is_exact(connection)
    found = await app.loop.search(IN_OTHER_WORDS, record=False)
    assert found.hits[0].passage.document_id == KEYS.id
    assert (await taken(app.database, lines)).added == 0


async def test_memory_does_not_grow_with_the_file(database: Database) -> None:
    started = "2026-01-02T03:04:05+00:00"

    def lines() -> Iterator[tuple[int, str]]:
        for number in range(ROWS):
            row = {
                "id": f"gap_{number}",
                "question": f"{number} " + "x" * CHARACTERS,
                "topic": "",
                "best_score": 0.1,
                "occurrences": 1,
                "first_seen_at": started,
                "last_seen_at": started,
            }
            yield number + 2, json.dumps({"kind": "kb_gaps", "row": row})
        yield ROWS + 2, json.dumps({"kind": "end", "records": ROWS})

    tracemalloc.start()
    try:
        report = await import_records(database, _header(await exported(database)), lines())
        taken_in = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        length = 0
        async with aclosing(export_lines(database, version="0.1.0", vectors=True, searches=True)) as every:
            async for line in every:
                length += len(line)
        given_out = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert report.kinds["kb_gaps"].added == ROWS
    assert length > ROWS * CHARACTERS
    assert max(taken_in, given_out) < MOST < length / 1.8


def _header(lines: list[str]) -> Header:
    return read_header(parsed(1, lines[0]), schema=len(migrations()))
