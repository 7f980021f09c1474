"""CUR-6: every act of a curator is in the audit log, in the transaction that does it, or it did not happen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from psycopg import AsyncConnection

from harry_mcp.app import App
from harry_mcp.cli.console import ExitCode
from harry_mcp.domain.corrections import CorrectionAction, Lesson
from harry_mcp.domain.curation import ReviewAction
from harry_mcp.domain.documents import DocumentStatus
from harry_mcp.domain.ingestions import Ingestion, IngestionRequest
from harry_mcp.domain.verified import VerifiedAction
from harry_mcp.errors import HarryError, StorageError
from harry_mcp.settings import Settings
from tests.cli.test_commands import harry
from tests.curate.test_review import CURATOR, TEXTS, act, ingest
from tests.storage.recount import assert_index_is_exact, rows

pytestmark = pytest.mark.promise("CUR-6")
LESSON = Lesson(wrong="Keys last a day.", truth="Keys last an hour.", line="Old API keys work for one hour.")
TRAIL = "SELECT action, target_kind, target_id, actor FROM audit_log ORDER BY id"
# What an act may change. Numbers that a sequence gave out are not given back, and do not count.
TABLES = (
    *("documents", "chunks", "kb_curation_log", "review_actions", "review_changes", "document_versions"),
    *("corrections", "memory_vectors", "verified_responses", "verified_refusals", "verified_citations"),
    *("ingestions", "postings"),
)
Do = Callable[[], Awaitable[object]]


async def stored(connection: AsyncConnection[Any]) -> dict[str, list[tuple[Any, ...]]]:
    return {table: await rows(connection, f"SELECT * FROM {table} ORDER BY 1, 2, 3") for table in TABLES}


class Acts:
    """One of each thing that a curator can do, made ready for it."""

    def __init__(self, app: App, folder: Path) -> None:
        self._app = app
        self._folder = folder

    async def ready(self) -> dict[str, Do]:
        """The acts by the name that the log gives them, none of them done."""
        app, review = self._app, self._app.loop.review
        live, kept, _ = await ingest(app)
        async with app.database.transaction() as unit:
            await unit.documents.set_status(kept, DocumentStatus.FLAGGED)
        archived = await act(app, ReviewAction.ARCHIVE, live)
        (correction,) = await app.loop.submit_correction(LESSON, CURATOR)
        other = Lesson(wrong="Once.", truth="Five times.", line="A webhook is retried five times.")
        (doubted,) = await app.loop.submit_correction(other, CURATOR)
        entry = await app.loop.verified.add("How do I rotate a key?", "So.", [], origin="test", by=CURATOR)
        (self._folder / "page.md").write_text("# Page\n\nSome words.\n", encoding="utf-8")
        return {
            "keep": lambda: review.act(ReviewAction.KEEP, [kept], CURATOR),
            "rewrite": lambda: review.act(ReviewAction.REWRITE, [kept], CURATOR, text="New words of it."),
            "undo": lambda: review.rollback(archived.action_id, CURATOR),
            "deprecate": lambda: app.loop.corrections.review(
                doubted.correction.id, CorrectionAction.DEPRECATE, CURATOR
            ),
            "promote": lambda: app.loop.corrections.review(correction.correction.id, CorrectionAction.PROMOTE, CURATOR),
            "approve": lambda: app.loop.verified.review(entry.id, VerifiedAction.APPROVE, CURATOR),
            "never_serve": lambda: app.loop.verified.review(
                entry.id, VerifiedAction.NEVER_SERVE, CURATOR, question="How do I delete a key?"
            ),
            "ingest": lambda: self._ingested(IngestionRequest(source=str(self._folder / "page.md"))),
        }

    async def _ingested(self, request: IngestionRequest) -> None:
        async def unseen(_: Ingestion) -> None:
            pass

        begun = await self._app.ingestions.begin(request, CURATOR)
        await self._app.ingestions.wait(begun.id, 60, unseen)


@pytest.mark.parametrize(
    "name", ["keep", "rewrite", "undo", "deprecate", "promote", "approve", "never_serve", "ingest"]
)
async def test_what_cannot_be_put_on_record_does_not_happen(
    app: App, connection: AsyncConnection[Any], tmp_path: Path, name: str
) -> None:
    do = (await Acts(app, tmp_path).ready())[name]
    before = len(await rows(connection, TRAIL))
    await connection.execute(
        b"CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no room'; END $$"
    )
    await connection.execute(b"CREATE TRIGGER fail BEFORE INSERT ON audit_log FOR EACH ROW EXECUTE FUNCTION fail()")
    was = await stored(connection)
    with pytest.raises(HarryError, match="no room"):
        await do()
    now = await stored(connection)
    # An ingestion that nobody took up is no act: it is entered, and says that it was interrupted.
    ignored = {"ingestions"} if name == "ingest" else set[str]()
    # Noted before the draft and taken back after it failed.
    ignored |= {"corrections"} if name == "promote" else set[str]()
    assert {table: found for table, found in now.items() if table not in ignored} == {
        table: found for table, found in was.items() if table not in ignored
    }
    if name == "promote":
        assert {row[0] for row in await rows(connection, "SELECT document_id FROM corrections")} == {""}
    await connection.execute(b"DROP TRIGGER fail ON audit_log")
    await do()
    trail = await rows(connection, TRAIL)
    assert len(trail) == before + 1
    assert trail[-1][0] == name
    assert trail[-1][3] == "test:ann"
    await assert_index_is_exact(connection)


async def test_a_draft_that_cannot_say_where_it_comes_from_is_none(app: App, connection: AsyncConnection[Any]) -> None:
    (submitted,) = await app.loop.submit_correction(LESSON, CURATOR)
    await connection.execute(
        b"CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no room'; END $$"
    )
    await connection.execute(
        b"CREATE TRIGGER fail BEFORE INSERT ON kb_curation_log FOR EACH ROW EXECUTE FUNCTION fail()"
    )
    with pytest.raises(StorageError, match="no room"):
        await app.loop.corrections.review(submitted.correction.id, CorrectionAction.PROMOTE, CURATOR)
    assert await rows(connection, "SELECT id FROM documents") == []
    await connection.execute(b"DROP TRIGGER fail ON kb_curation_log")
    promoted = await app.loop.corrections.review(submitted.correction.id, CorrectionAction.PROMOTE, CURATOR)
    logged = "SELECT event, detail ->> 'correction_id' FROM kb_curation_log"
    assert await rows(connection, logged) == [("draft", promoted.id)]
    assert await rows(connection, TRAIL) == [("promote", "correction", promoted.id, "test:ann")]


async def test_commands_are_on_record_too(
    settings: Settings, app: App, connection: AsyncConnection[Any], tmp_path: Path
) -> None:
    page = tmp_path / "keys.md"
    page.write_text(f"# Keys\n\n{TEXTS['Keys']}\n", encoding="utf-8")
    given = {"HARRY_DATABASE_URL": settings.database_url.get_secret_value()}
    for arguments in (("ingest", str(page)), ("documents", "archive", str(page)), ("documents", "restore", str(page))):
        given_yes = ("--yes",) if arguments[0] == "documents" else ()
        assert harry(*arguments, *given_yes, "--json", **given).code == 0
    refused = harry("documents", "remove", str(page), **given)
    assert refused.code == ExitCode.USAGE, "nobody can be asked"
    assert harry("documents", "remove", str(page), "--yes", **given).code == 0
    trail = await rows(connection, "SELECT action, target_kind, target, actor LIKE 'cli:%' FROM audit_log ORDER BY id")
    assert [row[:2] for row in trail] == [
        ("ingest", "source"),
        ("archive", "document"),
        ("restore", "document"),
        ("remove", "document"),
    ]
    assert trail[0][2] == str(page)
    assert {row[2] for row in trail[1:]} == {"Keys"}
    assert all(row[3] for row in trail)
