"""A knowledge base for the console's page: some of everything, and titles and questions that mean harm."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from harry_mcp.app import App
from harry_mcp.domain.curation import ReviewAction
from harry_mcp.domain.documents import DocumentStatus, SourceDocument
from harry_mcp.domain.people import Principal, Role
from harry_mcp.stages.curate.flag import RotSignal, flag_rot
from tests.jobs import week

HOSTILE = week.HOSTILE
ANN = Principal(subject="ann", via="http", role=Role.CURATOR, trusted=True)
_SITE = "https://docs.example.com"
_Texts = dict[str, str]

DRAFTS: _Texts = {
    f"Connect {name}": f"Open Settings, choose Integrations, then {name}. Sign in at {name} and pick a channel."
    for name in ("Slack", "Teams", "Jira", "Zapier", "GitHub", "GitLab", "Notion", "Asana", "Linear", "Sentry", "Okta")
}
FLAGGED: _Texts = {
    "Rate limits of the API": "A workspace may send 600 requests per minute. Above that the API answers 429 until the "
    "minute is over.\n\nWebhooks do not count.",
    "Rotate an API key": "Open Settings, choose API keys and press Rotate. The old key works for one hour.",
    "Export all records": "Choose Data, then Export. Large exports arrive by e-mail within ten minutes.",
    "Single sign-on with SAML": "Connect your identity provider and map its groups to roles. Owners keep a password.",
    "Where invoices are sent": "Invoices are sent on the first day of the month to the billing address.",
    "Retries of webhooks": "A webhook is called within a minute of the event and retried for one day.",
    "Regions and residency": "Data is kept in the region that was chosen when the account was opened.",
    "Delete a workspace": "An owner deletes it under Settings, Danger zone. It can be brought back for 14 days.",
    "Mobile app: offline mode": "The app keeps the last 200 records and sends changes when it is online again.",
    "Import from a spreadsheet": "Upload a CSV file of up to 5 MB. The first row names the columns.",
}
LIVE: _Texts = {
    "Audit log": "Owners see who did what for ninety days under Settings, Audit log.",
    "Roles and permissions": "There are owners, editors and viewers. Only owners see invoices.",
    "Two-factor sign-in": "Turn it on under Profile. Ten recovery codes are shown once.",
    "Old price list": "The team plan costs 9 a month.",
    "Beta of the desktop app": "Ask support for an invitation to the beta.",
}


async def fill(app: App, connection: AsyncConnection[Any]) -> None:
    """Write it all down as it would stand now."""
    now = datetime.now(UTC).replace(microsecond=0)
    await week.fill(connection, until=now)
    hostile = {HOSTILE: f"Press {HOSTILE} to close the window."}
    await _ingest(app, DRAFTS | {f"Draft {HOSTILE}": "A draft."}, DocumentStatus.PENDING)
    await _ingest(app, FLAGGED | LIVE | hostile, DocumentStatus.LIVE)
    await _signals(app)
    review = app.loop.review
    await review.act(ReviewAction.ARCHIVE, [_id("Old price list")], ANN, reason="the prices are of last year")
    await review.act(ReviewAction.ARCHIVE, [_id("Beta of the desktop app")], ANN, reason=HOSTILE)
    text = "Owners and editors see who did what for one year under Settings, Audit log."
    await review.act(ReviewAction.REWRITE, [_id("Audit log")], ANN, text=text, title=f"Audit log {HOSTILE}")
    await _uses(connection)
    await _memories(connection)


def _id(title: str) -> str:
    return _document(title, "").id


def _document(title: str, text: str) -> SourceDocument:
    name = "".join(letter if letter.isalnum() else "-" for letter in title.lower())
    return SourceDocument(
        source=f"{_SITE}/{name}",
        title=title,
        text=f"# {title}\n\n{text}",
        url=f"{_SITE}/{name}",
        language="en",
        topic="Help > Account",
    )


async def _ingest(app: App, texts: _Texts, status: DocumentStatus) -> None:
    await app.ingester.ingest([_document(title, text) for title, text in texts.items()], status=status)


async def _signals(app: App) -> None:
    signals: list[tuple[str, RotSignal, dict[str, object]]] = []
    titles = [*FLAGGED, HOSTILE]
    for place, title in enumerate(titles):
        other = {"document_id": _id("Roles and permissions"), "title": f"Roles {HOSTILE}", "url": _SITE, "version": 1}
        passage = {
            "before": "A workspace may send 1,000 requests per minute.",
            "after": "A workspace may send 600 requests per minute.",
            "differences": ["1,000 and 600"],
        }
        details: list[tuple[RotSignal, dict[str, object]]] = [
            (RotSignal.CONTRADICTION, {"side": "after", "other": other, "facts": 1, "passages": [passage]}),
            (RotSignal.NEGATIVE_FEEDBACK, {"reason": "outdated", "comment": f"it is 1,000 {HOSTILE}"}),
            (RotSignal.DEAD_SOURCE, {"kind": "gone", "url": f"{_SITE}/old", "status": 404, "since": "2026-03-02"}),
            (RotSignal.STALE, {"unchanged_since": "2024-11-03", "questions": [{"question": "How many requests?"}]}),
        ]
        chosen = details if title == HOSTILE else details[place % 4 :][: 1 + (place == 0) * 2]
        signals += [(title, signal, detail) for signal, detail in chosen]
    async with app.database.transaction() as unit:
        for title, signal, detail in signals:
            await flag_rot(unit, _id(title), signal, actor="checks", detail=detail)


async def _uses(connection: AsyncConnection[Any]) -> None:
    for place, title in enumerate([*FLAGGED, HOSTILE]):
        await connection.execute(
            b"UPDATE documents SET updated_at = now() - make_interval(days => %s) WHERE id = %s",
            [37 * place, _id(title)],
        )
        for number in range(max(0, 24 - 5 * place)):
            await connection.execute(
                b"INSERT INTO searches (id, question, query, filters, status, verdict, ranking, timings_ms, revision)"
                b" VALUES (%s, %s, %s, '{}', 'ok', '{\"band\": \"strong\"}', %s, '{}', 1)",
                [f"use_{place}_{number}", f"{title}?", title.lower(), Jsonb([{"document_id": _id(title)}])],
            )


async def _memories(connection: AsyncConnection[Any]) -> None:
    lessons = [
        (
            "cor_limits",
            "pending",
            "600 requests per minute",
            "1,000 requests per minute",
            "The limit is 1,000 a minute.",
        ),
        ("cor_hostile", "pending", HOSTILE, f"{HOSTILE} & more", f"Never write {HOSTILE}"),
        ("cor_trial", "active", "The trial is 7 days", "The trial is 14 days", "The trial lasts two weeks."),
    ]
    for key, status, wrong, truth, lesson in lessons:
        await connection.execute(
            b"INSERT INTO corrections (id, topic, wrong, truth, lesson, status, author, source_url, status_reason)"
            b" VALUES (%s, %s, %s, %s, %s, %s, 'bob', 'javascript:alert(4)', %s)",
            [key, HOSTILE, wrong, truth, lesson, status, "It waits: only one person sent it."],
        )
    answers = [
        ("ver_sso", "candidate", "Does SSO work on the team plan?", "Yes, with SAML."),
        ("ver_html", "candidate", f"How do I write {HOSTILE}?", f"Write {HOSTILE}, and nothing happens."),
        ("ver_trial", "active", "How long is the trial?", "Two weeks."),
    ]
    sources = [{"title": HOSTILE, "url": "javascript:alert(5)", "document_id": ""}]
    for key, status, question, answer in answers:
        await connection.execute(
            b"INSERT INTO verified_responses (id, question, answer, status, origin, submitted_by, sources)"
            b" VALUES (%s, %s, %s, %s, 'test', 'bob', %s)",
            [key, question, answer, status, Jsonb(sources)],
        )
