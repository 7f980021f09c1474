"""CUR-4: who says that a page is wrong flags the document behind it, however the address is spelled."""

from __future__ import annotations

import pytest

from harry_mcp.domain.corrections import CorrectionAction, Lesson
from harry_mcp.domain.documents import SourceDocument
from harry_mcp.domain.feedback import Opinion, Rating
from harry_mcp.domain.people import Principal, Role
from harry_mcp.domain.rot import RotSignal
from harry_mcp.domain.search import SearchFilters
from tests.stages.curate.knowledge import Knowledge

pytestmark = pytest.mark.promise("CUR-4")
FEEDBACK = RotSignal.NEGATIVE_FEEDBACK
KEYS = SourceDocument(
    source="https://docs.example.com/keys",
    title="API keys",
    url="https://docs.example.com/keys",
    text="Rotate an API key under Settings; the old key works for an hour.",
    language="en",
)
STORED = SourceDocument(
    source="file:///manual/export.md",
    title="Exports",
    url="https://Docs.Example.com/Export/?utm_source=manual&page=2#rows",
    text="An export of contacts holds at most a million rows.",
    language="en",
)
OWNER = Principal(subject="owner", via="cli", role=Role.ADMIN, trusted=True)
STRANGER = Principal(subject="stranger", via="http", role=Role.CONTRIBUTOR, trusted=False)


def lesson(source_url: str, number: int = 1) -> Lesson:
    return Lesson(
        wrong=f"The old key works for {number} hours.",
        truth=f"The old key works for {number} minutes.",
        line=f"An old API key works for {number} minutes, not {number} hours.",
        source_url=source_url,
    )


@pytest.mark.parametrize(
    "address",
    [
        "https://docs.example.com/keys",
        "https://docs.example.com/keys/",
        "http://www.docs.example.com/keys#rotate",
        "https://DOCS.example.com/keys?utm_campaign=x&gclid=1",
        "https://docs.example.com:443/keys",
        "https://docs.example.com/%6Beys",
    ],
)
async def test_a_correction_flags_the_document_that_it_names(knowledge: Knowledge, address: str) -> None:
    await knowledge.add(KEYS, STORED)
    (made,) = await knowledge.app.loop.submit_correction(lesson(address), OWNER)
    assert await knowledge.flagged() == ["API keys"]
    detail = await knowledge.detail("API keys")
    assert detail["correction_id"] == made.correction.id
    result = await knowledge.app.loop.search("How do I rotate an API key?", filters=SearchFilters(), record=False)
    assert made.correction.id in result.hits[0].caveats[1]
    assert "Nobody has checked it since." in result.hits[0].caveats[1]


async def test_however_the_address_is_stored(knowledge: Knowledge) -> None:
    await knowledge.add(KEYS, STORED)
    await knowledge.app.loop.submit_correction(lesson("http://docs.example.com/Export?page=2"), OWNER)
    assert await knowledge.flagged() == ["Exports"]


@pytest.mark.parametrize(
    "address",
    [
        "https://docs.example.com/keys/more",
        "https://docs.example.com/KEYS",
        "https://example.com/keys",
        "no address",
        "",
    ],
)
async def test_other_addresses_flag_nothing(knowledge: Knowledge, address: str) -> None:
    await knowledge.add(KEYS, STORED)
    await knowledge.app.loop.submit_correction(lesson(address), OWNER)
    assert await knowledge.flagged() == []


@pytest.mark.promise("CUR-5")
async def test_each_author_counts_once_and_three_are_three(knowledge: Knowledge) -> None:
    await knowledge.add(KEYS)
    for name in ("a", "b", "a", "c"):
        author = Principal(subject=name, via="cli", role=Role.ADMIN, trusted=True)
        await knowledge.app.loop.submit_correction(lesson(KEYS.url), author)
    assert await knowledge.signals() == [("API keys", "negative_feedback")] * 3


async def test_a_correction_that_waits_flags_when_it_is_approved(knowledge: Knowledge) -> None:
    await knowledge.add(KEYS)
    (made,) = await knowledge.app.loop.submit_correction(lesson(KEYS.url), STRANGER)
    assert await knowledge.flagged() == []
    assert (await knowledge.check(FEEDBACK)).flagged == 0
    await knowledge.app.loop.corrections.review(made.correction.id, CorrectionAction.APPROVE, OWNER)
    assert await knowledge.flagged() == ["API keys"]


async def test_the_job_finds_what_nobody_matched_and_nothing_twice(knowledge: Knowledge) -> None:
    await knowledge.add(KEYS, STORED)
    result = await knowledge.app.loop.search("How do I export contacts?")
    down = Opinion(
        result_id=result.search_id,
        rating=Rating.DOWN,
        reason="outdated",
        source_urls=(KEYS.url,),
    )
    await knowledge.app.loop.submit_feedback(down, OWNER)
    assert await knowledge.flagged() == ["API keys"]
    # As a version of harry left it that matched fewer spellings of an address.
    both = [KEYS.url, "http://www.docs.example.com/Export/?page=2&utm_medium=mail"]
    await knowledge.rows("UPDATE feedback SET source_urls = %s RETURNING id", [both])
    knowledge.now = (await knowledge.rows("SELECT now() + interval '1 minute'"))[0][0]
    first, again = await knowledge.check(FEEDBACK), await knowledge.check(FEEDBACK)
    assert await knowledge.flagged() == ["API keys", "Exports"]
    assert await knowledge.signals() == [("API keys", "negative_feedback"), ("Exports", "negative_feedback")]
    assert (first.examined, again.examined, again.flagged, again.logged) == (1, 1, 0, 0)
    assert (await knowledge.detail("Exports"))["reason"] == "outdated"


async def test_a_page_that_changed_since_is_not_blamed(knowledge: Knowledge) -> None:
    await knowledge.add(KEYS)
    result = await knowledge.app.loop.search("How do I rotate an API key?")
    down = Opinion(
        result_id=result.search_id, rating=Rating.DOWN, reason="outdated", source_urls=("https://else.org/",)
    )
    await knowledge.app.loop.submit_feedback(down, OWNER)
    await knowledge.rows("UPDATE feedback SET source_urls = ARRAY[%s] RETURNING id", [KEYS.url])
    await knowledge.rows("UPDATE documents SET updated_at = now() RETURNING id")
    knowledge.now = (await knowledge.rows("SELECT now() + interval '1 minute'"))[0][0]
    report = await knowledge.check(FEEDBACK)
    assert report.counts == {"changed_since": 1}
    assert await knowledge.flagged() == []
