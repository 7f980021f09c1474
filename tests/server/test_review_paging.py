"""CUR-12: the queue narrowed by words and signals, and page after page of it until the last."""

from __future__ import annotations

from typing import Any

import pytest

from harry_mcp.app import App
from harry_mcp.settings import Settings
from harry_mcp.stages.curate.flag import RotSignal
from tests.curate.test_review import flag, ingest
from tests.server.test_review_tools import call, client

pytestmark = pytest.mark.promise("CUR-12")


def shown(reply: dict[str, Any]) -> list[str]:
    return [each["title"] for each in reply["documents"]]


async def test_words_and_signals_narrow_the_queue(settings: Settings, app: App) -> None:
    keys, invoices, webhooks = await ingest(app)
    await flag(app, keys)
    await flag(app, keys, RotSignal.STALE)
    await flag(app, invoices, RotSignal.STALE)
    await flag(app, webhooks)
    async with client(settings) as session:
        everything = await call(session, "list_review_queue")
        assert (everything["total"], everything["next_offset"]) == (3, -1)
        stale = await call(session, "list_review_queue", signal="stale")
        assert (shown(stale), stale["total"], stale["flagged"]) == (["Keys", "Invoices"], 2, 3)
        for words in ("INVOI", "/invoices", "test:Inv"):
            assert shown(await call(session, "list_review_queue", words=words)) == ["Invoices"], words
        assert shown(await call(session, "list_review_queue", words="key", signal="stale")) == ["Keys"]
        for literal in ("%", "_", "'; --", "nothing like it"):
            assert (await call(session, "list_review_queue", words=literal))["total"] == 0, literal
        await call(session, "review_documents", action="keep", document_ids=[keys])
        settled = await call(session, "list_review_queue", signal="stale")
        assert shown(settled) == ["Invoices"], "what a curator looked at is no open signal any more"


async def test_pages_follow_one_another_to_the_last(settings: Settings, app: App) -> None:
    for key in await ingest(app):
        await flag(app, key)
    async with client(settings) as session:
        first = await call(session, "list_review_queue", limit=2)
        assert (len(first["documents"]), first["total"], first["next_offset"]) == (2, 3, 2)
        last = await call(session, "list_review_queue", limit=2, offset=first["next_offset"])
        assert (len(last["documents"]), last["next_offset"]) == (1, -1)
        assert (await call(session, "list_review_queue", offset=50))["next_offset"] == -1
        for item in first["documents"]:
            await call(session, "review_documents", action="keep", document_ids=[item["document_id"]])
        recent = await call(session, "list_review_queue", tab="recent", limit=1)
        assert (recent["total"], recent["next_offset"]) == (-1, 1)
        assert (await call(session, "list_review_queue", tab="recent", limit=1, offset=1))["next_offset"] == -1
        trail = await call(session, "audit_trail", limit=1)
        assert trail["next_offset"] == 1
        assert (await call(session, "audit_trail", limit=2))["next_offset"] == -1
