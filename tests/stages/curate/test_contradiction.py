"""CUR-2, CUR-11: versions of a page, documents of one address, and documents that deny each other."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harry_mcp.domain.curation import ReviewAction
from harry_mcp.domain.documents import DocumentStatus, SourceDocument
from harry_mcp.domain.people import Principal, Role
from harry_mcp.domain.rot import CheckReport, CheckState, RotSignal
from harry_mcp.settings import CurateSection
from harry_mcp.stages.curate.checking import CheckRun
from harry_mcp.stages.curate.comparing import Contradiction, compare
from harry_mcp.stages.curate.judging import FactJudge
from tests.loop.with_models import with_models
from tests.providers.scripted import ScriptedAnthropic, question_of, shaped
from tests.providers.vendor import Answer, Asked
from tests.stages.curate.knowledge import Knowledge

pytestmark = pytest.mark.promise("CUR-2")
CHECK = RotSignal.CONTRADICTION
LIMITS = (
    "# Limits\n\nThe API takes {limit} requests an hour for each key. {more}\n\nAsk the support for a higher limit."
)
MORE = "Beyond it every request is answered with status 429, and a header says when to try again."


def document(
    text: str, *, title: str = "Limits", source: str = "https://docs.example.com/limits", url: str = ""
) -> SourceDocument:
    return SourceDocument(source=source, title=title, text=text, url=url or source, language="en")


async def test_a_version_that_changes_a_fact_flags_with_both_sides(knowledge: Knowledge) -> None:
    await knowledge.add(document(LIMITS.format(limit="1,000", more=MORE)))
    await knowledge.add(document(LIMITS.format(limit="600", more=MORE)))
    assert await knowledge.flagged() == ["Limits"]
    detail = await knowledge.detail("Limits")
    assert (detail["kind"], detail["before_version"], detail["after_version"]) == ("version", 1, 2)
    assert (detail["facts"], detail["judged_by"]) == (1, "rules")
    assert detail["distance"] < 0.3
    (passage,) = detail["passages"]
    assert passage["before"] == "The API takes 1,000 requests an hour for each key."
    assert passage["after"] == "The API takes 600 requests an hour for each key."
    assert passage["differences"] == ["another number: “1,000” and “600”"] or "1000" in passage["differences"][0]
    assert await knowledge.rows("SELECT content LIKE '%%600%%', version FROM documents") == [(True, 2)]


async def test_a_version_in_other_words_flags_nothing(knowledge: Knowledge) -> None:
    await knowledge.add(document(LIMITS.format(limit="1,000", more=MORE)))
    reworded = "Every request beyond it is answered with status 429, and a header says when you may try again."
    await knowledge.add(document(LIMITS.format(limit="1000", more=reworded)))
    await knowledge.add(document("<div>\n\n" + LIMITS.format(limit="1000", more=reworded) + "\n\n</div>"))
    assert await knowledge.flagged() == []
    assert await knowledge.signals() == []


async def test_a_version_with_other_words_altogether_flags(knowledge: Knowledge) -> None:
    await knowledge.add(document("# Pricing\n\nEvery plan is billed by month and may be cancelled at any time."))
    await knowledge.add(
        document("# Pricing\n\nInvoices come yearly. Refunds are granted within two weeks after purchase.")
    )
    detail = await knowledge.detail("Limits")
    assert detail["distance"] > 0.3
    sides = [(bool(each["before"]), bool(each["after"])) for each in detail["passages"]]
    assert (True, False) in sides
    assert (False, True) in sides


@pytest.mark.promise("CUR-5")
async def test_each_version_counts_once_and_three_are_three(knowledge: Knowledge) -> None:
    for limit in (100, 200, 300, 400, 400):
        await knowledge.add(document(LIMITS.format(limit=limit, more=MORE)))
    assert await knowledge.signals() == [("Limits", "contradiction")] * 3
    assert await knowledge.rows("SELECT before, after FROM kb_curation_log ORDER BY id") == [
        ("live", "flagged"),
        ("flagged", "flagged"),
        ("flagged", "flagged"),
    ]


@pytest.mark.parametrize(
    "other",
    [
        "https://docs.example.com/limits/",
        "http://www.docs.example.com/limits",
        "https://DOCS.example.com/limits?utm_source=mail#top",
        "https://docs.example.com:443/limits",
    ],
)
async def test_two_documents_of_one_address_that_differ_are_both_flagged(knowledge: Knowledge, other: str) -> None:
    first = document(LIMITS.format(limit="1,000", more=MORE), title="first", source="file:///a.md", url=other)
    second = document(LIMITS.format(limit="600", more=MORE), title="second")
    await knowledge.add(first)
    await knowledge.add(second)
    assert await knowledge.flagged() == ["first", "second"]
    mine, theirs = await knowledge.detail("first"), await knowledge.detail("second")
    assert (mine["kind"], mine["side"], mine["other"]["document_id"]) == ("address", "before", second.id)
    assert (theirs["side"], theirs["other"]["title"]) == ("after", "first")
    assert "1,000" in mine["passages"][0]["before"]
    assert "600" in mine["passages"][0]["after"]
    report = await knowledge.check(CHECK)
    assert (report.flagged, report.logged, report.known) == (0, 0, 4), "the job finds what ingestion found"


async def test_documents_of_one_address_that_agree_are_left(knowledge: Knowledge) -> None:
    text = LIMITS.format(limit="1,000", more=MORE)
    await knowledge.add(document(text, source="file:///a.md", url="https://docs.example.com/limits/"))
    await knowledge.add(document(text))
    await knowledge.check(CHECK)
    assert await knowledge.flagged() == []


async def test_a_document_that_waits_for_review_flags_no_live_one(knowledge: Knowledge) -> None:
    await knowledge.add(document(LIMITS.format(limit="1,000", more=MORE)))
    draft = document(LIMITS.format(limit="600", more=MORE), source="web:draft", url="https://docs.example.com/limits")
    await knowledge.app.ingester.ingest([draft], status=DocumentStatus.PENDING)
    await knowledge.check(CHECK)
    assert await knowledge.signals() == []


@pytest.mark.promise("CUR-11")
async def test_neighbours_that_deny_each_other_are_both_flagged(knowledge: Knowledge) -> None:
    await knowledge.add(
        document(LIMITS.format(limit="1,000", more=MORE), title="API limits", source="https://a.example/limits"),
        document(LIMITS.format(limit="600", more=MORE), title="Limits of the API", source="https://b.example/faq"),
        document("# Exports\n\nAn export holds at most 600 rows.", title="Exports", source="https://a.example/exports"),
    )
    assert await knowledge.flagged() == [], "ingestion compares one address only"
    report = await knowledge.check(CHECK)
    assert await knowledge.flagged() == ["API limits", "Limits of the API"]
    assert (report.state, report.examined, report.flagged, report.left) == (CheckState.DONE, 3, 2, 0)
    detail = await knowledge.detail("API limits")
    assert detail["kind"] == "statements"
    assert detail["passages"][0]["differences"]
    again = await knowledge.check(CHECK)
    assert (again.examined, again.flagged, again.known) == (0, 0, 0)


SIBLINGS = [
    ("The export holds at most {} rows for each file.", "Limits in v1", "Limits in v2", "500", "900"),
    ("Run step {} of the setup before you go on with the others.", "Setup on Linux", "Setup on Windows", "2", "3"),
    ("Copyright {} by the Example Corporation, all rights reserved there.", "Notes A", "Notes B", "2015", "2018"),
    ("{} sends the events of your shop to the dashboard within a minute.", "Shopify", "Magento", "Shopify", "Magento"),
    ("You need version {} or later of the agent for this to work.", "Agent A", "Agent B", "6.3.1", "6.3.8"),
]


@pytest.mark.promise("CUR-11")
@pytest.mark.parametrize(("sentence", "one", "two", "here", "there"), SIBLINGS)
async def test_pages_that_only_are_alike_are_not_flagged(
    knowledge: Knowledge, sentence: str, one: str, two: str, here: str, there: str
) -> None:
    await knowledge.add(
        document(f"# {one}\n\n{sentence.format(here)}", title=one, source="test:one"),
        document(f"# {two}\n\n{sentence.format(there)}", title=two, source="test:two"),
    )
    knowledge.set(near=0.0)
    await knowledge.check(CHECK)
    assert await knowledge.flagged() == []


async def test_a_run_that_is_cut_short_goes_on(knowledge: Knowledge) -> None:
    await knowledge.add(*(document(f"# {n}\n\nPage number {n}.", title=str(n), source=f"test:{n}") for n in range(5)))
    cut = await knowledge.check(CHECK, seconds=1e-9)
    assert (cut.state, cut.examined, cut.left) == (CheckState.PARTIAL, 0, 5)
    rest = await knowledge.check(CHECK)
    assert (rest.state, rest.examined, rest.left) == (CheckState.DONE, 5, 0)


@pytest.fixture(scope="module")
def pairs(shared_data: Path) -> list[dict[str, Any]]:
    with gzip.open(shared_data / "plausible" / "page_pairs.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


async def found_in(old: str, new: str) -> Contradiction | None:
    settings = CurateSection()
    return await compare(old, new, FactJudge(None, settings), settings)


@pytest.mark.promise("CUR-11")
async def test_real_versions_of_pages(pairs: list[dict[str, Any]]) -> None:
    """Every one over 0.30 is found. Of those with hardly a word changed, which were read one by one, those are found in
    which a fact did change, but for one (a report that a tab was part of is gone), and one other."""
    versions = [pair for pair in pairs if pair["relation"] == "same_page_older"]
    found = {pair["id"]: await found_in(pair["old"], pair["new"]) for pair in versions}
    for pair in versions:
        # A page at the very edge may fall on either side: the distance that was stored was cut another way.
        if abs(pair["jd_words"] - 0.3) > 0.02:
            apart = found[pair["id"]]
            assert (apart is not None and apart.distance > 0.3) == (pair["jd_words"] > 0.3), pair["id"]
    small = {pair["id"] for pair in versions if pair["jd_words"] < 0.1 and found[pair["id"]]}
    assert small == {
        "docs/buttondown.md@2023",
        "docs/keyboard-shortcuts.md@2026",
        "docs/general.md@2021",
        "docs/events-api.md@2026",
    }
    facts = [pair for pair in versions if 0 < pair["jd_words"] <= 0.3 and found[pair["id"]]]
    assert len(facts) >= 20, "changes that the distance does not see"


async def test_real_pages_never_contradict_unrelated_and_nearest_ones(
    knowledge: Knowledge, pairs: list[dict[str, Any]], shared_data: Path
) -> None:
    """The pages of the pairs as documents of their own addresses: whatever their distance, none is flagged."""
    rows = [json.loads(line) for line in (shared_data / "plausible" / "corpus.jsonl").read_text("utf-8").splitlines()]
    named = {
        name for pair in pairs if pair["relation"] == "nearest_other_page" for name in (pair["page"], pair["other"])
    }
    wanted = [row for row in rows if row["id"] in named and len(row["text"]) < 3000][:24]
    assert len(wanted) == 24
    await knowledge.add(*(document(row["text"], title=row["title"], source=row["url"]) for row in wanted))
    report = await knowledge.check(CHECK)
    assert (report.examined, report.flagged, report.logged) == (24, 0, 0)
    assert await knowledge.signals() == []


@pytest.mark.promise("CUR-11")
async def test_an_old_copy_of_a_real_page_is_found_by_what_it_denies(
    knowledge: Knowledge, pairs: list[dict[str, Any]]
) -> None:
    """Under another address, so that only the statements can tell: 20 million page views became 10."""
    (pair,) = (pair for pair in pairs if pair["id"] == "docs/dashboard-faq.md@2024")
    await knowledge.add(
        document(pair["new"], title="Dashboard FAQ", source="https://a.example/faq"),
        document(pair["old"], title="FAQ of the dashboard", source="https://b.example/copy"),
    )
    assert await knowledge.flagged() == []
    await knowledge.check(CHECK)
    assert await knowledge.flagged() == ["Dashboard FAQ", "FAQ of the dashboard"]
    (passage,) = (await knowledge.detail("Dashboard FAQ"))["passages"]
    assert {"10 million" in passage["before"], "10 million" in passage["after"]} == {True, False}


MAIL = "# Mail\n\n{}\n\n" + "\n\n".join(
    f"{kind} are sent at once, and once more after a while if the server of the receiver does not take them."
    for kind in ("Receipts", "Reminders", "Reports", "Invitations")
)


@pytest.mark.promise("CUR-11")
async def test_copies_of_one_page_in_which_a_name_changed_are_both_flagged(knowledge: Knowledge) -> None:
    """Between documents a name tells nothing, but in two that have one title and all but one sentence in common."""
    mailgun, postmark = MAIL.format("We send through Mailgun."), MAIL.format("We send through Postmark.")
    await knowledge.add(
        document(mailgun, title="Mail", source="https://a.example/mail"),
        document(postmark, title=" mail", source="https://b.example/mail-old"),
        document(MAIL.format("We send through Sendgrid."), title="Mail at Acme", source="https://c.example/mail"),
        document("# Mail\n\nLetters are brought by the postman, every Monday.", title="Mail", source="test:post"),
    )
    await knowledge.check(CHECK)
    assert await knowledge.flagged() == [" mail", "Mail"]
    detail = await knowledge.detail("Mail")
    assert (detail["kind"], detail["facts"]) == ("copy", 1)
    again = await knowledge.check(CHECK)
    assert (again.examined, again.flagged) == (0, 0)


async def test_a_rewritten_page_contradicts_what_its_source_says_anew_and_not_what_it_said(
    knowledge: Knowledge,
) -> None:
    page = document(LIMITS.format(limit="1,000", more=MORE))
    await knowledge.add(page)
    curator = Principal(subject="ann", via="test", role=Role.CURATOR, trusted=True)
    rewritten = LIMITS.format(limit="600", more=MORE)
    await knowledge.app.loop.review.act(ReviewAction.REWRITE, [page.id], curator, text=rewritten)
    await knowledge.add(page)
    await knowledge.check(CHECK)
    assert await knowledge.signals() == []
    await knowledge.add(document(LIMITS.format(limit="2,000", more=MORE)))
    assert await knowledge.signals() == [("Limits", "contradiction")]
    (passage,) = (await knowledge.detail("Limits"))["passages"]
    assert ("600" in passage["before"], "2,000" in passage["after"]) == (True, True)


async def test_documents_that_are_removed_meanwhile_stop_no_check(knowledge: Knowledge) -> None:
    async with knowledge.app.database.transaction() as unit:
        await unit.signals.note_check("doc_that_was_removed", CHECK.value, 1)
        report = CheckReport(signal=CHECK)
        run = CheckRun(
            database=knowledge.app.database,
            settings=knowledge.settings,
            report=report,
            actor="test",
            now=knowledge.now,
            until=0.0,
        )
        await run.flag(unit, ("doc_that_was_removed", "Gone"), {}, evidence="x", why="")
    assert (report.flagged, report.counts) == (0, {"removed_meanwhile": 1})


def percents(value: int) -> Callable[[Asked], Answer]:
    """Claude as a judge that says the same of every pair."""
    return lambda asked: shaped({f"p{n}": value for n in range(1, question_of(asked).count("<pair-") + 1)})


@pytest.mark.promise("CUR-11")
async def test_claude_judges_where_there_is_one(knowledge: Knowledge) -> None:
    claude = ScriptedAnthropic(Facts=percents(2))
    async with with_models(knowledge.app.settings, claude=claude) as running:
        ingester = running.app.ingester
        await ingester.ingest([document(LIMITS.format(limit="1,000", more=MORE))])
        await ingester.ingest([document(LIMITS.format(limit="600", more=MORE))])
        assert len(claude.asked["Facts"]) == 1
        assert "1,000 requests" in question_of(claude.asked["Facts"][0])
        assert await knowledge.flagged() == []
        claude.give(Facts=percents(95))
        await ingester.ingest([document(LIMITS.format(limit="700", more=MORE))])
        detail = await knowledge.detail("Limits")
        assert detail["judged_by"].startswith("anthropic/") or "claude" in detail["judged_by"]
        assert detail["passages"][0]["score"] == 0.95
        claude.give(Facts=Answer({"type": "error", "error": {"message": "no"}}, status=500))
        await ingester.ingest([document(LIMITS.format(limit="800", more=MORE))])
        assert (await knowledge.detail("Limits"))["judged_by"] == "rules"


@pytest.mark.promise("CUR-11")
async def test_a_model_is_asked_no_more_than_it_may(knowledge: Knowledge) -> None:
    asked: list[Asked] = []

    def note(request: Asked) -> Answer:
        asked.append(request)
        return percents(90)(request)

    claude = ScriptedAnthropic(Facts=note)
    few: dict[str, object] = {"judge_calls": 2}
    async with with_models(knowledge.app.settings, claude=claude, sections={"curate": few}) as running:
        for limit in (100, 200, 300, 400, 500):
            await running.app.ingester.ingest([document(LIMITS.format(limit=limit, more=MORE))])
    assert len(asked) == 2
    assert len(await knowledge.signals()) == 4


async def test_two_processes_do_not_run_one_check_at_a_time(knowledge: Knowledge) -> None:
    async with knowledge.app.database.session() as unit:
        assert await unit.signals.try_lock(CHECK.value)
        assert (await knowledge.check(CHECK)).state is CheckState.BUSY
    reports = await asyncio.gather(*(knowledge.check(CHECK) for _ in range(3)))
    assert CheckState.DONE in {report.state for report in reports}
