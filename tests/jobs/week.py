"""A fortnight of a knowledge base that is used, with titles and questions that mean harm."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

HOSTILE = "<img src=x onerror=alert(1)>"
BREAKING = "Keys\r\nBcc: eve@example.com\r\n\r\n<script>alert(2)</script>\u202egnp.exe"
UNTIL = datetime(2026, 3, 20, 6, 0, tzinfo=UTC)
# Searches of each day and how many were weak, the oldest first.
SEARCHES = (
    *((20, 2), (24, 3), (8, 1), (6, 0), (25, 2), (28, 3), (26, 2)),
    *((22, 6), (27, 7), (9, 3), (7, 2), (30, 9), (33, 8), (31, 10)),
)


async def fill(connection: AsyncConnection[Any], *, until: datetime = UNTIL) -> None:
    """Write it down as it would stand at a moment."""
    for place, (searches, weak) in enumerate(SEARCHES):
        await connection.execute(
            b"INSERT INTO searches (id, question, query, filters, status, verdict, ranking, timings_ms, revision,"
            b" created_at) SELECT 's' || %(place)s || '_' || n, 'q', 'q', '{}', 'ok', jsonb_build_object('band',"
            b" CASE WHEN n <= %(weak)s THEN 'weak' ELSE 'strong' END), '[]', '{}', 1,"
            b" %(until)s - make_interval(days => %(back)s, mins => n) FROM generate_series(1, %(searches)s) AS n",
            {"place": place, "weak": weak, "searches": searches, "until": until, "back": len(SEARCHES) - 1 - place},
        )
    await _documents(connection, until)
    await _gaps(connection, until)
    for number, (rating, reason) in enumerate([("up", ""), ("up", ""), ("down", "outdated"), ("down", "wrong")]):
        await connection.execute(
            b"INSERT INTO feedback (id, result_id, author, rating, reason, question, created_at, updated_at)"
            b" VALUES (%s, %s, 'ann', %s, %s, 'q', %s, %s)",
            [f"fb_{number}", f"s13_{number + 1}", rating, reason, until, until],
        )
    await connection.execute(
        b"INSERT INTO corrections (id, wrong, truth, lesson, status, author)"
        b" VALUES ('cor_1', 'w', 't', 'l', 'pending', 'a')"
    )
    await connection.execute(
        b"INSERT INTO verified_responses (id, question, answer, status, origin, submitted_by)"
        b" VALUES ('ver_1', 'q', 'a', 'candidate', 'test', 'ann'), ('ver_2', 'q2', 'a', 'active', 'test', 'ann')"
    )
    await connection.execute(b"INSERT INTO verified_citations VALUES ('ver_2', 'doc_gone', 1)")


async def _documents(connection: AsyncConnection[Any], until: datetime) -> None:
    for number, (title, status) in enumerate([(HOSTILE, "flagged"), (BREAKING, "flagged"), ("Draft", "pending")]):
        await connection.execute(
            b"INSERT INTO documents (id, source, title, url, status, content, content_hash, recipe)"
            b" VALUES (%s, %s, %s, 'javascript:alert(3)', %s, 'x', 'h', 'r')",
            [f"doc_{number}", f"test:{number}", title, status],
        )
    events = [
        ("doc_0", "flag", "dead_source", 2),
        ("doc_0", "flag", "stale", 40),
        ("doc_0", "flag", "negative_feedback", 5),
        ("doc_1", "flag", "contradiction", 3),
        ("doc_2", "draft", "", 4),
        ("doc_1", "flag", "stale", 24 * 20),
    ]
    for document_id, event, signal, hours in events:
        await connection.execute(
            b"INSERT INTO kb_curation_log (document_id, event, signal, actor, detail, created_at)"
            b" VALUES (%s, %s, %s, 'test', %s, %s - make_interval(hours => %s))",
            [document_id, event, signal, Jsonb({}), until, hours],
        )


async def _gaps(connection: AsyncConnection[Any], until: datetime) -> None:
    for gap, question, times in (("gap_1", f"How do I close {HOSTILE}?", 3), ("gap_2", "Where is the 請求書?", 2)):
        await connection.execute(
            b"INSERT INTO kb_gaps (id, question, topic, best_score, occurrences) VALUES (%s, %s, 'Billing', 0.31, 9)",
            [gap, question],
        )
        for number in range(times):
            await connection.execute(
                b"INSERT INTO kb_gap_logs (gap_id, search_id, query, best_score, created_at)"
                b" VALUES (%s, %s, 'q', 0.31, %s - make_interval(days => %s))",
                [gap, f"s13_{number + 1}", until, number],
            )
