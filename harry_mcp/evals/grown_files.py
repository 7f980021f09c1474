"""The files that golden rows are grown into. Rows are only ever added: a test that changes by itself tests nothing."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from harry_mcp.errors import InputError

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Added:
    """What became of some rows. ``differing`` are in the file under their id and say something else there."""

    path: Path
    added: int
    known: int
    differing: list[str]


def check(path: Path) -> dict[str, Row]:
    """The rows of a file that was grown before, by id; none where there is no file yet.

    Raises:
        InputError: the file cannot be read, or was not grown: it would be spoilt by what is added to it.
    """
    rows: dict[str, Row] = {}
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if line.strip():
            row = _row(line)
            if row is None:
                raise InputError(
                    f"{path}, line {number}: this is no row that `harry eval grow` wrote, so nothing is added to the "
                    "file. Name another one."
                )
            rows[str(row["id"])] = row
    return rows


def add(path: Path, rows: Sequence[Row]) -> Added:
    """Append the rows that a file does not have yet. It is replaced as a whole, so a crash leaves it as it was.

    Raises:
        InputError: the file was not grown, or cannot be written.
    """
    known = check(path)
    fresh = [row for row in rows if row["id"] not in known]
    differing = [str(row["id"]) for row in rows if row["id"] in known and _says(known[row["id"]]) != _says(row)]
    if fresh:
        text = _text(path)
        before = text if not text or text.endswith("\n") else text + "\n"
        _replace(path, before + "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in fresh))
    return Added(path=path, added=len(fresh), known=len(rows) - len(fresh), differing=differing)


def _says(row: Row) -> Row:
    """A row without where it comes from, which moves on while the row says the same."""
    return {name: value for name, value in row.items() if name != "provenance"}


def _row(line: str) -> Row | None:
    try:
        data: Any = json.loads(line)
    except json.JSONDecodeError:
        return None
    row = cast(Row, data) if isinstance(data, dict) else {}
    return row if isinstance(row.get("id"), str) and isinstance(row.get("provenance"), dict) else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.") from error


def _replace(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            if path.exists():
                shutil.copymode(path, name)
            else:
                # What mkstemp makes is its owner's alone; a golden file lies in a repository.
                Path(name).chmod(0o644)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error}.") from error
