"""EVL-1: what is called a change from one run to the next, and what a gate lets through."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from harry_mcp.domain.search import Band
from harry_mcp.errors import EvalError
from harry_mcp.evals import figures, gates
from harry_mcp.evals.answers import Answer
from harry_mcp.evals.comparing import Change, compare, differing

pytestmark = pytest.mark.promise("EVL-1")


def answers(*, lost: int = 0, bluff: float = 0.0, seed: int = 1) -> list[Answer]:
    """Two hundred questions, scored as they should be; the first ``lost`` are found nowhere, and ``bluff`` is what

    unanswerable ones are scored higher.
    """
    dice = random.Random(seed)
    found: list[Answer] = []
    for number in range(200):
        can = number % 2 == 0
        score = min(max(dice.gauss(0.9 if can else 0.1 + bluff, 0.05), 0.0), 1.0)
        ranks = () if number < lost else (1 + dice.randrange(3),)
        found.append(
            Answer(
                id=f"q{number}",
                answerable=can,
                relevant=1 if can else 0,
                found=20,
                score=score,
                band=Band.STRONG if score >= 0.6 else Band.WEAK,
                ranks={"hybrid": (2,), "rank": ranks} if can else {"hybrid": (), "rank": ()},
            )
        )
    return found


def measured(found: list[Answer]) -> dict[str, Any]:
    return {
        "retrieval": {stage: figures.retrieval(found, stage) for stage in figures.stages(found)},
        "verdict": figures.verdict([a.score for a in found], [a.band for a in found], found),
        "latency_ms": {"total": 40.0},
    }


def changes(before: list[Answer], now: list[Answer]) -> dict[str, Change]:
    return {change.figure: change for change in compare(before, now)}


def test_the_same_run_twice_is_no_change() -> None:
    found = changes(answers(), answers())
    assert {"hit@1", "hit@5", "mrr", "ndcg@10", "pass@5", "pass@10", "pass@20", "auroc", "ece"} == set(found)
    assert {(change.verdict, change.low, change.high) for change in found.values()} == {("same", 0.0, 0.0)}


def test_one_question_is_noise_and_thirty_are_a_loss() -> None:
    one, thirty = changes(answers(), answers(lost=2)), changes(answers(), answers(lost=60))
    assert one["pass@5"].now < one["pass@5"].before
    assert {change.verdict for change in one.values()} == {"same"}
    assert thirty["pass@5"].verdict == thirty["mrr"].verdict == "worse"
    assert thirty["auroc"].verdict == "same"
    back = changes(answers(lost=60), answers())
    assert back["pass@5"].verdict == "better"


def test_scores_that_tell_less_are_a_loss_of_auroc_and_of_calibration() -> None:
    found = changes(answers(), answers(bluff=0.75))
    assert found["auroc"].verdict == found["ece"].verdict == "worse"
    assert found["ece"].now > found["ece"].before
    assert found["pass@5"].verdict == "same"


def test_chance_is_not_called_a_change() -> None:
    """Twenty pairs of runs that differ by their dice alone: an alarm is rare, though nine figures are looked at."""
    alarms = [
        seed
        for seed in range(20)
        if any(change.verdict != "same" for change in compare(answers(seed=300 + seed), answers(seed=400 + seed)))
    ]
    assert len(alarms) <= 2


def test_only_questions_of_both_runs_are_compared() -> None:
    assert compare(answers(), []) == []
    half = changes(answers(lost=60), answers()[100:])
    assert half["pass@5"].verdict == "same"


def test_settings_that_differ_are_named() -> None:
    old = {"rank": {"strong": 0.6, "k": 5}, "postgres": "18.3"}
    new = {"rank": {"strong": 0.7, "k": 5}, "postgres": "18.4", "hyde": "off"}
    assert differing(old, new) == {
        "rank.strong": (0.6, 0.7),
        "postgres": ("18.3", "18.4"),
        "hyde": (None, "off"),
    }


def test_gates_hold_or_name_what_was_measured(tmp_path: Path) -> None:
    found = answers()
    file = tmp_path / "gates.txt"
    file.write_text("# what main must keep\nstrong.answerable>=0.9\nlatency.total <= 30  # ms\n", encoding="utf-8")
    wanted = gates.parse(["pass@5>=0.9, hybrid.hit@1>0.5", str(file), "auroc>0.9,last", "rerank.mrr>0,ece<=0.5"])
    held = {gate.gate: gate for gate in gates.check(wanted, measured(found), None)}
    assert {name: gate.held for name, gate in held.items()} == {
        "pass@5>=0.9": True,
        "hybrid.hit@1>0.5": False,
        "strong.answerable>=0.9": True,
        "latency.total<=30": False,
        "auroc>0.9": True,
        "last": True,
        "rerank.mrr>0": False,
        "ece<=0.5": True,
    }
    assert held["latency.total<=30"].measured == "40"
    assert held["rerank.mrr>0"].measured == "this run does not give it"
    assert "no earlier run" in held["last"].measured


def test_the_gate_last_holds_against_noise_and_not_against_a_loss() -> None:
    last = gates.parse(["last"])
    noise = gates.check(last, measured(answers(lost=2)), compare(answers(), answers(lost=2)))
    loss = gates.check(last, measured(answers(lost=60)), compare(answers(), answers(lost=60)))
    assert (noise[0].held, loss[0].held) == (True, False)
    assert "pass@5 1.000 to 0.700" in loss[0].measured


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pass@6>=0.8", "no figure 'pass@6'.*Did you mean pass@5"),
        ("auroc=0.8", "is no gate and no file of gates"),
        ("gates/none.txt", "is no gate and no file of gates"),
    ],
)
def test_a_gate_that_means_nothing_is_refused_before_anything_is_measured(text: str, message: str) -> None:
    with pytest.raises(EvalError, match=message):
        gates.parse([text])
