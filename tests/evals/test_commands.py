"""EVL-1, RNK-2: the commands, what they print and draw, and how they end."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harry_mcp.cli.console import ExitCode
from harry_mcp.errors import EvalError
from harry_mcp.evals.plots import run_page
from harry_mcp.settings import Settings, child_environment
from tests.evals.golden_files import CORPUS, help_centre, write

pytestmark = pytest.mark.promise("EVL-1")


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on stdout; nothing else may stand there."""
        return json.loads(self.out)


async def harry(settings: Settings, *arguments: str, **environment: str) -> Done:
    """``harry eval`` in a process of its own, over the database of the test."""
    url, home = settings.database_url.get_secret_value(), str(settings.data_dir)
    given = child_environment(HARRY_DATABASE_URL=url, HARRY_DATA_DIR=home, COLUMNS="140", **environment)
    command = [sys.executable, "-W", "error", "-m", "harry_mcp.cli.main", "eval", *arguments]
    done = await asyncio.to_thread(
        subprocess.run, command, env=given, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=240
    )
    out, err = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    assert "Traceback" not in out + err, err
    return Done(done.returncode, out, err)


async def test_run_draws_compares_and_ends_with_the_code_of_its_gates(settings: Settings, tmp_path: Path) -> None:
    files, pictures = help_centre(tmp_path), tmp_path / "pictures"
    first = await harry(settings, "run", *files.options, "--plot", str(pictures), "--json", "--gate", "hit@1>=0.9")
    assert (first.code, first.err) == (ExitCode.OK, "")
    assert list(first.json["retrieval"]) == ["keyword", "vector", "hybrid", "context", "rank"]
    assert first.json["run"]["name"] == f"{tmp_path.name}/queries"
    assert first.json["compared_with"] is None
    assert first.json["plots"] == [str(pictures / "eval.png"), str(pictures / "eval.svg")]
    _are_pictures(pictures / "eval.png", pictures / "eval.svg", words="What each stage adds")
    second = await harry(settings, "run", *files.options, "--quick", "--gate", "auroc>1,last")
    assert second.code == ExitCode.GATE
    assert "harry: the gate auroc>1 does not hold: " in second.err
    assert f"Since {first.json['run']['id']}" in second.out
    assert "+ context" in second.out
    assert "hybrid" not in second.out
    listed = await harry(settings, "list", "--json")
    runs = listed.json["runs"]
    assert [run["accepted"] for run in runs] == [False, True]
    assert first.json["run"]["id"] in (await harry(settings, "list")).out
    shown = await harry(settings, "show", runs[1]["id"], "--json")
    assert shown.json["per_question"] == first.json["per_question"]
    assert "strong" in (await harry(settings, "show", runs[0]["id"])).out
    missing = await harry(settings, "show", "run_0")
    assert (missing.code, missing.err) == (
        ExitCode.USAGE,
        "harry: There is no run 'run_0'; `harry eval list` shows them.\n",
    )


@pytest.mark.promise("RNK-2")
async def test_calibrate_keeps_the_curve_and_draws_it(settings: Settings, tmp_path: Path) -> None:
    files, pictures = help_centre(tmp_path), tmp_path / "pictures"
    done = await harry(settings, "calibrate", *files.options, "--plot", str(pictures), "--json", "--method", "platt")
    assert (done.code, done.err) == (ExitCode.OK, "")
    curve = done.json["calibration"]
    assert (curve["method"], curve["saved"]) == ("platt", True)
    assert [row["id"] for row in done.json["per_question"]][:2] == ["a1", "a2"]
    _are_pictures(pictures / "calibration.png", pictures / "calibration.svg", words="What a raw score is worth")
    kept = (await harry(settings, "list", "--json")).json["calibrations"]
    assert [(row["id"], row["ranker"]) for row in kept] == [(curve["id"], curve["ranker"])]
    run = await harry(settings, "run", *files.options, "--quick", "--json", "--no-save")
    assert run.json["relevance_source"] == f"{curve['ranker']}/{curve['id']}"
    told = await harry(settings, "calibrate", *files.options, "--no-save")
    assert "was not kept" in told.out
    assert "all figures are rough" in told.out


async def test_what_is_wrong_is_said_in_one_line_before_anything_is_done(settings: Settings, tmp_path: Path) -> None:
    files = help_centre(tmp_path)
    wrong = await harry(settings, "run", *files.options, "--gate", "recall>=0.8")
    assert wrong.code == ExitCode.USAGE
    assert "There is no figure 'recall' to put a gate on" in wrong.err
    none = write(tmp_path / "a.jsonl", [{"id": "q", "text": "keys?", "relevant_ids": [CORPUS[0]["id"]]}])
    refused = await harry(settings, "calibrate", "--corpus", str(files.corpus), "--queries", str(none))
    assert refused.code == ExitCode.USAGE
    assert refused.err.startswith("harry: This golden set has no unanswerable question")
    key = {"ANTHROPIC_API_KEY": "sk-ant-hush", "HARRY_INGEST__ASK_ABOVE": "0.00001"}
    dear = await harry(settings, "calibrate", *files.options, **key)
    assert dear.code == ExitCode.USAGE
    assert "Having claude read the passages of 12 questions will cost up to $0.0" in dear.err
    other = await harry(settings, "run", *files.options, "--baseline", str(files.corpus))
    assert "is no output of `harry eval run --json`" in other.err


async def test_a_key_alone_makes_no_measurement_cost_money(settings: Settings, tmp_path: Path) -> None:
    """The address is one that nobody answers at: a call would be seen as a degraded search."""
    files = help_centre(tmp_path)
    key = {"ANTHROPIC_API_KEY": "sk-ant-hush", "HARRY_CLAUDE__BASE_URL": "http://127.0.0.1:9"}
    done = await harry(settings, "run", *files.options, "--quick", "--json", **key)
    assert (done.code, done.json["degraded"]) == (ExitCode.OK, {})
    assert list(done.json["retrieval"]) == ["context", "rank"]
    assert "hush" not in done.out + done.err


def test_without_matplotlib_pictures_are_refused_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    nothing = {"questions": 0, "answerable": 0, "documents": 0, "embeddings": "", "relevance_source": ""}
    with pytest.raises(EvalError, match="Pictures need matplotlib"):
        run_page(nothing, [], "", tmp_path)
    assert list(tmp_path.iterdir()) == []


def _are_pictures(png: Path, svg: Path, *, words: str) -> None:
    assert png.read_bytes().startswith(b"\x89PNG\r\n")
    assert png.stat().st_size > 40_000
    drawn = ET.fromstring(svg.read_text(encoding="utf-8"))
    assert drawn.tag.endswith("svg")
    assert words in svg.read_text(encoding="utf-8")
