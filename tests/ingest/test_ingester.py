"""ING-5, ING-6, ING-7: what is stored once is not stored again, and what changes changes whole."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import psycopg
import pytest
from psycopg import AsyncConnection

from harry_mcp.app import App
from harry_mcp.domain.documents import Chunk, DocumentStatus, IngestOutcome, SourceDocument
from harry_mcp.errors import DatabaseUnavailable, ProviderError
from harry_mcp.ingest.ingester import Ingester, PreparedDocument, Progress
from harry_mcp.ingest.sources import expand, missing_sources, read_each
from harry_mcp.ports import Vectors
from harry_mcp.profile import DomainProfile
from harry_mcp.providers.local.embedder import SPACE, LocalEmbedder
from harry_mcp.settings import Settings, child_environment
from harry_mcp.storage.database import Database
from harry_mcp.storage.embedded import EmbeddedPostgres
from tests.storage.recount import OneDirection, assert_index_is_exact, rows

KEYS = (
    "A key lets a program act for an account. Whoever holds it may do all that its owner may do, so keep it in a "
    "vault, give each program one of its own, and never write it into a page that others can read."
)
ROTATE = (
    "Open Settings, choose API keys and press Rotate. The old key works for one more hour, so that running jobs "
    "are not cut off, and then every call that still uses it is refused."
)
INVOICES = (
    "Invoices are sent on the first day of the month to the billing address of the account. A copy of every invoice "
    "lies under Billing, where it can be downloaded as a PDF for seven years."
)
WEBHOOKS = (
    "A webhook is called within a minute of the event. When your server does not answer, the call is repeated for a "
    "day with growing pauses, and after that the subscription is switched off."
)
SAFARI = (
    "On a safari in the savannah you will see zebras, giraffes and elephants at the water hole before sunrise, when "
    "the animals come to drink and the air is still cool."
)
STORED = {
    "documents": "SELECT xmin::text, ctid::text, d.* FROM documents d ORDER BY id",
    "chunks": "SELECT xmin::text, ctid::text, c.* FROM chunks c ORDER BY id",
    "postings": "SELECT xmin::text, ctid::text, p.* FROM postings p ORDER BY term_id, chunk_id",
    "terms": "SELECT xmin::text, ctid::text, t.* FROM terms t ORDER BY id",
    "chunk_vectors": "SELECT tableoid, xmin::text, ctid::text, space_id, chunk_id, searchable, embedding::text "
    "FROM chunk_vectors ORDER BY space_id, chunk_id",
    "corpus": "SELECT xmin::text, ctid::text, c.* FROM corpus c",
}


def page(title: str, **sections: str) -> str:
    """A page of Markdown with a chunk for each section."""
    return f"# {title}\n\n" + "\n\n".join(f"## {name}\n\n{text}" for name, text in sections.items()) + "\n"


class Counting:
    """The real embedder, and the texts that it was given."""

    def __init__(self, inner: LocalEmbedder) -> None:
        self.space = inner.space
        self._inner = inner
        self.texts: list[str] = []

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return await self._inner.embed_documents(texts)

    async def embed_queries(self, texts: Sequence[str], *, timeout: float | None = None) -> Vectors:
        return await self._inner.embed_queries(texts, timeout=timeout)

    def taken(self) -> list[str]:
        texts, self.texts = self.texts, []
        return texts


class Home:
    """A folder of documents and the knowledge base that it is read into."""

    def __init__(
        self,
        folder: Path,
        settings: Settings,
        database: Database,
        embedder: LocalEmbedder,
        connection: AsyncConnection[Any],
    ) -> None:
        self.folder = folder
        self.database = database
        self.connection = connection
        self.embedder = Counting(embedder)
        self.app = App(settings, DomainProfile(), database, self.embedder)
        folder.mkdir()

    def write(self, name: str, text: str) -> str:
        """The id of the document that the file is."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return SourceDocument(source=path.as_uri(), title="", text="").id

    async def ingest(self, *targets: Path | str, status: DocumentStatus = DocumentStatus.LIVE) -> IngestOutcome:
        items = [item for target in targets or (self.folder,) for item in expand(str(target))]
        outcome = await self.app.ingester.ingest(read_each(items), status=status)
        await assert_index_is_exact(self.connection)
        return outcome

    async def stored(self) -> dict[str, list[tuple[Any, ...]]]:
        return {table: await rows(self.connection, statement) for table, statement in STORED.items()}

    async def chunks(self, document_id: str) -> dict[str, str]:
        found = await self.connection.execute(
            "SELECT public_id, raw_content FROM chunks WHERE document_id = %s ORDER BY ordinal", (document_id,)
        )
        return dict(await found.fetchall())

    async def found(self, question: str) -> str:
        """All the text that a search brings up."""
        result = await self.app.loop.search(question, k=50, record=False)
        return "\n".join(item.text for item in result.hits)

    async def knows(self, word: str) -> bool:
        """Whether the keyword index has the word."""
        return bool(await rows(self.connection, f"SELECT FROM terms WHERE term LIKE '{word}%'"))


