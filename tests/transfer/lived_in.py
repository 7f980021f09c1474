"""A knowledge base that has been used: there is at least one row of everything that is exported."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

from psycopg import AsyncConnection

from harry_mcp.app import App
from harry_mcp.domain.corrections import Lesson
from harry_mcp.domain.curation import ReviewAction
from harry_mcp.domain.transfer import ImportReport, read_header
from harry_mcp.domain.verified import VerifiedAction
from harry_mcp.ingest.json_lines import parsed
from harry_mcp.loop.exporting import export_lines
from harry_mcp.loop.importing import import_records
from harry_mcp.storage.database import Database
from harry_mcp.storage.migrator import migrations
from tests.loop.small_base import ANN, BOB, CURATOR, IN_OTHER_WORDS, KEYS, backfilled, down, filled, official, page, up

LESSON = Lesson(
    topic="invoices",
    wrong="Invoices are sent on the first day of the month.",
    truth="Invoices are sent on the last day of the month.",
    line="Invoices go out on the last day of the month, not on the first.",
)
NEVER = "How do I delete an API key?"
# What no act of a short life leaves behind.
_OTHERS = (
    "INSERT INTO source_checks (url, host, day, checked_at, outcome, method, status, reason) VALUES "
    "('https://docs.example.com/keys', 'docs.example.com', '2026-01-02', '2026-01-02 03:04:05.678901+00', 'alive', "
    "'HEAD', 200, '')",
    "INSERT INTO crawls (start_url, prefix, warnings) VALUES ('https://docs.example.com/', '', '{slow}')",
    "INSERT INTO crawl_urls (crawl_id, url, run, depth, waiting, etag, links) "
    "SELECT id, 'https://docs.example.com/a', 1, 0, false, 'W/\"1\"', '{2,1}' FROM crawls",
    "INSERT INTO crawl_urls (crawl_id, url, run, depth, waiting, links) "
    "SELECT id, 'https://docs.example.com/b', 1, 1, true, '{1}' FROM crawls",
    "INSERT INTO calibrations (id, ranker, method, raw, chance, corpus, questions, answerable, auroc, "
    "calibration_error) VALUES ('cal_1', 'local', 'isotonic', '{0.1,0.30000000000000004}', '{0,1}', 'c', 2, 1, 1, 0)",
    "INSERT INTO eval_runs (id, name, golden, settings, figures, accepted) VALUES "
    "('run_1', 'first', 'g', '{\"k\": 5}', '{\"mrr\": 0.1}', true)",
    "INSERT INTO digest_mails (day, state) VALUES ('2026-01-02', 'sent')",
    "INSERT INTO document_checks (document_id, kind, version) SELECT id, 'contradiction', version FROM documents",
    "INSERT INTO web_searches (id, gap_id, question, status, cached, results) "
    "SELECT 'web_1', id, question, 'empty', false, '[]' FROM kb_gaps LIMIT 1",
)


async def live_in(app: App, connection: AsyncConnection[Any]) -> None:
    """Fill a base and use it as people do."""
    odd = page("Zürich, 東京 und ключи", 'Tabs\tand "quotes" and \\u0041 and \\\\ and \u2028 and 🗝 stay as they are.')
    await filled(app, odd)
    entry = await official(app)
    await app.loop.verified.review(entry.id, VerifiedAction.NEVER_SERVE, CURATOR, question=NEVER)
    await app.loop.search(IN_OTHER_WORDS)
    await app.loop.submit_correction(LESSON, ANN)
    found = await app.loop.search("When are invoices sent?")
    await app.loop.recorded()
    await app.loop.submit_correction(LESSON, BOB, result_id=found.search_id)
    await down(app, found, BOB, source_urls=["https://docs.example.com/invoices"])
    await up(app, found, ANN, answer="On the first day of the month.")
    await app.loop.search("What is the airspeed of an unladen swallow?")
    await app.loop.recorded()
    new = "# API keys\n\n## Rotate an API key\n\nOpen Settings and press Rotate. The old key works for two hours."
    await app.loop.review.act(ReviewAction.REWRITE, [KEYS.id], CURATOR, text=new)
    exports = page("Exports", "").id
    archived = await app.loop.review.act(ReviewAction.ARCHIVE, [exports], CURATOR)
    await app.loop.review.rollback(archived.action_id, CURATOR)
    await app.loop.review.act(ReviewAction.ARCHIVE, [page("Webhooks", "").id], CURATOR, reason="old")
    await backfilled()
    for statement in _OTHERS:
        await connection.execute(statement.encode())


async def exported(database: Database, *, vectors: bool = True, searches: bool = True) -> list[str]:
    async with aclosing(export_lines(database, version="0.1.0", vectors=vectors, searches=searches)) as lines:
        return [line async for line in lines]


async def taken(database: Database, lines: list[str], *, dry_run: bool = False) -> ImportReport:
    header = read_header(parsed(1, lines[0]), schema=len(migrations()))
    return await import_records(database, header, iter(list(enumerate(lines, 1))[1:]), dry_run=dry_run)
