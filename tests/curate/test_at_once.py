"""CUR-6, CUR-7: curators, crawls and signals at the same time; and what others did to a document in between."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from psycopg import AsyncConnection

from harry_mcp.app import App
from harry_mcp.domain.curation import ReviewAction, ReviewOutcome
from harry_mcp.domain.documents import DocumentStatus
from harry_mcp.domain.people import Principal, Role
from harry_mcp.errors import InputError
from harry_mcp.ports import Vectors
from harry_mcp.profile import DomainProfile
from harry_mcp.providers.local.embedder import SPACE, LocalEmbedder
from harry_mcp.settings import Settings
from harry_mcp.stages.curate.flag import RotSignal, flag_rot
from harry_mcp.stages.curate.removal import remove
from harry_mcp.storage.database import Database
from tests.curate.test_review import CURATOR, TEXTS, act, document, ingest, status
from tests.ingest.second_model import SecondModel
from tests.storage.recount import assert_index_is_exact, rows

A, S = ReviewAction, DocumentStatus
BOB = Principal(subject="bob", via="test", role=Role.CURATOR, trusted=True)
CHAIN = """
SELECT l.before, l.after FROM kb_curation_log l WHERE l.document_id = %s ORDER BY l.id
"""


class Watched(SecondModel):
    """The local model, with something that happens while it embeds."""

    space = SPACE

    def __init__(self, inner: LocalEmbedder, happening: Callable[[], Awaitable[None]]) -> None:
        super().__init__(inner)
        self._happening = happening

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        await self._happening()
        return await self._inner.embed_documents(texts)


async def gone(app: App, document_id: str) -> None:
    async with app.database.transaction() as unit:
        assert await remove(unit, document_id, BOB)


@pytest.mark.promise("CUR-6")
async def test_of_two_curators_who_decide_otherwise_the_second_meets_what_the_first_made(
    app: App, connection: AsyncConnection[Any]
) -> None:
    ids = await ingest(app)
    review = app.loop.review
    for one, other in itertools.product([A.ARCHIVE, A.REWRITE, A.REJECT, A.APPROVE], repeat=2):
        for key in ids:
            async with app.database.transaction() as unit:
                await unit.documents.set_status(key, S.PENDING)
        text = f"{one.value} and {other.value} of a key."
        ended = await asyncio.gather(
            *(
                review.act(action, [ids[0]], who, text=text if action is A.REWRITE else "")
                for action, who in ((one, CURATOR), (other, BOB))
            )
        )
        done = [outcome for outcome in ended if outcome.done]
        assert done, "one of them was first"
        changes = [change for outcome in done for change in outcome.done]
        # In one order or the other, each began where the one before it ended.
        assert any(
            order[0].before is S.PENDING and all(a.after is b.before for a, b in itertools.pairwise(order))
            for order in itertools.permutations(changes)
        )
        assert await status(app, ids[0]) in {change.after for change in changes}
    await assert_index_is_exact(connection)


@pytest.mark.promise("CUR-6")
@pytest.mark.promise("CUR-7")
async def test_acts_undos_crawls_and_signals_at_once_leave_everything_whole(
    app: App, connection: AsyncConnection[Any]
) -> None:
    ids = await ingest(app)

    async def curate(who: Principal, key: str) -> None:
        for action, text in ((A.ARCHIVE, ""), (A.RESTORE, ""), (A.REWRITE, f"A key of {who.subject}."), (A.KEEP, "")):
            outcome = await app.loop.review.act(action, [key, *ids[1:]] if not text else [key], who, text=text)
            await undo(outcome, who)

    async def undo(outcome: ReviewOutcome, who: Principal) -> None:
        try:
            if outcome.action_id:
                await app.loop.review.rollback(outcome.action_id, who)
        except InputError:  # something stands on top of it, or its source says something else by now
            pass

    async def crawl() -> None:
        for number in range(6):
            await app.ingester.ingest([document("Keys", f"Rotate an API key {number} times under Settings.")])

    async def complain() -> None:
        for number in range(6):
            async with app.database.transaction() as unit:
                await flag_rot(
                    unit, ids[0], RotSignal.STALE, actor="test", detail={"reason": "old"}, evidence=str(number)
                )

    await asyncio.gather(curate(CURATOR, ids[0]), curate(BOB, ids[0]), crawl(), complain())
    await assert_index_is_exact(connection)
    for key in ids:
        log = [row for row in await rows(connection, CHAIN.replace("%s", f"'{key}'")) if row[0]]
        assert all(a[1] == b[0] for a, b in itertools.pairwise(log)), "the log is a chain of what happened"
        assert not log or log[-1][1] == await status(app, key)


@pytest.mark.promise("CUR-7")
async def test_a_rewrite_made_ready_before_a_crawl_does_not_go_over_it(
    settings: Settings, app: App, database: Database, embedder: LocalEmbedder
) -> None:
    (key, *_) = await ingest(app)

    async def meanwhile() -> None:
        await app.ingester.ingest([document("Keys", "The crawl was here first.")])

    slow = App(settings, DomainProfile(), database, Watched(embedder, meanwhile))
    outcome = await act(slow, A.REWRITE, key, text="What the curator wrote from the old text.")
    assert [each.reason for each in outcome.refused] == [
        "It changed while the new text was made ready; look at it again."
    ]
    assert (await app.loop.review.document(key)).text == "The crawl was here first."


@pytest.mark.promise("CUR-7")
async def test_a_newer_text_of_the_source_stays_when_a_decision_is_taken_back(
    app: App, connection: AsyncConnection[Any]
) -> None:
    (draft,) = await ingest(app, "Keys", status=S.PENDING)
    approved = await act(app, A.APPROVE, draft)
    newer = "Rotate an API key on the keys page; the old key works for two hours."
    await app.ingester.ingest([document("Keys", newer)])
    await app.loop.review.rollback(approved.action_id, CURATOR)
    assert (await status(app, draft), (await app.loop.review.document(draft)).text) == (S.PENDING, newer)
    assert (await app.loop.search("How do I rotate an API key?", record=False)).hits == ()
    (live,) = await ingest(app, "Invoices")
    archived = await act(app, A.ARCHIVE, live)
    changed = TEXTS["Invoices"].replace("first", "second")
    await app.ingester.ingest([document("Invoices", changed)])
    assert await status(app, live) is S.ARCHIVED, "it does not come back by being read again"
    await app.loop.review.rollback(archived.action_id, CURATOR)
    seen = await app.loop.review.document(live)
    assert (seen.document.status, seen.text) == (S.FLAGGED, changed), "the facts changed while nobody saw it"
    assert [each.signal for each in seen.signals] == ["contradiction"]
    await assert_index_is_exact(connection)


@pytest.mark.promise("CUR-7")
async def test_a_rewrite_that_its_source_overtook_holds_up_nothing_below_it(app: App) -> None:
    (key,) = await ingest(app, "Keys", status=S.PENDING)
    approved = await act(app, A.APPROVE, key)
    text = "Rotate an API key where the curator says."
    rewritten = await act(app, A.REWRITE, key, text=text)
    with pytest.raises(InputError, match=f"undo {rewritten.action_id} first"):
        await app.loop.review.rollback(approved.action_id, CURATOR)
    await app.ingester.ingest([document("Keys", text)])
    with pytest.raises(InputError, match=r"The source of “Keys” \(doc_.* says the same since"):
        await app.loop.review.rollback(rewritten.action_id, CURATOR)
    await app.ingester.ingest([document("Keys", "Rotate an API key where the source says.")])
    with pytest.raises(InputError, match="ingested anew since and has another text"):
        await app.loop.review.rollback(rewritten.action_id, CURATOR)
    await app.loop.review.rollback(approved.action_id, CURATOR)
    assert await status(app, key) is S.PENDING


@pytest.mark.promise("CUR-7")
async def test_what_was_removed_for_good_holds_up_no_undo_of_the_others(
    app: App, connection: AsyncConnection[Any]
) -> None:
    keys, invoices, webhooks = await ingest(app)
    archived = await act(app, A.ARCHIVE, keys, invoices, webhooks)
    await gone(app, invoices)
    await gone(app, webhooks)
    await ingest(app, "Webhooks")  # its source brought it back
    await act(app, A.ARCHIVE, webhooks)
    undone = await app.loop.review.rollback(archived.action_id, CURATOR)
    assert [change.document_id for change in undone.done] == [keys]
    assert {each.document_id: each.reason for each in undone.refused} == dict.fromkeys(
        [invoices, webhooks], "It was removed for good since."
    )
    assert [await status(app, key) for key in (keys, webhooks)] == [S.LIVE, S.ARCHIVED]
    with pytest.raises(InputError, match="undone already"):
        await app.loop.review.rollback(archived.action_id, CURATOR)
    last = await act(app, A.ARCHIVE, keys)
    await gone(app, keys)
    with pytest.raises(InputError, match="removed for good"):
        await app.loop.review.rollback(last.action_id, CURATOR)
    await assert_index_is_exact(connection)