@pytest.fixture
def home(
    tmp_path: Path,
    settings: Settings,
    database: Database,
    embedder: LocalEmbedder,
    connection: AsyncConnection[Any],
) -> Home:
    return Home(tmp_path / "docs", settings, database, embedder, connection)


@pytest.mark.promise("ING-5")
async def test_the_same_folder_read_twice_writes_nothing(home: Home) -> None:
    home.write("keys.md", page("API keys", Rotate=ROTATE, Animals=SAFARI))
    home.write("invoices.html", f"<html><body><article><h1>Invoices</h1><p>{INVOICES}</p></article></body></html>")
    home.write("hooks.txt", WEBHOOKS)
    first = await home.ingest()
    assert (len(first.added), len(first.changed), len(first.unchanged)) == (3, 0, 0)
    assert len(home.embedder.taken()) == first.chunks_written == 4
    before = await home.stored()
    second = await home.ingest()
    assert (second.added, second.changed, sorted(second.unchanged)) == ([], [], sorted(first.added))
    assert second.chunks_written == 0
    assert home.embedder.taken() == []
    assert await home.stored() == before


@pytest.mark.promise("ING-5")
async def test_of_an_edited_page_only_the_changed_chunk_is_embedded_again(home: Home) -> None:
    key = home.write("keys.md", page("API keys", About=KEYS, Rotate=ROTATE, Animals=SAFARI, Hooks=WEBHOOKS))
    other = home.write("invoices.md", page("Invoices", When=INVOICES))
    await home.ingest()
    home.embedder.taken()
    before, others = await home.chunks(key), await home.chunks(other)
    vectors = await _vectors(home)
    assert await home.knows("zebra")

    # A section changes, and those around it change their places
    home.write("keys.md", page("API keys", About=KEYS, Hooks=WEBHOOKS, Money=INVOICES, Rotate=ROTATE))
    outcome = await home.ingest()
    assert (outcome.added, outcome.changed, outcome.unchanged) == ([], ["API keys"], ["Invoices"])
    after = await home.chunks(key)
    assert len(before) == len(after) == 4
    gone, new = set(before) - set(after), set(after) - set(before)
    assert [SAFARI in before[public_id] for public_id in gone] == [True]
    assert [INVOICES in after[public_id] for public_id in new] == [True]
    assert [INVOICES in text for text in home.embedder.taken()] == [True]
    now = await _vectors(home)
    assert all(now[public_id] == vectors[public_id] for public_id in set(after) & set(before))
    assert await home.chunks(other) == others

    # No leg finds what is gone
    assert not await home.knows("zebra")
    assert "zebra" not in await home.found("zebras and giraffes at the water hole")
    assert INVOICES in await home.found("when are invoices sent")
    version = await home.connection.execute("SELECT version FROM documents WHERE id = %s", (key,))
    assert await version.fetchone() == (2,)


async def _vectors(home: Home) -> dict[str, str]:
    return dict(
        await rows(
            home.connection,
            "SELECT c.public_id, v.embedding::text FROM chunks c JOIN chunk_vectors v ON v.chunk_id = c.id",
        )
    )


