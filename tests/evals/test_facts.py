"""CUR-11: the command that measures how well superseded facts are told from rewordings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harry_mcp.cli.console import ExitCode
from harry_mcp.errors import EvalError
from harry_mcp.evals import facts
from harry_mcp.settings import Settings
from harry_mcp.stages.curate.judging import FactJudge
from tests.evals.test_commands import harry

pytestmark = pytest.mark.promise("CUR-11")
EDITS = [
    {"id": "a", "kind": "number", "old": "It takes 1000 requests.", "new": "It takes 600 requests.", "label": 1},
    {"id": "b", "old": "Click **Import** to begin.", "new": "Click **Continue** to begin.", "label": 1},
    {"id": "c", "old": "Step 2: Add the proxy", "new": "Step 3: Add the proxy", "label": 0},
    {"id": "d", "old": "You can export goals.", "new": "You can export goals and funnels.", "label": 0},
]


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


async def test_the_command_prints_the_figures(settings: Settings, tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.jsonl", *EDITS)
    done = await harry(settings, "facts", "--gold", str(gold), "--json")
    assert (done.code, done.err) == (ExitCode.OK, "")
    figures = done.json
    assert (figures["edits"], figures["superseded"], figures["judged_by"]) == (4, 2, ["rules"])
    assert figures["auroc"] == 1.0
    assert figures["at"] == {"from": 0.75, "precision": 1.0, "recall": 1.0}
    assert figures["wrong"] == []
    assert figures["kinds"] == [
        {"kind": "number", "superseded": 1, "found": 1, "reworded": 0, "flagged_in_vain": 0, "auroc": 1.0}
    ]
    told = await harry(settings, "facts", "--gold", str(gold))
    assert "AUROC 1.000" in told.out
    assert "number" in told.out
    bad = await harry(settings, "facts", "--gold", str(write(tmp_path / "bad.jsonl", {"old": "a"})))
    assert bad.code != ExitCode.OK
    assert "line 1" in bad.err


async def test_real_edits_are_told_apart_without_a_model(settings: Settings, shared_data: Path) -> None:
    edits = facts.load(shared_data / "changed_facts" / "gold.jsonl")
    figures = await facts.evaluate(edits, FactJudge(None, settings.curate), settings.curate.fact)
    assert figures["auroc"] >= 0.90
    assert figures["auroc_of_jaccard"] < 0.55
    assert figures["at"]["precision"] >= 0.90
    assert figures["at"]["recall"] >= 0.75


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([{"old": "a", "new": "b", "label": 2}], "line 1"),
        ([{"old": "a", "new": "b", "label": 1}], "both labels"),
        ([], "both labels"),
    ],
)
def test_files_that_measure_nothing_are_refused(tmp_path: Path, rows: list[object], says: str) -> None:
    with pytest.raises(EvalError, match=says):
        facts.load(write(tmp_path / "gold.jsonl", *rows))
    with pytest.raises(EvalError, match="cannot be read"):
        facts.load(tmp_path / "none.jsonl")
