"""Taking in what was exported: into an empty base exactly as it was, into another what it lacks.

All records come in one transaction, so that a file is taken whole or not at all. What is here already under the same
id stays, also where the file has it otherwise. Vectors are taken from the file only where they come from the model in
service; what lacks one afterwards is embedded by :func:`fill`, which goes on where an earlier run was stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from harry_mcp.domain.plain import one_line
from harry_mcp.domain.transfer import END, Header, ImportReport, KindReport, Space
from harry_mcp.errors import DatabaseUnavailable, InputError, StorageError
from harry_mcp.ingest.json_lines import parsed
from harry_mcp.storage.database import Database
from harry_mcp.storage.transfer import KINDS, VECTORS
from harry_mcp.storage.unit_of_work import UnitOfWork

# Records that travel to the database together: so many, or so many characters of them.
_MOST_ROWS = 500
_MOST_CHARACTERS = 4_000_000
# Keys that are told of what is here otherwise.
_TOLD = 20
# The columns that people know a record by, and how much of one is shown.
_TITLES = ("title", "question", "lesson", "query", "truth", "name", "url")
_TITLE_CHARACTERS = 80

Lines = Iterator[tuple[int, str]]
Report = Callable[[int], None]


class _NotForGood(Exception):
    """Ends a transaction of a dry run."""


@dataclass(slots=True)
class _Batch:
    """Records of one kind that follow one another in a file."""

    kind: str = ""
    first: int = 0
    last: int = 0
    characters: int = 0
    rows: list[str] = field(default_factory=list[str])

    @property
    def place(self) -> str:
        return f"Lines {self.first} to {self.last} ({self.kind})"


async def import_records(
    database: Database, header: Header, lines: Lines, *, dry_run: bool = False, report: Report | None = None
) -> ImportReport:
    """Take in the lines that follow a header; ``report`` is told how many records were read.

    Raises:
        InputError: a line is broken or the end is missing; nothing was stored.
        StorageError: the database refuses a record; nothing was stored.
    """
    kinds: dict[str, KindReport] = {}
    batches = _Batches(lines)
    async with database.transaction() as unit:
        shifts = await unit.transfer.set_aside(header.numbers)
    try:
        async with database.transaction() as unit:
            await unit.keywords.lock()
            await unit.vectors.require_active()
            trusted = header.space == Space.of(database.space)
            for batch in batches:
                if trusted or batch.kind not in VECTORS:
                    await _take(unit, batch, shifts, kinds)
                if report is not None:
                    report(batches.records)
            await unit.transfer.index()
            await unit.transfer.catch_up(header.revision)
            if dry_run:
                raise _NotForGood
    except _NotForGood:
        pass
    except DatabaseUnavailable:
        raise
    except StorageError as error:
        raise StorageError(f"{batches.current.place} cannot be stored. {error} Nothing was imported.") from error
    return ImportReport(header, kinds)


async def _take(unit: UnitOfWork, batch: _Batch, shifts: Mapping[str, int], kinds: dict[str, KindReport]) -> None:
    taken = await unit.transfer.take(batch.kind, batch.rows, shifts)
    told = kinds.setdefault(batch.kind, KindReport())
    told.added += taken.added
    told.unchanged += taken.same
    told.different += len(taken.differing)
    first = taken.differing[: _TOLD - len(told.differing)]
    told.differing += first
    told.titles |= _titles(batch, set(first))


def _titles(batch: _Batch, keys: set[str]) -> dict[str, str]:
    """What the records of some keys are called in the file."""
    found: dict[str, str] = {}
    for row in (json.loads(each) for each in batch.rows) if keys else ():
        key = str(row.get("id", ""))
        title = next((row[name] for name in _TITLES if isinstance(row.get(name), str) and row[name].strip()), "")
        if key in keys and title:
            found[key] = one_line(title, _TITLE_CHARACTERS)
    return found


class _Batches:
    """The records of a file in batches, up to the line that ends it."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self.records = 0
        self.current = _Batch()

    def __iter__(self) -> Iterator[_Batch]:
        batch = _Batch()
        for number, line in self._lines:
            record = parsed(number, line)
            kind = record.get("kind")
            if kind == END:
                self._end(number, record)
                if batch.rows:
                    yield self._now(batch)
                return
            row = record.get("row")
            if kind not in KINDS or not isinstance(row, dict):
                raise InputError(f"Line {number} is no record of an export. Nothing was imported.")
            if batch.rows and (
                kind != batch.kind or len(batch.rows) >= _MOST_ROWS or batch.characters > _MOST_CHARACTERS
            ):
                yield self._now(batch)
                batch = _Batch()
            self.records += 1
            batch.kind, batch.first, batch.last = str(kind), batch.first or number, number
            batch.rows.append(json.dumps(row, ensure_ascii=False))
            batch.characters += len(line)
        raise InputError(
            f"The file ends after {self.records} records without its last line: it was cut off. Nothing was imported."
        )

    def _now(self, batch: _Batch) -> _Batch:
        self.current = batch
        return batch

    def _end(self, number: int, record: Mapping[str, Any]) -> None:
        if record.get("records") != self.records:
            raise InputError(
                f"Line {number} says that {record.get('records')} records come before it, but there are "
                f"{self.records}: lines are missing. Nothing was imported."
            )
        if next(self._lines, None) is not None:
            raise InputError(f"More lines follow the end of the export at line {number}. Nothing was imported.")