@pytest.mark.promise("ING-5")
async def test_a_renamed_file_is_new_and_its_old_name_is_reported_and_kept(home: Home) -> None:
    old = home.write("keys.md", page("API keys", Rotate=ROTATE))
    home.write("invoices.md", page("Invoices", When=INVOICES))
    await home.ingest()
    (home.folder / "keys.md").rename(home.folder / "secrets.md")
    outcome = await home.ingest()
    assert (outcome.added, outcome.changed, outcome.unchanged) == (["API keys"], [], ["Invoices"])
    async with home.database.reading() as unit:
        known = await unit.documents.sources_under("file:")
    assert missing_sources(str(home.folder), known) == [(home.folder / "keys.md").as_uri()]
    # The copy that an admin then deletes leaves the other whole
    async with home.database.transaction() as unit:
        assert await unit.documents.delete(old)
    await assert_index_is_exact(home.connection)
    result = await home.app.loop.search("rotate an API key", record=False)
    assert [item.passage.source for item in result.hits if ROTATE in item.text] == [
        (home.folder / "secrets.md").as_uri()
    ]


@pytest.mark.promise("ING-5")
async def test_new_metadata_is_stored_without_embedding_anything_again(home: Home) -> None:
    document = SourceDocument(source="test:a", title="API keys", text=page("API keys", Rotate=ROTATE), language="en")
    await home.app.ingester.ingest([document])
    assert len(home.embedder.taken()) == 1
    moved = SourceDocument(source="test:a", title="API keys", text=document.text, language="en", topic="Security")
    outcome = await home.app.ingester.ingest([moved])
    assert outcome.changed == ["API keys"]
    assert home.embedder.taken() == []
    await assert_index_is_exact(home.connection)
    assert await rows(home.connection, "SELECT topic, version FROM documents") == [("Security", 2)]


@pytest.mark.promise("ING-5")
async def test_another_way_of_cutting_cuts_what_is_stored_anew(home: Home, settings: Settings) -> None:
    home.write("keys.md", page("API keys", Rotate=" ".join([ROTATE] * 8)))
    first = await home.ingest()
    smaller = settings.ingest.model_copy(update={"chunk_characters": 300, "chunk_maximum": 400})
    again = Ingester(home.database, home.embedder, smaller)
    second = await again.ingest(read_each(expand(str(home.folder))))
    assert second.changed == ["API keys"]
    assert second.chunks_written > first.chunks_written
    await assert_index_is_exact(home.connection)


@pytest.mark.promise("ING-5")
async def test_one_unreadable_file_among_good_ones_is_reported_and_skipped(home: Home) -> None:
    home.write("a.md", page("API keys", Rotate=ROTATE))
    (home.folder / "b.md").write_bytes(b"\x00\x01\x02\x03" * 200)
    home.write("c.md", "   \n")
    home.write("d.md", page("Invoices", When=INVOICES))
    seen: list[Progress] = []
    outcome = await home.app.ingester.ingest(read_each(expand(str(home.folder))), report=seen.append)
    assert sorted(outcome.added) == ["API keys", "Invoices"]
    assert set(outcome.failed) == {(home.folder / name).as_uri() for name in ("b.md", "c.md")}
    assert all(reason.endswith(".") and "\n" not in reason for reason in outcome.failed.values())
    assert sorted(step.outcome for step in seen) == ["added", "added", "failed", "failed"]
    # A page that was readable before keeps its last good version
    (home.folder / "a.md").write_bytes(b"\x00\x01\x02\x03" * 200)
    again = await home.ingest()
    assert (home.folder / "a.md").as_uri() in again.failed
    assert ROTATE in await home.found("rotate the key")


