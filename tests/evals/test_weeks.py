"""EVL-2: weeks of real use, simulated: what the loop learns, and that nothing is shown where it does not learn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harry_mcp.cli.console import ExitCode
from harry_mcp.evals import gates
from harry_mcp.evals.learning.figures import KNOWN
from harry_mcp.evals.learning.run import LoopPlan, load, measure
from harry_mcp.evals.learning.schedule import Habits
from harry_mcp.settings import Settings
from tests.evals.golden_files import Files, help_centre
from tests.evals.support_questions import support_questions
from tests.evals.test_commands import harry

pytestmark = pytest.mark.promise("EVL-2")

# People who correct what was wrong, and nobody who decides anything: whatever is learnt is learnt by corrections.
CORRECTING = Habits(weeks=2, askings=24, skew=1.0, people=6, trusted=1.0, corrects=0.6, slips=0.0, decisions=0)
CURATED = Habits(weeks=3, askings=20, skew=1.0, people=6, praises=0.3, decisions=10)
GATE = "repeat_error.fall>=0.2"


async def played(settings: Settings, files: Files, habits: Habits, gate: str = "", seed: int = 1) -> dict[str, Any]:
    plan = LoopPlan(name="weeks", habits=habits, seed=seed, gates=gates.parse([gate], KNOWN), save=False)
    outcome = await measure(settings, load(files.corpus, files.queries, files.holdout), plan)
    return outcome.as_json()


async def test_corrections_alone_keep_errors_from_coming_again_and_switched_off_they_do_not(
    settings: Settings, shared_data: Path, tmp_path: Path
) -> None:
    files = support_questions(shared_data, tmp_path, pages=10)
    found = await played(settings, files, CORRECTING, GATE)
    rates = found["rates"]["all"]
    assert rates["repeat_error"]["without"]["cases"] >= 10
    assert [gate["held"] for gate in found["gates"]] == [True], rates["repeat_error"]
    assert rates["by_correction"]["with_loop"]["number"] >= 3
    assert found["paired"]["harmed"] == 0
    off = settings.model_copy(update={"correct": settings.correct.model_copy(update={"most": 0})})
    broken = await played(off, files, CORRECTING, GATE)
    assert [gate["held"] for gate in broken["gates"]] == [False]
    assert broken["rates"]["all"]["repeat_error"]["fall"] == 0
    # The same people asked the same and said the same: only what was learnt from it is missing.
    assert broken["rates"]["all"]["repeat_error"]["without"] == rates["repeat_error"]["without"]
    assert broken["did"]["correction"] >= found["did"]["correction"] >= 3


async def test_a_curator_brings_pages_in_and_makes_answers_official(
    settings: Settings, shared_data: Path, tmp_path: Path
) -> None:
    files = support_questions(shared_data, tmp_path, pages=10)
    found = await played(settings, files, CURATED)
    late, did = found["rates"]["late"], found["did"]
    assert late["escalated"]["fall"] >= 0.1
    assert late["wrong"]["fall"] >= 0.2
    assert late["repeat_error"]["fall"] >= 0.2
    assert did["pages brought in"] >= 3
    assert did["official answers approved"] >= 1
    assert found["paired"]["righted"] >= 6
    assert found["paired"]["harmed"] <= 1
    decided = sum(count for what, count in found["weeks"][0]["did"].items() if what in DECISIONS)
    assert 0 < decided <= CURATED.decisions


async def test_the_command_keeps_draws_and_gates(settings: Settings, tmp_path: Path) -> None:
    holdout = tmp_path / "holdout.json"
    holdout.write_text(json.dumps({"removed_documents": ["keys"]}), encoding="utf-8")
    given = (*help_centre(tmp_path).options, "--holdout", str(holdout))
    options = (*given, "--weeks", "2", "--askings", "8", "--decisions", "4")
    pictures = tmp_path / "pictures"
    first = await harry(settings, "loop", *options, "--json", "--plot", str(pictures), "--gate", "harm<=1")
    assert (first.code, first.err) == (ExitCode.OK, "")
    assert (first.json["pages"], first.json["held_out"], len(first.json["weeks"])) == (6, 1, 2)
    assert "Wrong again after a complaint" in (pictures / "loop.svg").read_text(encoding="utf-8")
    assert (pictures / "loop.png").read_bytes().startswith(b"\x89PNG\r\n")
    second = await harry(settings, "loop", *options, "--gate", "repeat_error.without<=-0.5")
    assert second.code == ExitCode.GATE
    assert "harry: the gate repeat_error.without<=-0.5 does not hold" in second.err
    assert "Without the loop → with it, by weeks" in second.out
    assert "Asking by asking:" in second.out
    listed = await harry(settings, "list", "--json")
    kept = {run["id"]: run for run in listed.json["runs"]}
    one, other = kept.pop(first.json["run"]["id"]), next(iter(kept.values()))
    assert (one["accepted"], other["accepted"]) == (True, False)
    # The same seed is the same course of events, in another database and another process.
    assert one["figures"] == other["figures"]
    assert "Weeks of use" in (await harry(settings, "list")).out
    assert "Without the loop → with it, by weeks" in (await harry(settings, "show", other["id"])).out


DECISIONS = {
    "corrections approved",
    "corrections refused",
    "official answers approved",
    "official answers refused",
    "pages brought in",
    "gaps set aside",
    "drafts approved",
    "drafts refused",
    "flagged pages found sound",
}
