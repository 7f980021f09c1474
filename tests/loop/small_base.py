"""A small knowledge base, the people who use it, and looks into its tables."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from psycopg import AsyncConnection

from harry_mcp.app import App
from harry_mcp.domain.documents import SourceDocument
from harry_mcp.domain.feedback import FeedbackOutcome, Opinion, Rating
from harry_mcp.domain.people import Principal, Role
from harry_mcp.domain.search import SearchResult
from harry_mcp.domain.verified import VerifiedAction, VerifiedResponse, VerifiedSource

QUESTION = "How do I rotate an API key?"
IN_OTHER_WORDS = "How can I rotate the API key?"
ANSWER = "Open Settings, choose API keys and press Rotate. The old key works for one hour."
KEYS = SourceDocument(
    source="test:keys",
    title="API keys",
    url="https://docs.example.com/keys",
    language="en",
    text="# API keys\n\n## Rotate an API key\n\nOpen Settings, choose API keys, and press Rotate to rotate it. "
    "The old key works for one hour.\n\n## Delete an API key\n\nPress Delete; it stops at once.",
)
OTHERS = [
    ("Invoices", "Invoices are sent on the first day of the month to the billing address."),
    ("Single sign-on", "Connect your identity provider with SAML and map the groups to roles."),
    ("Exports", "Export all contacts as CSV from the data menu; large exports arrive by mail."),
    ("Webhooks", "A webhook is called within a minute of the event and retried for a day."),
    ("Rate limits", "The API allows 600 requests a minute; above that it answers with code 429."),
]


def person(name: str, *, via: str = "stdio", role: Role = Role.ADMIN, trusted: bool = True) -> Principal:
    return Principal(subject=name, via=via, role=role, trusted=trusted)


ANN = person("ann")
BOB = person("bob")
CURATOR = person("cleo", role=Role.CURATOR)
STRANGER = person("stranger", via="http", role=Role.CONTRIBUTOR, trusted=False)


def page(title: str, text: str) -> SourceDocument:
    slug = title.lower().replace(" ", "-")
    return SourceDocument(
        source=f"test:{slug}",
        title=title,
        url=f"https://docs.example.com/{slug}",
        language="en",
        text=f"# {title}\n\n{text}",
    )


async def filled(app: App, *documents: SourceDocument) -> None:
    await app.ingester.ingest([KEYS, *(page(title, text) for title, text in OTHERS), *documents])


async def official(
    app: App, question: str = QUESTION, answer: str = ANSWER, *, documents: Sequence[SourceDocument] = (KEYS,)
) -> VerifiedResponse:
    """An approved answer that rests on documents."""
    sources = [VerifiedSource(title=each.title, url=each.url, document_id=each.id) for each in documents]
    entry = await app.loop.verified.add(question, answer, sources, origin="test", by=ANN)
    return await app.loop.verified.review(entry.id, VerifiedAction.APPROVE, CURATOR)


async def entry_of(app: App, key: str) -> VerifiedResponse:
    async with app.database.reading() as unit:
        entry = await unit.verified.get(key)
    assert entry is not None
    return entry


async def down(
    app: App, result: SearchResult | str, by: Principal = ANN, *, reason: str = "wrong", **more: Any
) -> FeedbackOutcome:
    return await _said(app, result, by, Rating.DOWN, reason=reason, **more)


async def up(app: App, result: SearchResult | str, by: Principal = ANN, **more: Any) -> FeedbackOutcome:
    return await _said(app, result, by, Rating.UP, **more)


async def _said(app: App, result: SearchResult | str, by: Principal, rating: Rating, **more: Any) -> FeedbackOutcome:
    result_id = result if isinstance(result, str) else result.verified.lookup_id or result.search_id
    return await app.loop.submit_feedback(Opinion(result_id=result_id, rating=rating, **more), by)


async def scalar(connection: AsyncConnection[Any], statement: str, *parameters: object) -> Any:
    row = await (await connection.execute(statement.encode(), parameters)).fetchone()
    assert row is not None
    return row[0]


async def backfilled() -> None:
    """Wait until the apps that were opened have embedded what lacked a vector."""
    await asyncio.gather(*(task for task in asyncio.all_tasks() if task.get_name() == "harry-backfill"))