@pytest.mark.promise("ING-5")
async def test_a_document_that_the_database_refuses_is_reported_and_the_others_are_stored(home: Home) -> None:
    digits = random.Random(7)
    # Longer than an index of PostgreSQL takes
    address = "https://example.com/" + "".join(digits.choices("0123456789abcdef", k=9000))
    documents = [
        SourceDocument(source="test:a", title="API keys", text=ROTATE, language="en"),
        SourceDocument(source="test:b", title="Endless", text=SAFARI, url=address, language="en"),
        SourceDocument(source="test:c", title="Invoices", text=INVOICES, language="en"),
    ]
    outcome = await home.app.ingester.ingest(documents)
    assert outcome.added == ["API keys", "Invoices"]
    assert list(outcome.failed) == ["test:b"]
    assert "index row" in outcome.failed["test:b"]
    await assert_index_is_exact(home.connection)


@pytest.mark.promise("ING-5")
@pytest.mark.parametrize("status", [DocumentStatus.ARCHIVED, DocumentStatus.REJECTED, DocumentStatus.FLAGGED])
async def test_what_a_curator_decided_stays_when_the_page_is_read_again(home: Home, status: DocumentStatus) -> None:
    key = home.write("keys.md", page("API keys", Rotate=ROTATE))
    await home.ingest()
    async with home.database.transaction() as unit:
        await unit.documents.set_status(key, status)
    assert (await home.ingest()).unchanged == ["API keys"]
    home.write("keys.md", page("API keys", Animals=SAFARI))
    assert (await home.ingest()).changed == ["API keys"]
    async with home.database.reading() as unit:
        document = await unit.documents.get(key)
    assert document
    assert document.status is status
    assert (SAFARI in await home.found("zebras at the water hole")) == status.searchable
    async with home.database.transaction() as unit:
        await unit.documents.set_status(key, DocumentStatus.LIVE)
    await assert_index_is_exact(home.connection)
    text = await home.found("zebras at the water hole, rotate the key")
    assert SAFARI in text
    assert ROTATE not in text


@pytest.mark.promise("ING-5")
async def test_the_same_file_twice_in_one_run_is_stored_once(home: Home) -> None:
    path = home.folder / "keys.md"
    home.write("keys.md", page("API keys", Rotate=ROTATE))
    outcome = await home.ingest(path, home.folder, str(home.folder / "*.md"))
    assert (outcome.added, outcome.unchanged) == (["API keys"], ["API keys"] * 2)
    assert outcome.chunks_written == 1
    assert len(home.embedder.taken()) == 1
    # Also when so much lies between that it comes in another batch
    ingester = Ingester(home.database, OneDirection(), home.app.settings.ingest)
    zoo = SourceDocument(source="test:zoo", title="Zoo", text=SAFARI, language="en")
    again = await ingester.ingest([zoo, book(ingester), zoo])
    assert (again.added, again.unchanged) == (["Zoo", "Book"], ["Zoo"])


def book(ingester: Ingester) -> PreparedDocument:
    """A document that fills a batch."""
    lines = [f"Line {number:03} of a long book." for number in range(600)]
    text = "\n".join(lines)
    chunks = [
        Chunk(ordinal=i, text=line, start=text.index(line), end=text.index(line) + len(line))
        for i, line in enumerate(lines)
    ]
    document = SourceDocument(source="test:book", title="Book", text=text, language="en")
    return ingester.prepare_chunks(document, chunks, "test")


@pytest.mark.promise("ING-5")
async def test_two_runs_over_one_folder_at_once_store_it_once(home: Home) -> None:
    for number in range(12):
        home.write(f"note{number:02}.md", f"Note number {number} speaks of the {number}th animal.")
    outcomes = await asyncio.gather(*(home.app.ingester.ingest(read_each(expand(str(home.folder)))) for _ in range(2)))
    assert sum(len(outcome.added) for outcome in outcomes) == 12
    assert sum(outcome.chunks_written for outcome in outcomes) == 12
    assert not any(outcome.failed for outcome in outcomes)
    await assert_index_is_exact(home.connection)


