"""RUN-6, ING-5: listing, archiving, restoring and removing documents, as commands."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from psycopg import AsyncConnection

from harry_mcp.cli.console import ExitCode
from harry_mcp.domain.documents import document_id
from harry_mcp.settings import Settings
from tests.cli.test_commands import Done, harry
from tests.storage.recount import assert_index_is_exact, rows

pytestmark = [pytest.mark.promise("RUN-6"), pytest.mark.promise("ING-5")]

KEYS = "# API keys\n\nOpen Settings, choose API keys and press Rotate to get another one.\n"


@pytest.fixture
async def docs(settings: Settings, tmp_path: Path) -> Path:
    """A folder that was read in."""
    for name, text in {
        "docs/keys.md": KEYS,
        "docs/old/a.md": "# A\n\nWords of the first page.\n",
        "docs/old/b.md": "# B\n\nWords of the second page.\n",
        "docs-old/c.md": "# C\n\nWords of the third page.\n",
        "bad/bad [1].md": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = await run(settings, "ingest", str(tmp_path / "docs"), str(tmp_path / "docs-old"))
    assert (done.code, done.err) == (0, "")
    return tmp_path / "docs"


async def run(settings: Settings, *arguments: str, **environment: str) -> Done:
    url = settings.database_url.get_secret_value()
    return await asyncio.to_thread(harry, *arguments, HARRY_DATABASE_URL=url, **environment)


async def test_documents_are_archived_restored_and_removed(
    settings: Settings, docs: Path, connection: AsyncConnection[Any]
) -> None:
    keys = (docs / "keys.md").as_uri()
    listed = (await run(settings, "documents", "list", "--json")).json
    assert [entry["title"] for entry in listed] == ["C", "API keys", "A", "B"]
    assert {key: listed[1][key] for key in ("id", "source", "status", "chunks", "version")} == {
        "id": document_id(keys),
        "source": keys,
        "status": "live",
        "chunks": 1,
        "version": 1,
    }

    refused = await run(settings, "documents", "archive", str(docs / "keys.md"))
    assert refused.code == ExitCode.USAGE
    assert refused.out.startswith("Archive:\n")
    assert keys in refused.out, "what would be done is shown"
    assert refused.err == ("harry: Archive 1 document needs --yes where nobody can be asked. Nothing was changed.\n")
    archived = await run(settings, "documents", "archive", str(docs / "keys.md"), "--yes", "--json")
    assert (archived.code, [entry["source"] for entry in archived.json["documents"]]) == (0, [keys])
    assert (await run(settings, "search", "rotate the API key", "--source", keys, "--json")).json["hits"] == []
    # What is archived stays so when it is read again
    (docs / "keys.md").write_text(KEYS + "\nAnd once more.\n", encoding="utf-8")
    assert (await run(settings, "ingest", str(docs / "keys.md"))).code == 0
    twice = await run(settings, "documents", "archive", document_id(keys), "--yes")
    assert (twice.code, twice.out) == (0, "0 archived; 1 left as they are\n")
    restored = await run(settings, "documents", "restore", keys, "--yes")
    assert restored.out.endswith("1 restored\n")
    found = (await run(settings, "search", "rotate the API key", "--source", keys, "--json")).json["hits"]
    assert "once more" in found[0]["text"]
    await assert_index_is_exact(connection)


async def test_all_under_a_folder_is_removed_in_one_step(
    settings: Settings, docs: Path, connection: AsyncConnection[Any]
) -> None:
    hint = await run(settings, "documents", "remove", str(docs), "--yes")
    assert hint.code == ExitCode.USAGE
    assert hint.err == f"harry: There is no document {docs}. 3 lie under it; --under takes them all.\n"
    unknown = await run(settings, "documents", "remove", "https://nowhere.example/", "--under", "--yes")
    assert "There is no document https://nowhere.example/. `harry documents list` has all." in unknown.err
    assert (await run(settings, "documents", "remove", "", "--under", "--yes")).code == ExitCode.USAGE
    # One that is not there, and nothing is done at all
    half = await run(settings, "documents", "remove", str(docs / "keys.md"), "doc_none", "--yes")
    assert half.code == ExitCode.USAGE
    assert await rows(connection, "SELECT count(*) FROM documents") == [(4,)]
    removed = await run(settings, "documents", "remove", f"{docs}/", "--under", "--yes")
    assert (removed.code, removed.err) == (0, "")
    assert removed.out.endswith("3 removed\n")
    assert await rows(connection, "SELECT title FROM documents") == [("C",)], "docs-old is not under docs"
    await assert_index_is_exact(connection)
    few = await run(settings, "documents", "list", "--limit", "1")
    assert few.out.startswith(f"  {document_id((docs.parent / 'docs-old/c.md').as_uri())}  file://")
    assert few.err == "These are the first 1; --limit shows more.\n"
    back = await run(settings, "ingest", str(docs), "--json")
    assert len(back.json["added"]) == 3


async def test_a_skipped_file_is_named_once(settings: Settings, docs: Path) -> None:
    bad = docs.parent / "bad" / "bad [1].md"
    done = await run(settings, "ingest", str(bad.parent))
    assert done.code == ExitCode.PARTIAL
    assert done.out.splitlines()[-1] == f"skipped: {bad.as_uri()} holds no text."
    bad.write_bytes(b"\x00\x01\x02\x03" * 50)
    done = await run(settings, "ingest", str(bad.parent))
    assert done.out.splitlines()[-1].count("bad") == 2, "the folder's name and the file's, and no more"
    bad.write_bytes(b"x" * 100)
    done = await run(settings, "ingest", str(bad.parent), HARRY_INGEST__FILE_BYTES="10")
    assert done.out.splitlines()[-1] == f"skipped: {bad} cannot be read: it is larger than 0 KB."
