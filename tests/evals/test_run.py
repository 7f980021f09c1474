"""EVL-1: golden sets through the real pipeline."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harry_mcp.errors import EvalError
from harry_mcp.evals import golden
from harry_mcp.evals.run import evaluate
from harry_mcp.settings import Settings


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


CORPUS: list[dict[str, object]] = [
    {"id": "keys", "title": "API keys", "text": "Rotate an API key under Settings. The old key works for an hour."},
    {"id": "bills", "title": "Invoices", "text": "Invoices are sent on the first day of the month."},
    {"id": "sso", "title": "Single sign-on", "text": "Connect your identity provider with SAML."},
]
QUERIES: list[dict[str, object]] = [
    {"id": "q1", "text": "How do I rotate an API key?", "relevant_ids": ["keys"], "answerable": True},
    {"id": "q2", "text": "When are invoices sent?", "relevant_ids": ["bills"]},
    {"id": "q3", "text": "How do I bake bread?", "relevant_ids": [], "answerable": False},
]


@pytest.mark.promise("EVL-1")
async def test_documents_with_a_holdout(settings: Settings, tmp_path: Path) -> None:
    corpus, queries = write(tmp_path / "c.jsonl", CORPUS), write(tmp_path / "q.jsonl", QUERIES)
    holdout = tmp_path / "h.json"
    holdout.write_text(json.dumps({"removed_documents": ["bills"], "now_unanswerable": ["q2"]}), encoding="utf-8")
    figures = await evaluate(settings, golden.load(corpus, queries, holdout))
    assert figures["documents"] == 2
    assert figures["answerable"] == 1
    assert figures["retrieval"]["rank"]["hit@1"] == 1.0
    assert figures["verdict"]["auroc"] == 1.0
    by_id = {row["id"]: row for row in figures["per_question"]}
    assert by_id["q1"]["band"] == "strong"
    assert by_id["q3"]["band"] == "weak"
    assert by_id["q2"]["answerable"] is False


@pytest.mark.promise("EVL-1")
async def test_ready_made_chunks_are_found_by_their_own_ids(settings: Settings, tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"id": f"{row['id']}#0", "doc_id": row["id"], "title": row["title"], "text": row["text"]} for row in CORPUS
    ]
    rows.append({"id": "keys#1", "doc_id": "keys", "title": "API keys", "text": "Delete a key and it stops at once."})
    queries = write(tmp_path / "q.jsonl", [{"id": "q", "text": "delete a key at once", "relevant_ids": ["keys#1"]}])
    figures = await evaluate(settings, golden.load(write(tmp_path / "c.jsonl", rows), queries))
    assert figures["chunks"] == 4
    assert figures["retrieval"]["rank"]["hit@1"] == 1.0
    assert figures["verdict"]["auroc"] == -1.0


@pytest.mark.promise("EVL-1")
@pytest.mark.parametrize(
    ("corpus", "queries", "message"),
    [
        ('{"id": "a"}\n', "{}\n", "c.jsonl, line 1: text: Field required"),
        ("nonsense\n", "{}\n", "c.jsonl, line 1"),
        ('{"id":"a","text":"x"}\n{"id":"a","text":"y"}\n', "{}\n", "line 2: the id 'a' stands there twice"),
        ('{"id":"a","text":"x"}\n', "", "There is nothing to measure"),
    ],
)
def test_a_faulty_golden_set_is_named(tmp_path: Path, corpus: str, queries: str, message: str) -> None:
    (tmp_path / "c.jsonl").write_text(corpus, encoding="utf-8")
    (tmp_path / "q.jsonl").write_text(queries, encoding="utf-8")
    with pytest.raises(EvalError, match=message):
        golden.load(tmp_path / "c.jsonl", tmp_path / "q.jsonl")


@pytest.mark.promise("EVL-1")
@pytest.mark.promise("RNK-2")
@pytest.mark.promise("RNK-3")
async def test_real_support_questions_keep_their_figures(settings: Settings, shared_data: Path) -> None:
    """The floor under the figures of the README, on real questions whose pages were taken away."""
    home = shared_data / "techqa"
    figures = await evaluate(
        settings, golden.load(home / "corpus.jsonl", home / "queries.jsonl", home / "holdout.json")
    )
    verdict = figures["verdict"]
    assert verdict["auroc"] >= 0.85
    assert verdict["expected_calibration_error"] <= 0.09
    assert verdict["bands"]["strong"]["answerable"] >= 0.85
    assert verdict["bands"]["weak"]["answerable"] <= 0.30
    assert verdict["bands"]["strong"]["questions"] >= 80
    assert figures["retrieval"]["rank"]["hit@1"] >= 0.79
    assert figures["retrieval"]["rank"]["hit@5"] >= 0.925
