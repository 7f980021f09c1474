"""EVL-3: golden questions grown from real use, and corrections that become regression tests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harry_mcp.app import App
from harry_mcp.cli.console import ExitCode
from harry_mcp.domain.corrections import CorrectionAction, Lesson
from harry_mcp.domain.curation import ReviewAction
from harry_mcp.domain.documents import SourceDocument
from harry_mcp.domain.feedback import Complaint, Opinion, Rating
from harry_mcp.domain.people import Principal, Role
from harry_mcp.domain.verified import VerifiedAction
from harry_mcp.errors import InputError
from harry_mcp.evals import golden, grown_files
from harry_mcp.evals.growing import grow
from harry_mcp.evals.run import evaluate
from harry_mcp.settings import Settings
from tests.evals.test_commands import harry

pytestmark = pytest.mark.promise("EVL-3")

ANNE = Principal(subject="anne", via="http", role=Role.CONTRIBUTOR, trusted=True)
CURATOR = Principal(subject="carol", via="cli", role=Role.CURATOR, trusted=True)
TEXTS = {
    "keys": ("API keys", "Rotate an API key under Settings."),
    "bills": ("Invoices", "Invoices are sent on the first day of the month."),
    "limits": ("Limits", "The API takes many requests."),
}
PAGES = [
    SourceDocument(source=f"https://help.example/{name}", url=f"https://help.example/{name}", title=title, text=text)
    for name, (title, text) in TEXTS.items()
]
ROTATE, INVOICES = "How do I rotate an API key?", "When are invoices sent?"
LIMIT = "How many requests a minute does the API take?"
LESSON = Lesson(wrong="1,000 a minute.", truth="600 a minute.", line="The API takes 600 requests a minute.")


@dataclass(frozen=True, slots=True)
class Used:
    """A knowledge base that was used: one official answer, one praised result, one correction."""

    app: App
    correction: str
    official: str


@pytest.fixture
async def used(app: App) -> Used:
    assert not (await app.ingester.ingest(PAGES)).failed
    official = await _praised(app, ROTATE, "Under Settings.")
    await app.loop.verified.review(official, VerifiedAction.APPROVE, CURATOR)
    await _praised(app, f"{INVOICES} Mail me at bob@kontora.io", "On the first day of the month.")
    result = await app.loop.search(LIMIT)
    (stored,) = await app.loop.submit_correction(LESSON, ANNE, result_id=result.search_id)
    return Used(app, stored.correction.id, official)


async def _praised(app: App, question: str, answer: str, *sources: str) -> str:
    result = await app.loop.search(question)
    opinion = Opinion(result_id=result.search_id, rating=Rating.UP, answer=answer, source_urls=sources)
    return (await app.loop.submit_feedback(opinion, ANNE)).candidate_id


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _texts(rows: Sequence[dict[str, Any]]) -> list[str]:
    return [row["text"] for row in rows]


async def test_answers_that_hold_become_questions_with_their_documents(used: Used) -> None:
    grown = await grow(used.app.database, corpus=True)
    assert [(row["text"], row["relevant_ids"], row["provenance"]["from"]) for row in grown.questions] == [
        (ROTATE, [PAGES[0].id], "verified"),
        (f"{INVOICES} Mail me at [EMAIL]", [PAGES[1].id], "praise"),
    ]
    assert grown.questions[0]["provenance"]["of"] == used.official
    assert sorted(row["id"] for row in grown.corpus) == sorted(page.id for page in PAGES)
    text = json.dumps([grown.questions, grown.corrections])
    assert "anne" not in text
    assert "bob@kontora.io" not in text
    assert _texts((await grow(used.app.database, praise=False)).questions) == [ROTATE]


async def test_what_was_complained_of_refused_or_lost_its_page_is_no_question(used: Used) -> None:
    refused = await _praised(used.app, "How do I delete the whole account?", "You cannot.", PAGES[1].id)
    await used.app.loop.verified.review(refused, VerifiedAction.REJECT, CURATOR)
    disputed = await used.app.loop.search("What does an invoice cost?")
    for who, opinion in (
        (ANNE, Opinion(result_id=disputed.search_id, rating=Rating.UP, answer="Nothing.")),
        (CURATOR, Opinion(result_id=disputed.search_id, rating=Rating.DOWN, reason=Complaint.WRONG)),
    ):
        await used.app.loop.submit_feedback(opinion, who)
    await used.app.loop.review.act(ReviewAction.ARCHIVE, [PAGES[0].id], CURATOR)
    grown = await grow(used.app.database)
    assert _texts(grown.questions) == [f"{INVOICES} Mail me at [EMAIL]"]
    assert grown.left_out["questions without a page that is found"] >= 1


async def test_a_correction_becomes_a_test_with_the_question_that_it_was_made_on(used: Used) -> None:
    orphan = Lesson(wrong="It is sent twice.", truth="It is sent once.", line="A reminder is sent once.")
    await used.app.loop.submit_correction(orphan, ANNE)
    grown = await grow(used.app.database)
    lessons = [row for row in grown.corrections if "lesson" in row]
    assert [row["lesson"] for row in lessons] == [LESSON.line, orphan.line]
    tests = {row["text"]: row["relevant"] for row in grown.corrections if "text" in row}
    assert tests == {LIMIT: [used.correction], ROTATE: []}
    assert grown.left_out["corrections that were made on no question"] == 1
    await used.app.loop.corrections.review(used.correction, CorrectionAction.DEPRECATE, CURATOR)
    later = await grow(used.app.database)
    assert used.correction not in json.dumps(later.corrections)


async def test_a_promoted_correction_is_a_question_that_its_document_answers(used: Used) -> None:
    await used.app.loop.corrections.review(used.correction, CorrectionAction.PROMOTE, CURATOR)
    draft = (await used.app.loop.corrections.get(used.correction)).document_id
    assert LIMIT not in _texts((await grow(used.app.database)).questions)
    await used.app.loop.review.act(ReviewAction.APPROVE, [draft], CURATOR)
    grown = await grow(used.app.database)
    row = next(row for row in grown.questions if row["text"] == LIMIT)
    assert (row["relevant_ids"], row["provenance"]["from"]) == ([draft], "promoted correction")


async def test_growing_again_adds_only_what_is_new_and_changes_nothing(used: Used, tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    first = grown_files.add(path, (await grow(used.app.database)).questions)
    before = path.read_bytes()
    again = grown_files.add(path, (await grow(used.app.database)).questions)
    assert (first.added, again.added, again.known, again.differing) == (2, 0, 2, [])
    assert path.read_bytes() == before
    await _praised(used.app, "Where are invoices for the last month?", "Under Billing.")
    grown = await grow(used.app.database)
    moved = [{**row, "relevant_ids": ["doc_other"]} if row["text"] == ROTATE else row for row in grown.questions]
    third = grown_files.add(path, moved)
    assert (third.added, third.differing) == (1, [grown.questions[0]["id"]])
    assert path.read_bytes().startswith(before)
    assert len(_read(path)) == 3


@pytest.mark.parametrize("text", ['{"id": "q1", "text": "Mine?", "relevant_ids": []}\n', "notes\n", "[1]\n"])
def test_a_file_that_was_not_grown_is_left_alone(text: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="line 1: this is no row that `harry eval grow` wrote"):
        grown_files.add(path, [{"id": "q2", "text": "New?", "provenance": {}}])
    assert path.read_text(encoding="utf-8") == text
    # A line without its end is not run together with the next.
    open_ended = tmp_path / "grown.jsonl"
    open_ended.write_text('{"id": "q1", "provenance": {}}', encoding="utf-8")
    grown_files.add(open_ended, [{"id": "q2", "provenance": {}}])
    assert [row["id"] for row in _read(open_ended)] == ["q1", "q2"]


async def test_the_commands_grow_files_that_the_evaluations_read_and_gate(
    used: Used, settings: Settings, tmp_path: Path
) -> None:
    await used.app.loop.settled()
    files = {name: tmp_path / f"{name}.jsonl" for name in ("out", "corrections", "corpus")}
    options = [each for name, path in files.items() for each in (f"--{name}", str(path))]
    grown = await harry(settings, "grow", *options, "--json")
    assert (grown.code, grown.err) == (ExitCode.OK, "")
    assert [each["added"] for each in grown.json["files"]] == [2, 3, 3]
    told = await harry(settings, "grow", *options)
    assert "0 rows added, 3 were there" in told.out
    figures = await evaluate(settings, golden.load(files["corpus"], files["out"]), plain=False)
    assert (figures["questions"], figures["retrieval"]["rank"]["hit@1"]) == (2, 1.0)
    live = ("corrections", "--golden", str(files["corrections"]), "--live", "--gate", "recall@3>=1")
    held = await harry(settings, *live)
    assert (held.code, held.err) == (ExitCode.OK, "")
    assert "Missed" not in held.out
    await used.app.loop.corrections.review(
        used.correction, CorrectionAction.DEPRECATE, CURATOR, reason="the limit was raised"
    )
    lost = await harry(settings, *live, "--json")
    assert lost.code == ExitCode.GATE
    assert "the gate recall@3>=1 does not hold: 0." in lost.err
    assert lost.json["missed"][0]["why"] == f"{used.correction} is deprecated (the limit was raised)"


async def test_growing_nothing_or_into_one_file_is_refused(settings: Settings, tmp_path: Path) -> None:
    nothing = await harry(settings, "grow")
    assert (nothing.code, nothing.err.startswith("harry: Say what to grow")) == (ExitCode.USAGE, True)
    one = str(tmp_path / "one.jsonl")
    both = await harry(settings, "grow", "--out", one, "--corrections", one)
    assert (both.code, both.err.startswith("harry: Questions, corrections and pages go into files")) == (2, True)


async def test_a_correction_that_a_document_says_by_now_has_come_back(used: Used, tmp_path: Path) -> None:
    from harry_mcp.evals import corrections
    from harry_mcp.evals.live_corrections import evaluate_live

    path = tmp_path / "corrections.jsonl"
    grown_files.add(path, (await grow(used.app.database)).corrections)
    wanted = corrections.load(path)
    none = used.app.settings.model_copy(update={"correct": used.app.settings.correct.model_copy(update={"most": 0})})
    lost = await evaluate_live(none, wanted)
    assert (lost["recall@3"], lost["missed"][0]["why"]) == (0.0, f"{used.correction} is active and did not come")
    await used.app.loop.corrections.review(used.correction, CorrectionAction.PROMOTE, CURATOR)
    draft = (await used.app.loop.corrections.get(used.correction)).document_id
    await used.app.loop.review.act(ReviewAction.APPROVE, [draft], CURATOR)
    assert (await evaluate_live(used.app.settings, wanted))["recall@3"] == 1.0
    await used.app.loop.review.act(ReviewAction.ARCHIVE, [draft], CURATOR)
    gone = await evaluate_live(used.app.settings, wanted)
    assert gone["recall@3"] == 0.0
    assert "deprecated (the document" in gone["missed"][0]["why"]