@pytest.mark.promise("ING-5")
async def test_a_model_that_fails_leaves_the_documents_before_whole(home: Home) -> None:
    class Failing(OneDirection):
        async def embed_documents(self, texts: Sequence[str]) -> Vectors:
            if any("zebra" in text for text in texts):
                raise ProviderError("The model is out of memory.")
            return await super().embed_documents(texts)

    key = home.write("zoo.md", page("Zoo", Money=INVOICES))
    await home.ingest()
    home.write("zoo.md", page("Zoo", Animals=SAFARI))
    ingester = Ingester(home.database, Failing(), home.app.settings.ingest)
    with pytest.raises(ProviderError, match="out of memory"):
        await ingester.ingest([book(ingester), *read_each(expand(str(home.folder)))])
    assert list((await home.chunks(key)).values()) == [page("Zoo", Money=INVOICES).strip()]
    assert await rows(home.connection, "SELECT title FROM documents ORDER BY title") == [("Book",), ("Zoo",)]
    assert (await home.ingest()).changed == ["Zoo"]


@pytest.mark.promise("ING-5")
async def test_a_database_that_goes_away_ends_the_run_with_one_sentence(home: Home) -> None:
    home.write("keys.md", page("API keys", Rotate=ROTATE))
    await home.database.close()
    with pytest.raises(DatabaseUnavailable, match="cannot be reached right now"):
        await home.app.ingester.ingest(read_each(expand(str(home.folder))))


@pytest.mark.promise("ING-5")
async def test_the_limit_for_a_searchs_statement_does_not_end_the_writing_of_a_long_document(
    settings: Settings, connection: AsyncConnection[Any]
) -> None:
    hasty = settings.model_copy(update={"database": settings.database.model_copy(update={"statement_timeout": 0.1})})
    database = await Database.open(hasty, SPACE)

    class Scattered(OneDirection):
        async def embed_documents(self, texts: Sequence[str]) -> Vectors:
            made = np.random.default_rng(7).normal(size=(len(texts), SPACE.dimension))
            return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)

    ingester = Ingester(database, Scattered(), settings.ingest)
    outcome = await ingester.ingest([book(ingester)])
    await database.close()
    assert outcome.added == ["Book"]
    assert await rows(connection, "SELECT count(*) FROM chunk_vectors") == [(600,)]


@pytest.mark.promise("ING-7")
async def test_what_an_admin_reads_in_is_live_and_what_comes_by_itself_waits(home: Home) -> None:
    home.write("keys.md", page("API keys", Rotate=ROTATE))
    await home.ingest()
    automatic = home.folder.parent / "automatic"
    automatic.mkdir()
    (automatic / "zoo.md").write_text(page("Zoo", Animals=SAFARI), encoding="utf-8")
    await home.ingest(automatic, status=DocumentStatus.PENDING)
    assert await rows(home.connection, "SELECT title, status FROM documents ORDER BY title") == [
        ("API keys", "live"),
        ("Zoo", "pending"),
    ]
    assert ROTATE in await home.found("rotate the key")
    assert "zebra" not in await home.found("zebras and giraffes at the water hole")
    async with home.database.transaction() as unit:
        await unit.documents.set_status(
            SourceDocument(source=(automatic / "zoo.md").as_uri(), title="", text="").id, DocumentStatus.LIVE
        )
    assert SAFARI in await home.found("zebras and giraffes at the water hole")


# Killed at any moment

SUBJECTS = ("Rotation", "Billing", "Webhooks", "Exports")
HARRY = [sys.executable, "-m", "harry_mcp.cli.main"]


def version(subject: str, animal: str) -> str:
    """A page of four chunks; two of them and the title carry the word of its version, two are in every version."""
    return (
        f"# {subject} with the {animal}\n\n"
        f"## Begin\n\n{subject} begins here. {SAFARI} The guide of this tour is the {animal}, never in a hurry.\n\n"
        f"## Money\n\n{subject} costs money. {INVOICES}\n\n## Calls\n\n{subject} calls back. {WEBHOOKS}\n\n"
        f"## End\n\n{subject} ends here with the {animal}. {ROTATE}\n"
    )


