"""CUR-11: how well superseded facts are told from rewordings.

The golden set is one file, a JSON object a line: ``{"id", "old", "new", "label"}``, a statement before and after an
edit, with label 1 where a fact was superseded and 0 where it was only worded otherwise. ``kind``, where there is one,
names what sort of change it is. Other keys are passed over.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from harry_mcp.domain.alignment import Aligned, distance
from harry_mcp.errors import EvalError
from harry_mcp.evals.metrics import auroc
from harry_mcp.stages.curate.judging import FactJudge

_CURVE = tuple(step / 20 for step in range(6, 20))
# Pairs that a model judges together, as many as one question of the service holds.
_AT_ONCE = 20


class GoldenEdit(BaseModel):
    """A statement before and after an edit."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str = ""
    kind: str = ""
    old: str
    new: str
    label: Literal[0, 1]


def load(path: Path) -> list[GoldenEdit]:
    """Read a golden set.

    Raises:
        EvalError: the file is missing, a line does not fit, or all labels are the same.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise EvalError(f"{path} cannot be read: {error}.") from error
    edits: list[GoldenEdit] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            edits.append(GoldenEdit.model_validate(json.loads(line)))
        except (json.JSONDecodeError, ValidationError) as error:
            raise EvalError(
                f'{path}, line {number} is no {{"old", "new", "label"}} with label 0 or 1. Mend the line.'
            ) from error
    if len({edit.label for edit in edits}) < 2:
        raise EvalError(f"{path} needs edits of both labels: 1 for a superseded fact, 0 for other words.")
    return edits


async def evaluate(edits: Sequence[GoldenEdit], judge: FactJudge, fact: float) -> dict[str, Any]:
    """AUROC of the score and of plain Jaccard distance, precision and recall at the setting and at others, the same by
    kind, and the pairs on the wrong side of it."""
    scores, judges = await _scores(edits, judge)
    truths = [bool(edit.label) for edit in edits]
    labels, values = np.array(truths), np.array(scores)
    plain = [distance(edit.old, edit.new) for edit in edits]
    wrong = [
        {"id": edit.id, "label": edit.label, "score": round(score, 3), "old": edit.old, "new": edit.new}
        for edit, score in zip(edits, scores, strict=True)
        if (score >= fact) != bool(edit.label)
    ]
    return {
        "edits": len(edits),
        "superseded": int(labels.sum()),
        "judged_by": sorted(judges),
        "auroc": round(auroc(scores, truths), 4),
        "auroc_of_jaccard": round(auroc(plain, truths), 4),
        "at": _at(values, labels, fact),
        "curve": [_at(values, labels, floor) for floor in _CURVE],
        "kinds": [_kind(kind, edits, scores, fact) for kind in dict.fromkeys(edit.kind for edit in edits) if kind],
        "wrong": wrong,
    }


def _kind(kind: str, edits: Sequence[GoldenEdit], scores: Sequence[float], fact: float) -> dict[str, Any]:
    """How the superseded facts of a kind fare against the rewordings of all kinds (AUROC -1 where it has none)."""
    pairs = list(zip(edits, scores, strict=True))
    facts = [score for edit, score in pairs if edit.label and edit.kind == kind]
    others = [score for edit, score in pairs if not edit.label]
    reworded = [score for edit, score in pairs if not edit.label and edit.kind == kind]
    truths = [True] * len(facts) + [False] * len(others)
    return {
        "kind": kind,
        "superseded": len(facts),
        "found": sum(score >= fact for score in facts),
        "reworded": len(reworded),
        "flagged_in_vain": sum(score >= fact for score in reworded),
        "auroc": round(auroc([*facts, *others], truths), 4) if facts else -1.0,
    }


async def _scores(edits: Sequence[GoldenEdit], judge: FactJudge) -> tuple[list[float], set[str]]:
    scores: list[float] = []
    judges: set[str] = set()
    for start in range(0, len(edits), _AT_ONCE):
        pairs = [Aligned(edit.old, edit.new) for edit in edits[start : start + _AT_ONCE]]
        judgement = await judge.superseded(pairs)
        scores += judgement.scores
        judges.add(judgement.by)
    return scores, judges


def _at(values: np.ndarray[Any, Any], labels: np.ndarray[Any, Any], floor: float) -> dict[str, float]:
    """Precision (-1 where nothing is flagged) and recall from a score on."""
    flagged = values >= floor
    right = int((flagged & labels).sum())
    precision = right / int(flagged.sum()) if flagged.any() else -1.0
    return {"from": floor, "precision": round(precision, 4), "recall": round(right / int(labels.sum()), 4)}
