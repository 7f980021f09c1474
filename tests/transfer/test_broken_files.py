"""OPS-5: a file that is not whole is refused in one sentence, and nothing of it is stored."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from psycopg import AsyncConnection

from harry_mcp.app import App
from harry_mcp.domain.transfer import read_header
from harry_mcp.errors import HarryError, InputError, StorageError
from harry_mcp.ingest.json_lines import parsed
from harry_mcp.loop.importing import import_records
from tests.loop.small_base import KEYS, filled, page
from tests.storage.recount import rows
from tests.transfer.lived_in import exported, taken

pytestmark = pytest.mark.promise("OPS-5")


def with_row(lines: list[str], kind: str, **changes: object) -> list[str]:
    """The lines with the first record of a kind changed."""
    changed = list(lines)
    number = next(number for number, line in enumerate(lines) if line.startswith(f'{{"kind":"{kind}"'))
    record: dict[str, Any] = json.loads(lines[number])
    record["row"] |= changes
    changed[number] = json.dumps(record)
    return changed


FAULTS: list[tuple[str, Callable[[list[str]], list[str]], str]] = [
    ("cut off", lambda lines: lines[:-1], "was cut off"),
    ("cut off within a line", lambda lines: [*lines[:-2], lines[-2][:20]], "is no JSON"),
    ("a record missing", lambda lines: [*lines[:3], *lines[4:]], "lines are missing"),
    ("no object", lambda lines: [*lines[:3], "[1]", *lines[3:]], "Line 4 is no JSON object"),
    ("an unknown kind", lambda lines: [lines[0], '{"kind":"secrets","row":{}}', *lines[1:]], "Line 2 is no record"),
    ("no row", lambda lines: [lines[0], '{"kind":"documents"}', *lines[1:]], "Line 2 is no record"),
    ("more after the end", lambda lines: [*lines, lines[1]], "More lines follow"),
    (
        "a later format",
        lambda lines: [lines[0].replace('"format": 1', '"format": 99'), *lines[1:]],
        "format 99 of harry .*Install that version",
    ),
    (
        "a later schema",
        lambda lines: [lines[0].replace('"schema": ', '"schema": 9'), *lines[1:]],
        "Install that version",
    ),
    ("no header", lambda lines: ['{"kind": "harry-export", "format": 1}', *lines[1:]], "no header of an export"),
    ("a status that none is", lambda lines: with_row(lines, "documents", status="lively"), "cannot be stored"),
    ("a moment that none is", lambda lines: with_row(lines, "documents", created_at="noon"), "cannot be stored"),
    ("a field missing", lambda lines: with_row(lines, "documents", title=None), "cannot be stored"),
    ("a vector that none is", lambda lines: with_row(lines, "chunk_vectors", embedding="[1,2]"), "cannot be stored"),
    ("a NUL", lambda lines: with_row(lines, "documents", title="a\u0000b"), "cannot be stored"),
]


@pytest.mark.parametrize(("fault", "sentence"), [(f, s) for _, f, s in FAULTS], ids=[name for name, _, _ in FAULTS])
async def test_a_broken_file_is_refused_and_nothing_stays(
    app: App,
    connection: AsyncConnection[Any],
    fault: Callable[[list[str]], list[str]],
    sentence: str,
) -> None:
    await filled(app)
    whole = await exported(app.database)
    await connection.execute(b"DELETE FROM documents")
    await connection.execute(b"TRUNCATE postings, terms")
    await connection.execute(b"UPDATE corpus SET chunks = 0, length_sum = 0, title_sum = 0")
    before = await exported(app.database)
    with pytest.raises(HarryError, match=sentence) as caught:
        await taken(app.database, fault(whole))
    assert isinstance(caught.value, InputError | StorageError)
    assert "\n" not in str(caught.value)
    assert await exported(app.database) == before
    # and the whole file comes in afterwards
    assert (await taken(app.database, whole)).different == 0
    assert (await app.loop.search("How do I rotate an API key?", record=False)).hits


async def test_nothing_is_seen_of_an_import_until_all_of_it_is_in(app: App, connection: AsyncConnection[Any]) -> None:
    await filled(app)
    lines = await exported(app.database)
    await connection.execute(b"DELETE FROM documents")
    await connection.execute(b"TRUNCATE postings, terms")
    await connection.execute(b"UPDATE corpus SET chunks = 0, length_sum = 0, title_sum = 0")
    seen: list[int] = []

    def slowly() -> Any:
        for number, line in list(enumerate(lines, 1))[1:]:
            seen.append(number)
            yield number, line

    task = asyncio.create_task(_watch(connection, seen, len(lines)))
    header = read_header(parsed(1, lines[0]), schema=99)
    await import_records(app.database, header, slowly())
    assert await task <= {0, 6}
    assert await rows(connection, "SELECT count(*) FROM documents") == [(6,)]


async def _watch(connection: AsyncConnection[Any], seen: list[int], until: int) -> set[int]:
    found: set[int] = set()
    while len(seen) < until - 1:
        found.add((await rows(connection, "SELECT count(*)::int FROM documents"))[0][0])
    return found


async def test_who_writes_meanwhile_gets_numbers_of_its_own(app: App, connection: AsyncConnection[Any]) -> None:
    """A server that goes on while a file comes in must not be given the numbers that the file's rows get."""
    await filled(app)
    lines = await exported(app.database)
    said = "INSERT INTO audit_log (actor, role, action, target_kind, target_id) VALUES ('a', 'b', %s, 'd', 'e')"
    for number in range(5):
        await connection.execute(said.encode(), [f"before {number}"])
    theirs = await exported(app.database)
    await connection.execute(b"ALTER TABLE audit_log DISABLE TRIGGER audit_log_append_only")
    await connection.execute(b"DELETE FROM audit_log WHERE action <> 'before 0'")
    await connection.execute(b"ALTER TABLE audit_log ENABLE TRIGGER audit_log_append_only")

    header = read_header(parsed(1, theirs[0]), schema=99)
    importing = asyncio.create_task(import_records(app.database, header, iter(list(enumerate(theirs, 1))[1:])))
    for number in range(40):
        await connection.execute(said.encode(), [f"meanwhile {number}"])
        await asyncio.sleep(0)
    report = await importing
    assert report.kinds["audit_log"].added == 4
    assert report.kinds["audit_log"].unchanged == 1
    found = await rows(connection, "SELECT count(*), count(DISTINCT id), count(DISTINCT action) FROM audit_log")
    assert found == [(45, 45, 45)]
    assert len(lines) < len(theirs)
    assert (await app.loop.read(KEYS.id, offset=0, limit=10)).text
    assert (await taken(app.database, lines)).added == 0
    await app.ingester.ingest([page("After", "Written after the import.")])
