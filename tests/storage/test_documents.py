"""RET-6: what a curator hides is out of both legs at once, and what comes back is found at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from psycopg import AsyncConnection

from harry_mcp.domain.documents import Chunk, ContextualChunk, DocumentStatus, SourceDocument
from harry_mcp.errors import NotFoundError
from harry_mcp.providers.local.embedder import SPACE
from harry_mcp.settings import Settings
from harry_mcp.storage.chunk_index import chunk_public_ids
from harry_mcp.storage.database import Database
from harry_mcp.storage.documents import StatusCount
from tests.storage.recount import assert_index_is_exact, both_legs, rows

Status = DocumentStatus
ASKED = np.eye(1, SPACE.dimension, dtype=np.float32)[0]


def document(name: str, passages: Sequence[str]) -> tuple[SourceDocument, list[ContextualChunk]]:
    text, chunks = "", list[ContextualChunk]()
    for ordinal, passage in enumerate(passages):
        start = len(text)
        text += passage + "\n\n"
        chunk = Chunk(ordinal=ordinal, text=passage, start=start, end=start + len(passage))
        chunks.append(ContextualChunk(chunk=chunk, contextual_text=f"{name}\n\n{passage}"))
    made = SourceDocument(
        source=f"test:{name}", title=name, text=text, language="en", url=f"https://docs.example.com/{name}"
    )
    return made, chunks


async def save(
    database: Database, name: str, passages: Sequence[str], status: DocumentStatus = Status.LIVE, recipe: str = "test"
) -> str:
    made, chunks = document(name, passages)
    async with database.transaction() as unit:
        await unit.documents.save(made, chunks, [ASKED] * len(chunks), recipe=recipe, status=status)
    return made.id


async def move(database: Database, document_id: str, status: DocumentStatus) -> None:
    async with database.transaction() as unit:
        await unit.documents.set_status(document_id, status)


async def found(database: Database, word: str) -> tuple[list[str], list[str], int]:
    """What the keyword leg and the vector leg find, and how many chunks the corpus has."""
    keyword, vector = await both_legs(database, word)
    async with database.reading() as unit:
        statistics = await unit.keywords.statistics()
    return (
        sorted(item.raw_content for item in keyword),
        sorted(item.raw_content for item in vector),
        statistics.chunks,
    )


@pytest.mark.promise("RET-6")
@pytest.mark.parametrize("status", [Status.PENDING, Status.ARCHIVED, Status.REJECTED])
async def test_a_hidden_document_is_out_of_both_legs_at_once_and_comes_back_whole(
    database: Database, settings: Settings, connection: AsyncConnection[Any], status: DocumentStatus
) -> None:
    other = await Database.open(settings, SPACE)  # another process's view
    key = await save(database, "keys", ["rotate the key", "delete the key"])
    await save(database, "bills", ["pay the bill"])
    assert await found(other, "key") == (
        ["delete the key", "rotate the key"],
        ["delete the key", "pay the bill", "rotate the key"],
        3,
    )
    for _ in range(2):
        await move(database, key, status)
        assert await found(other, "key") == ([], ["pay the bill"], 1)
        assert await rows(connection, "SELECT FROM terms WHERE term LIKE 'rotat%'") == []
        await assert_index_is_exact(connection)
        await move(database, key, status)  # again, or from one hidden status to another
        await move(database, key, Status.ARCHIVED)
        await assert_index_is_exact(connection)
        await move(database, key, Status.LIVE)
        assert (await found(other, "key"))[0] == ["delete the key", "rotate the key"]
        assert (await found(other, "key"))[2] == 3
        await assert_index_is_exact(connection)
    await other.close()


@pytest.mark.promise("RET-6")
async def test_a_flagged_document_is_found_and_says_so(database: Database, connection: AsyncConnection[Any]) -> None:
    key = await save(database, "keys", ["rotate the key"])
    before = await rows(connection, "SELECT xmin::text, revision FROM corpus")
    await move(database, key, Status.FLAGGED)
    assert await found(database, "key") == (["rotate the key"], ["rotate the key"], 1)
    assert await rows(connection, "SELECT xmin::text, revision FROM corpus") == before
    async with database.reading() as unit:
        stored = await unit.documents.find(key)
    assert stored
    assert stored.status is Status.FLAGGED


@pytest.mark.promise("RET-6")
async def test_what_is_stored_hidden_is_found_only_when_it_goes_live(
    database: Database, connection: AsyncConnection[Any]
) -> None:
    key = await save(database, "keys", ["rotate the key"], Status.PENDING)
    assert await found(database, "key") == ([], [], 0)
    await assert_index_is_exact(connection)
    await save(database, "keys", ["revoke the key"], Status.LIVE)
    assert await found(database, "key") == ([], [], 0), "a document that is there keeps its status"
    await move(database, key, Status.LIVE)
    assert await found(database, "key") == (["revoke the key"], ["revoke the key"], 1)
    await assert_index_is_exact(connection)


@pytest.mark.promise("RET-6")
@pytest.mark.parametrize("status", list(Status))
async def test_a_deleted_document_leaves_nothing_behind(
    database: Database, connection: AsyncConnection[Any], status: DocumentStatus
) -> None:
    key = await save(database, "keys", ["rotate the key", "delete the key"])
    await save(database, "bills", ["pay the bill with the key"])
    await move(database, key, status)
    async with database.transaction() as unit:
        assert await unit.documents.delete(key)
        assert not await unit.documents.delete(key)
    assert await found(database, "key") == (["pay the bill with the key"], ["pay the bill with the key"], 1)
    await assert_index_is_exact(connection)
    assert await rows(connection, "SELECT count(*) FROM chunk_vectors") == [(1,)]
    assert await rows(connection, "SELECT count(*) FROM terms WHERE term LIKE 'rotat%'") == [(0,)]


@pytest.mark.promise("RET-6")
async def test_curators_and_writers_at_once_leave_exact_counts(
    database: Database, connection: AsyncConnection[Any]
) -> None:
    keys = [await save(database, f"doc{number}", [f"the {number}th key", "the bill"]) for number in range(4)]

    async def curator(start: int) -> None:
        for step in range(12):
            await move(database, keys[(start + step) % 4], [Status.ARCHIVED, Status.FLAGGED, Status.LIVE][step % 3])

    async def writer() -> None:
        for step in range(12):
            await save(database, f"doc{step % 4}", [f"the {step}th key", "the bill", "the fee"][: 1 + step % 3])

    await asyncio.gather(curator(0), curator(2), writer(), writer())
    await assert_index_is_exact(connection)


@pytest.mark.promise("ING-5")
async def test_saving_the_same_again_writes_nothing_and_another_recipe_does(
    database: Database, connection: AsyncConnection[Any]
) -> None:
    await save(database, "keys", ["rotate the key"])
    before = await rows(connection, "SELECT ctid::text, xmin::text, * FROM chunks")
    made, chunks = document("keys", ["rotate the key"])
    async with database.transaction() as unit:
        assert not await unit.documents.save(made, chunks, [ASKED], recipe="test", status=Status.LIVE)
    assert await rows(connection, "SELECT ctid::text, xmin::text, * FROM chunks") == before
    await save(database, "keys", ["rotate the key"], recipe="finer")
    assert await rows(connection, "SELECT recipe, version FROM documents") == [("finer", 2)]
    await assert_index_is_exact(connection)


@pytest.mark.promise("ING-5")
def test_the_ids_of_a_passage_depend_on_document_and_text_alone() -> None:
    _, one = document("keys", ["rotate", "delete", "rotate"])
    _, two = document("keys", ["delete", "rotate", "rotate", "new"])
    first, second = chunk_public_ids("doc_a", one), chunk_public_ids("doc_a", two)
    assert len(set(first)) == 3
    assert set(first) < set(second)
    assert not set(first) & set(chunk_public_ids("doc_b", one))


@pytest.mark.promise("ING-5")
async def test_a_document_is_found_by_each_of_its_names(database: Database) -> None:
    key = await save(database, "keys", ["rotate the key", "delete the key"])
    made, chunks = document("keys", ["rotate the key", "delete the key"])
    names = [key, made.source, made.url, *chunk_public_ids(key, chunks)]
    async with database.reading() as unit:
        stored = [await unit.documents.find(name) for name in names]
        assert [item and item.id for item in stored] == [key] * 5
        assert stored[0]
        assert (stored[0].chunk_count, stored[0].characters) == (2, len(made.text))
        assert await unit.documents.find("nothing") is None
        assert await unit.documents.get("nothing") is None
        assert (await unit.documents.text(key, 7, 3)).text == "the"
        with pytest.raises(NotFoundError, match="no document doc_none"):
            await unit.documents.text("doc_none", 0, 10)
        assert await unit.documents.counts() == [StatusCount("live", 1, 2)]


@pytest.mark.promise("RET-6")
async def test_moving_what_is_not_there_is_refused(database: Database) -> None:
    with pytest.raises(NotFoundError, match="no document doc_none"):
        await move(database, "doc_none", Status.ARCHIVED)
