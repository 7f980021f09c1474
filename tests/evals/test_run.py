"""EVL-1: golden sets through the real pipeline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harry_mcp.evals import golden, keeping
from harry_mcp.evals.gates import parse
from harry_mcp.evals.run import evaluate
from harry_mcp.evals.session import Outcome, Plan, measure
from harry_mcp.settings import Settings
from tests.evals.golden_files import CORPUS, help_centre, write

pytestmark = pytest.mark.promise("EVL-1")

LADDER = ["keyword", "vector", "hybrid", "context", "rank"]


async def test_documents_with_a_holdout(settings: Settings, tmp_path: Path) -> None:
    files = help_centre(tmp_path)
    holdout = tmp_path / "h.json"
    holdout.write_text(json.dumps({"removed_documents": ["bills"], "now_unanswerable": ["a2"]}), encoding="utf-8")
    figures = await evaluate(settings, golden.load(files.corpus, files.queries, holdout))
    assert (figures["documents"], figures["questions"], figures["answerable"], figures["findable"]) == (5, 12, 5, 5)
    assert list(figures["retrieval"]) == LADDER
    assert figures["retrieval"]["rank"]["hit@1"] == 1.0
    assert figures["verdict"]["auroc"] >= 0.9
    assert figures["verdict"]["escalation"]["answerable"]["weak"] == 0
    assert sum(item["questions"] for item in figures["verdict"]["reliability"]) == 12
    by_id = {row["id"]: row for row in figures["per_question"]}
    assert (by_id["a1"]["band"], by_id["n1"]["band"]) == ("strong", "weak")
    assert (by_id["a1"]["first_relevant_rank"], by_id["n1"]["first_relevant_rank"]) == (1, 0)
    assert by_id["a2"]["answerable"] is False
    assert (figures["degraded"], figures["warnings"]) == ({}, [])


async def test_the_rung_of_context_is_what_title_and_headings_add(settings: Settings, tmp_path: Path) -> None:
    """Chunks that say nothing of what they are about are found by their context alone, and only from that rung on."""
    products = ["Falcon", "Heron", "Osprey", "Plover", "Curlew"]
    rows: list[dict[str, object]] = [
        {"id": name, "title": f"{name} handbook", "text": f"Press the {colour} button for three seconds to reset it."}
        for name, colour in zip(products, ["red", "blue", "green", "black", "white"], strict=True)
    ]
    asked: list[dict[str, object]] = [
        {"id": name, "text": f"How do I reset the {name}?", "relevant_ids": [name]} for name in products
    ]
    corpus, queries = write(tmp_path / "c.jsonl", rows), write(tmp_path / "q.jsonl", asked)
    figures = await evaluate(settings, golden.load(corpus, queries))
    found = {stage: figures["retrieval"][stage]["hit@1"] for stage in LADDER}
    assert max(found["keyword"], found["vector"], found["hybrid"]) <= 0.6
    assert found["context"] == found["rank"] == 1.0
    assert figures["legs_with_context"]["keyword"]["hit@1"] == 1.0
    # Without unanswerable questions nothing is said of the verdict
    assert (figures["verdict"]["auroc"], figures["verdict"]["expected_calibration_error"]) == (-1.0, -1.0)
    assert "no unanswerable question" in figures["warnings"][0]


async def test_ready_made_chunks_are_found_by_their_own_ids(settings: Settings, tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"id": f"{row['id']}#0", "doc_id": row["id"], "title": row["title"], "text": row["text"]} for row in CORPUS
    ]
    rows.append({"id": "keys#1", "doc_id": "keys", "title": "API keys", "text": "Delete a key and it stops at once."})
    queries = write(tmp_path / "q.jsonl", [{"id": "q", "text": "delete a key at once", "relevant_ids": ["keys#1"]}])
    figures = await evaluate(settings, golden.load(write(tmp_path / "c.jsonl", rows), queries))
    assert figures["chunks"] == 7
    assert {stage: values["hit@1"] for stage, values in figures["retrieval"].items()} == dict.fromkeys(LADDER, 1.0)


async def test_follow_ups_are_asked_with_their_history(settings: Settings, tmp_path: Path) -> None:
    history = [{"role": "user", "content": "Is a webhook retried?"}, {"role": "assistant", "content": "It is."}]
    asked: dict[str, object] = {"text": "And for how long?", "relevant_ids": ["hooks"]}
    rows: list[dict[str, object]] = [{"id": "with", **asked, "history": history}, {"id": "without", **asked}]
    files = help_centre(tmp_path)
    figures = await evaluate(settings, golden.load(files.corpus, write(tmp_path / "f.jsonl", rows)), plain=False)
    by_id = {row["id"]: row for row in figures["per_question"]}
    assert by_id["with"]["first_relevant_rank"] == 1
    assert by_id["with"]["score"] > by_id["without"]["score"]
    assert list(figures["retrieval"]) == ["context", "rank"]


async def test_runs_are_kept_compared_and_gated(settings: Settings, tmp_path: Path) -> None:
    files = help_centre(tmp_path)
    wanted = golden.load(files.corpus, files.queries)
    first = await measure(settings, wanted, Plan(name="help", gates=parse(["hit@1>=0.9,last"])))
    assert (first.before, first.changes) == (None, [])
    assert [gate.held for gate in first.gates] == [True, True]
    stricter = settings.model_copy(update={"rank": settings.rank.model_copy(update={"strong": 0.9})})
    second = await measure(stricter, wanted, Plan(name="help", plain=False, gates=parse(["hit@1>1", "last"])))
    assert second.before is not None
    assert second.before.id == first.run.id
    assert {change.verdict for change in second.changes} == {"same"}
    assert second.settings_changed == {"rank.strong": (0.6, 0.9)}
    assert [gate.held for gate in second.gates] == [False, True]
    # A run whose gate did not hold is kept, and is nobody's measure
    third = await measure(settings, wanted, Plan(name="help", plain=False, save=False))
    assert third.before is not None
    assert third.before.id == first.run.id
    async with keeping.shelf(settings) as shelf:
        kept = await shelf.recent(10)
        whole = await shelf.get(first.run.id)
    assert [(run.id, run.accepted) for run in kept] == [(second.run.id, False), (first.run.id, True)]
    assert "per_question" not in kept[0].figures
    assert list(kept[0].figures["retrieval"]) == ["context", "rank"]
    assert list(whole.figures["retrieval"]) == LADDER
    assert whole == first.run


async def test_a_run_in_a_file_serves_where_there_is_no_database(settings: Settings, tmp_path: Path) -> None:
    files = help_centre(tmp_path)
    wanted = golden.load(files.corpus, files.queries)
    first = await measure(settings, wanted, Plan(name="help", plain=False, save=False))
    baseline = tmp_path / "main.json"
    baseline.write_text(json.dumps(_printed(first)), encoding="utf-8")
    second = await measure(settings, wanted, Plan(name="help", plain=False, save=False, baseline=baseline))
    assert second.before is not None
    assert second.before.id == first.run.id
    assert _printed(second)["compared_with"]["settings"] == {}
    assert {row["figure"]: row["verdict"] for row in _printed(second)["compared_with"]["changes"]}["auroc"] == "same"


def _printed(outcome: Outcome) -> dict[str, Any]:
    return json.loads(json.dumps(outcome.as_json()))


@pytest.mark.promise("RNK-2")
@pytest.mark.promise("RNK-3")
async def test_real_support_questions_keep_their_figures(settings: Settings, shared_data: Path) -> None:
    """The floor under the figures of the README, on real questions whose pages were taken away."""
    home = shared_data / "techqa"
    files = golden.load(home / "corpus.jsonl", home / "queries.jsonl", home / "holdout.json")
    figures = await evaluate(settings, files, plain=False)
    verdict = figures["verdict"]
    assert verdict["auroc"] >= 0.85
    assert verdict["expected_calibration_error"] <= 0.09
    assert verdict["bands"]["strong"]["answerable"] >= 0.85
    assert verdict["bands"]["strong"]["answered"] >= 0.85
    assert verdict["bands"]["weak"]["answerable"] <= 0.25
    assert verdict["bands"]["strong"]["questions"] >= 80
    assert figures["retrieval"]["rank"]["hit@1"] >= 0.79
    assert figures["retrieval"]["rank"]["hit@5"] >= 0.925
