"""CUR-6, CUR-8: of two rewrites made from one version the second is refused, and says who was first."""

from __future__ import annotations

import re

import pytest

from harry_mcp.app import App
from harry_mcp.domain.curation import ReviewAction
from harry_mcp.errors import InputError
from harry_mcp.settings import Settings
from tests.curate.test_at_once import BOB
from tests.curate.test_review import CURATOR, act, document, ingest
from tests.server.test_review_tools import Person, call, client

pytestmark = [pytest.mark.promise("CUR-6"), pytest.mark.promise("CUR-8")]
REWRITE = ReviewAction.REWRITE
WHEN = r"on \d{4}-\d\d-\d\d at \d\d:\d\d:\d\d UTC"


async def refused(app: App, key: str, base: int, **told: str) -> str:
    """Why a rewrite from a version is refused, with nothing changed; empty when it is done."""
    before = await app.loop.review.document(key)
    seen = await app.loop.review.preview(
        REWRITE, [key], base_version=base, text=told.get("text", ""), title=told.get("title", "")
    )
    outcome = await app.loop.review.act(REWRITE, [key], BOB, base_version=base, **told)
    assert [each.reason for each in seen.refused] == [each.reason for each in outcome.refused]
    if not outcome.refused:
        return ""
    assert (outcome.done, outcome.action_id) == ((), "")
    after = await app.loop.review.document(key)
    assert (after.text, after.document, after.actions) == (before.text, before.document, before.actions)
    return outcome.refused[0].reason


async def test_the_second_of_two_rewrites_of_one_version_is_refused_and_told_who_was_first(app: App) -> None:
    key, *_ = await ingest(app)
    first = await app.loop.review.act(REWRITE, [key], CURATOR, text="Ann was here first.", base_version=1)
    assert [change.version for change in first.done] == [1]
    for told in ({"text": "Bob wrote from the old text."}, {"title": "Keys and tokens"}):
        why = await refused(app, key, 1, **told)
        assert re.fullmatch(
            rf"{CURATOR.name} changed it {WHEN}: it is at version 2 now, and this was made from version 1; look at it "
            r"again\.",
            why,
        )
    await app.loop.review.rollback(first.action_id, CURATOR)
    assert (await refused(app, key, 2, text="Bob wrote from Ann's text.")).startswith(f"{CURATOR.name} changed it on")
    await app.ingester.ingest([document("Keys", "The source says something else.")])
    assert (await refused(app, key, 1, text="Bob wrote.")).startswith("It was read anew from its source on")
    assert await refused(app, key, 3, text="Bob looked again.") == ""
    assert await refused(app, key, 0, text="And does not say what at.") == "", "0 is not checked"


async def test_a_number_that_an_undone_rewrite_had_is_not_given_to_another_text(app: App) -> None:
    key, *_ = await ingest(app)
    first = await act(app, REWRITE, key, text="Ann was here first.")
    await app.loop.review.rollback(first.action_id, CURATOR)
    second = await act(app, REWRITE, key, text="Ann came again.")
    assert (await app.loop.review.document(key)).document.version == 3
    # Bob read the text that was undone; and whoever wrote from the one that came back is not held up by the number.
    assert "it is at version 3 now" in await refused(app, key, 2, text="Bob wrote from the undone text.")
    await app.loop.review.rollback(second.action_id, CURATOR)
    await app.ingester.ingest([document("Keys", "The source says something else.")])
    assert (await app.loop.review.document(key)).document.version == 4
    for stale in (1, 2, 3):
        assert await refused(app, key, stale, text="Bob wrote.")
    assert await refused(app, key, 4, text="Bob looked again.") == ""


async def test_a_version_is_for_a_rewrite(app: App) -> None:
    key, *_ = await ingest(app)
    with pytest.raises(InputError, match="base_version; they are for rewrite"):
        await app.loop.review.act(ReviewAction.ARCHIVE, [key], CURATOR, base_version=1)


@pytest.mark.promise("MCP-1")
async def test_the_preview_tells_the_version_to_pass_on(settings: Settings, app: App) -> None:
    key, *_ = await ingest(app)
    wish = {"action": "rewrite", "document_ids": [key], "text": "Rotate a key on the keys page."}
    person = Person("accept")
    few = settings.model_copy(update={"review": settings.review.model_copy(update={"heavy_use": 0})})
    async with client(few, person) as session:
        read = await call(session, "read_document", document_id=key)
        preview = await call(session, "review_documents", **wish, base_version=read["version"], preview=True)
        version = preview["changes"][0]["version"]
        assert version == read["version"]
        assert f"base_version {version}" in preview["next_step"]
        await act(app, REWRITE, key, text="Ann was faster.")
        late = await call(session, "review_documents", **wish, base_version=version)
        assert (late["outcome"], late["changes"]) == ("nothing", [])
        assert "changed it on" in late["refused"][0]["reason"]
        assert person.asked == [], "nobody is asked about what is refused"
        done = await call(session, "review_documents", **wish, base_version=version + 1)
        assert (done["outcome"], done["consent"], len(person.asked)) == ("done", "given", 1)
