"""A few short pages of real support notes with their questions, and half of the pages held out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.evals.golden_files import Files, write

_LONGEST = 1100
_UNANSWERED = 6


def support_questions(shared: Path, folder: Path, *, pages: int) -> Files:
    """The first short pages of techqa, the questions that they answer, and some that nothing answers."""
    source = shared / "techqa"
    short = [row for row in _rows(source / "corpus.jsonl") if len(row["text"]) < _LONGEST][:pages]
    ids = {row["id"] for row in short}
    asked = _rows(source / "queries.jsonl")
    about = [row for row in asked if ids & set(row["relevant_ids"])]
    others = [row for row in asked if not row["answerable"]][:_UNANSWERED]
    known = ids | {row["id"] for row in (*about, *others)}
    holdout = json.loads((source / "holdout.json").read_text(encoding="utf-8"))
    held = {name: [key for key in holdout[name] if key in known] for name in ("removed_documents", "now_unanswerable")}
    path = folder / "holdout.json"
    path.write_text(json.dumps(held), encoding="utf-8")
    return Files(write(folder / "corpus.jsonl", short), write(folder / "queries.jsonl", [*about, *others]), path)


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
