"""EVL-5: the corrections' retriever is measured on a golden set of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harry_mcp.errors import EvalError
from harry_mcp.evals import corrections
from harry_mcp.settings import Settings

pytestmark = pytest.mark.promise("EVL-5")

GOLDEN = Path(__file__).parent / "data" / "corrections.jsonl"
# Lessons that lean on the question that they were made on, each with its neighbours; the rows of the part "final" were
# written after the rules and their thresholds.
ASKED_ON = GOLDEN.with_name("corrections_asked.jsonl")


def written(path: Path, *rows: dict[str, Any] | str) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


LIMIT: dict[str, Any] = {
    "id": "c1",
    "lesson": "The API takes 600 requests a minute.",
    "wrong": "1,000 a minute.",
    "truth": "600.",
}
ASKED: dict[str, Any] = {"id": "q1", "text": "How many requests a minute does the API take?", "relevant": ["c1"]}
IDLE: dict[str, object] = {"id": "q2", "text": "What is the capital of Australia?", "relevant": []}


@pytest.mark.promise("COR-3")
async def test_questions_in_other_words_bring_their_corrections_and_others_bring_none(settings: Settings) -> None:
    golden = corrections.load(GOLDEN)
    assert len(golden.corrections) >= 60
    assert len(golden.questions) >= 150
    figures = await corrections.evaluate(settings, golden)
    assert figures["floor"] == settings.correct.relevance
    assert figures["recall@3"] >= 0.78
    assert figures["mrr"] >= 0.78
    # Three in four of the idle ones are about the same products.
    assert figures["nothing_right"] >= 0.75
    assert figures["wrong"] <= 0.25
    recalls = [point["recall@3"] for point in figures["curve"]]
    nothing = [point["nothing_right"] for point in figures["curve"]]
    assert recalls == sorted(recalls, reverse=True)
    assert nothing == sorted(nothing)
    off_topic = [item for item in figures["brought_in_vain"] if int(item["id"][1:]) > 212]
    assert off_topic == []


@pytest.mark.promise("COR-3")
@pytest.mark.parametrize(
    ("part", "recall", "nothing_right", "wrong"), [("tuned", 0.88, 0.5, 0.3), ("final", 0.85, 0.68, 0.2)]
)
async def test_a_lesson_that_leans_on_its_question_is_found_by_it_and_not_by_its_neighbours(
    settings: Settings, tmp_path: Path, part: str, recall: float, nothing_right: float, wrong: float
) -> None:
    rows = [json.loads(line) for line in ASKED_ON.read_text(encoding="utf-8").splitlines()]
    chosen = [row for row in rows if row["part"] == part]
    assert len(chosen) >= 60
    figures = await corrections.evaluate(settings, corrections.load(written(tmp_path / "g.jsonl", *chosen)))
    assert figures["recall@3"] >= recall
    assert figures["nothing_right"] >= nothing_right
    assert figures["wrong"] <= wrong
    assert figures["headed"] >= 0.75
    assert figures["headed_wrong"] <= 0.03
    bare = [{name: value for name, value in row.items() if name != "asked"} for row in chosen]
    without = await corrections.evaluate(settings, corrections.load(written(tmp_path / "b.jsonl", *bare)))
    assert without["recall@3"] <= recall - 0.25, "the questions are what finds them"
    assert without["wrong"] > figures["wrong"]


async def test_the_figures_by_hand(settings: Settings, tmp_path: Path) -> None:
    golden = corrections.load(written(tmp_path / "g.jsonl", LIMIT, ASKED, IDLE))
    figures = await corrections.evaluate(settings, golden)
    assert {name: figures[name] for name in ("recall@3", "mrr", "nothing_right", "wrong")} == {
        "recall@3": 1.0,
        "mrr": 1.0,
        "nothing_right": 1.0,
        "wrong": 0.0,
    }
    assert (figures["missed"], figures["brought_in_vain"]) == ([], [])
    strict = settings.model_copy(update={"correct": settings.correct.model_copy(update={"relevance": 0.99})})
    lost = await corrections.evaluate(strict, golden)
    assert (lost["recall@3"], lost["nothing_right"]) == (0.0, 1.0)
    assert [item["id"] for item in lost["missed"]] == ["q1"]
    none = await corrections.evaluate(
        settings, corrections.load(written(tmp_path / "n.jsonl", LIMIT, {**ASKED, "relevant": []}))
    )
    # Without a question that one is meant for there is no recall.
    assert (none["recall@3"], none["mrr"], none["nothing_right"], none["wrong"]) == (-1.0, -1.0, 0.0, 1.0)
    assert none["brought_in_vain"][0]["brought"][0]["id"] == "c1"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([LIMIT], "1 corrections and 0 questions"),
        ([LIMIT, {**ASKED, "relevant": ["c9"]}], "not there: c9"),
        ([LIMIT, {**ASKED, "id": "c1"}], "line 2: the id 'c1' stands there twice"),
        ([LIMIT, {"id": "q1", "text": "Why?"}], "line 2: relevant: Field required"),
        ([{**LIMIT, "truth": None}, ASKED], "line 1: truth"),
        ([LIMIT, "{"], "line 2: this is no JSON object"),
        ([LIMIT, "[]"], "line 2"),
    ],
)
def test_a_file_with_a_fault_is_refused_with_its_place(
    rows: list[dict[str, Any] | str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(EvalError, match=message):
        corrections.load(written(tmp_path / "g.jsonl", *rows))
    with pytest.raises(EvalError, match="cannot be read"):
        corrections.load(tmp_path / "none.jsonl")
