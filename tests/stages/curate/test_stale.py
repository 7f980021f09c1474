"""CUR-1: an old document about what people ask in vain is flagged, and hardly any other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from harry_mcp.domain.documents import DocumentStatus, SourceDocument
from harry_mcp.domain.rot import CheckState, RotSignal
from harry_mcp.domain.search import SearchFilters, gap_id
from harry_mcp.domain.staleness import OldText, overlaps, weights
from harry_mcp.domain.tokens import index_terms, query_terms
from harry_mcp.settings import CurateSection
from harry_mcp.storage.gaps import Miss
from tests.stages.curate.knowledge import START, Knowledge

pytestmark = pytest.mark.promise("CUR-1")
STALE = RotSignal.STALE
PAGES = {
    "Refund policy": "A refund is granted within two weeks. Write to the billing team with the invoice number.",
    "API limits": "The API takes a number of requests each hour. Beyond the limit a request is refused.",
    "Exports": "An export of contacts holds a million rows, and is sent by mail when it is ready.",
    "Webhooks": "A webhook is retried five times. Then it is switched off until somebody looks.",
    "Roles": "Only an owner may delete a workspace, and an owner may name others.",
}


async def fill(knowledge: Knowledge, *, days_old: int = 60) -> None:
    await knowledge.add(
        *(
            SourceDocument(source=f"test:{title}", title=title, text=text, language="en")
            for title, text in PAGES.items()
        )
    )
    await age(knowledge, days_old)


async def age(knowledge: Knowledge, days: int) -> None:
    await knowledge.rows(
        "UPDATE documents SET updated_at = %s::timestamptz - make_interval(days => %s) RETURNING id", [START, days]
    )


async def missed(knowledge: Knowledge, *questions: str, days_ago: int = 1) -> None:
    """Questions that the knowledge base could not answer, as the gap log keeps them."""
    for question in questions:
        async with knowledge.app.database.transaction() as unit:
            await unit.gaps.log_web(Miss(gap_id=gap_id(question), question=question, query=question), {}, minutes=0)
    await knowledge.rows(
        "UPDATE kb_gap_logs SET created_at = %s::timestamptz - make_interval(days => %s) RETURNING id",
        [START, days_ago],
    )


async def test_an_old_page_about_unanswered_questions_is_flagged_with_them(knowledge: Knowledge) -> None:
    await fill(knowledge)
    await missed(knowledge, "How many API requests are the limit?", "How many API requests are the limit?")
    await missed(knowledge, "What is the capital of France?", "Do you sell umbrellas?")
    report = await knowledge.check(STALE)
    assert await knowledge.flagged() == ["API limits"]
    assert (report.state, report.examined, report.flagged) == (CheckState.DONE, 5, 1)
    detail = await knowledge.detail("API limits")
    assert detail["unchanged_since"] == "2026-01-01"
    assert [(each["question"], each["asked"]) for each in detail["questions"]] == [
        ("How many API requests are the limit?", 2)
    ]
    again = await knowledge.check(STALE)
    assert (again.flagged, again.logged, again.known) == (0, 0, 0), "a flagged document is not looked at again"


@pytest.mark.promise("MCP-13")
async def test_answers_say_that_it_is_old(knowledge: Knowledge) -> None:
    await fill(knowledge)
    await missed(knowledge, "How many API requests are the limit?")
    await knowledge.check(STALE)
    result = await knowledge.app.loop.search("What are the API limits?", filters=SearchFilters(), record=False)
    told = {hit.passage.title: hit.caveats for hit in result.hits}
    old = "It has not changed since 2026-01-01, and questions about its subject go unanswered."
    assert told["API limits"][1] == f"{old} Nobody has checked it since."
    assert told.get("Roles", ()) == ()


@pytest.mark.parametrize(
    ("days_old", "days_ago", "question"),
    [
        (29, 1, "How many API requests are the limit?"),
        (60, 31, "How many API requests are the limit?"),
        (60, 1, "How many umbrellas are the limit?"),
        (60, 1, "limits"),
        (60, 1, "Where can I see the limit of the electricity bill in Norway?"),
    ],
)
async def test_fresh_pages_old_questions_and_other_subjects_flag_nothing(
    knowledge: Knowledge, days_old: int, days_ago: int, question: str
) -> None:
    await fill(knowledge, days_old=days_old)
    await missed(knowledge, question, days_ago=days_ago)
    await knowledge.check(STALE)
    assert await knowledge.flagged() == []


async def test_a_page_that_a_curator_looked_at_is_not_old(knowledge: Knowledge) -> None:
    await fill(knowledge)
    await missed(knowledge, "How many API requests are the limit?")
    await knowledge.check(STALE)
    (found,) = await knowledge.rows("SELECT id FROM documents WHERE status = 'flagged'")
    async with knowledge.app.database.transaction() as unit:
        await unit.documents.set_status(str(found[0]), DocumentStatus.LIVE)
        await unit.curation.add(str(found[0]), "approve", actor="cli:curator", before="flagged", after="live")
    await knowledge.rows("UPDATE kb_curation_log SET created_at = %s RETURNING id", [START])
    await missed(knowledge, "Which API requests does the limit refuse?")
    assert (await knowledge.check(STALE)).flagged == 0
    knowledge.later(days=31)
    await missed(knowledge, "Which API requests does the limit refuse each hour?")
    knowledge.set(query_days=60)
    report = await knowledge.check(STALE)
    assert report.flagged == 1, "another question, and nobody looked for a month"


async def test_a_weak_search_is_enough(knowledge: Knowledge) -> None:
    """The whole way: a question that is searched for in vain opens the gap that flags."""
    await fill(knowledge)
    result = await knowledge.app.loop.search("do penguins sing a webhook opera that is retried in norway at midnight")
    await knowledge.app.loop.settled()
    assert result.gap_id
    knowledge.now = (await knowledge.rows("SELECT now()"))[0][0]
    await knowledge.rows("UPDATE documents SET updated_at = now() - interval '90 days' RETURNING id")
    knowledge.set(stale_overlap=0.1, stale_words=1)
    await knowledge.check(STALE)
    assert await knowledge.flagged() == ["Webhooks"]


def measured(folder: Path, settings: CurateSection) -> tuple[float, float, float]:
    """Of real questions as gaps over real pages, all of them old: how many of the flagged pages answer the question,
    how many answerable questions flag a page that does, and how many unanswerable ones flag any."""
    rows = [json.loads(line) for line in (folder / "corpus.jsonl").read_text("utf-8").splitlines()]
    asked = [json.loads(line) for line in (folder / "queries.jsonl").read_text("utf-8").splitlines()]
    texts, found_in = _old_texts(rows)
    right = flagged = hit = answerable = vain = unanswerable = 0
    for row in asked:
        weighed = weights(query_terms(str(row["text"]).split("\n")[0]), found_in, len(rows))
        found = overlaps(
            weighed,
            texts,
            least=settings.stale_overlap,
            words=settings.stale_words,
            most=settings.stale_documents,
        )
        relevant = set(row["relevant_ids"]) if row.get("answerable", True) else set[str]()
        if row.get("answerable", True):
            answerable += 1
            flagged += len(found)
            right += sum(each.document_id in relevant for each in found)
            hit += any(each.document_id in relevant for each in found)
        else:
            unanswerable += 1
            vain += bool(found)
    return right / flagged, hit / answerable, vain / max(1, unanswerable)


def _old_texts(rows: Sequence[dict[str, str]]) -> tuple[list[OldText], dict[str, int]]:
    texts: list[OldText] = []
    found_in: dict[str, int] = {}
    for row in rows:
        times: dict[str, int] = {}
        for term in index_terms(row["text"]):
            times[term] = times.get(term, 0) + 1
        texts.append(OldText(row["id"], frozenset(index_terms(row["title"])), times))
        for term in times:
            found_in[term] = found_in.get(term, 0) + 1
    return texts, found_in


def test_real_questions_flag_the_pages_that_they_are_about(shared_data: Path) -> None:
    precision, recall, vain = measured(shared_data / "techqa", CurateSection())
    assert precision >= 0.8
    assert recall >= 0.4
    assert vain <= 0.2