class Killed:
    """A knowledge base of its own, and a folder that is read into it by processes that are killed."""

    def __init__(self, place: Path) -> None:
        self.folder = place / "docs"
        self.folder.mkdir()
        self.data_dir = place / "data"
        self.environment = child_environment(HARRY_DATA_DIR=str(self.data_dir))
        self.animals = ("walrus", "penguin")

    def write(self, animal: str) -> None:
        for subject in SUBJECTS:
            (self.folder / f"{subject}.md").write_text(version(subject, animal), encoding="utf-8")

    def start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*HARRY, "ingest", str(self.folder), "--json"],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def harry(self, *arguments: str) -> Any:
        done = subprocess.run([*HARRY, *arguments, "--json"], env=self.environment, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)

    async def look(self) -> set[str]:
        """The animals of the stored documents, after everything was found whole."""
        server = await asyncio.to_thread(EmbeddedPostgres.start, self.data_dir / "postgres")
        try:
            async with await AsyncConnection.connect(
                server.dsn, autocommit=True, options="-c search_path=harry,public"
            ) as connection:
                await assert_index_is_exact(connection)
                return {await self._animal(connection, subject) for subject in SUBJECTS}
        finally:
            await asyncio.to_thread(server.close)

    async def _animal(self, connection: AsyncConnection[Any], subject: str) -> str:
        source = (self.folder / f"{subject}.md").as_uri()
        document = await connection.execute("SELECT id, title, content FROM documents WHERE source = %s", (source,))
        key, title, content = await document.fetchone() or ("", "", "")
        (animal,) = (animal for animal in self.animals if content == version(subject, animal).strip())
        other = next(other for other in self.animals if other != animal)
        assert title == f"{subject} with the {animal}"
        found = await connection.execute("SELECT contextual_content FROM chunks WHERE document_id = %s", (key,))
        chunks = "\n".join(row[0] for row in await found.fetchall())
        assert chunks.count("##") == 4
        assert animal in chunks
        assert other not in chunks
        return animal

    def cut_off_when_writing(self, process: subprocess.Popen[bytes], pause: float) -> None:
        """Kill it a moment after it wrote its first document."""
        server = EmbeddedPostgres.start(self.data_dir / "postgres")
        with psycopg.connect(server.dsn, autocommit=True) as connection:
            before = connection.execute("SELECT max(updated_at) FROM harry.documents").fetchone()
            while process.poll() is None:
                if connection.execute("SELECT max(updated_at) FROM harry.documents").fetchone() != before:
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(timeout=pause)
                    break
        server.close()
        kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.promise("ING-5")
@pytest.mark.promise("RUN-3")
@pytest.mark.skipif(sys.platform == "win32", reason="sessions and SIGKILL of POSIX")
async def test_killed_at_any_moment_every_document_is_wholly_old_or_wholly_new(tmp_path: Path) -> None:
    home = Killed(tmp_path)
    dice = random.Random(20_240_607)
    old, new = home.animals
    home.write(old)
    assert len(home.harry("ingest", str(home.folder))["added"]) == len(SUBJECTS)
    home.write(new)
    began = time.monotonic()
    assert home.harry("ingest", str(home.folder))["chunks_written"] == 4 * len(SUBJECTS)
    lasts = time.monotonic() - began
    for number in range(11):
        old, new = new, old
        home.write(new)
        process = home.start()
        in_the_writing = number % 3 == 2
        if in_the_writing:
            # Most of the time goes into embedding, so some of the moments are drawn over the writing alone
            home.cut_off_when_writing(process, dice.uniform(0, 0.03))
        else:
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=dice.uniform(0, lasts))
            kill(process)
        found = await home.look()
        assert new in found or not in_the_writing
        if number % 5 == 4:
            result = home.harry("search", "Who is the guide of the tour of Billing?")
            assert any("guide of this tour" in hit["text"] for hit in result["hits"])
    report = home.harry("ingest", str(home.folder))
    assert len(report["changed"]) + len(report["unchanged"]) == len(SUBJECTS)
    assert await home.look() == {new}
    assert not [
        process for process in psutil.process_iter(["cwd"]) if (process.info["cwd"] or "").startswith(str(tmp_path))
    ]
