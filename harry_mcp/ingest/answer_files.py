"""Questions with their answers, from JSON lines or a table with commas.

Of each entry ``question`` and ``answer`` are read, and what it rests on: ``sources`` (in JSON a list of addresses or
of ``{title, url}``, in a table addresses with spaces between them) or ``url`` with ``title``. Other fields are passed
over.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from typing import Any, cast

from harry_mcp.domain.verified import ProposedResponse, VerifiedSource
from harry_mcp.errors import InputError
from harry_mcp.ingest.json_lines import parsed

# They are held in memory, with their vectors.
_MOST = 20_000
# Characters of one field of a table; the library's own limit is under what an answer may have.
_LONGEST_FIELD = 1_000_000

Lines = Iterator[tuple[int, str]]


def answers_in_json(lines: Lines) -> list[ProposedResponse]:
    """One JSON object a line.

    Raises:
        InputError: a line is none, or there are too many.
    """
    found: list[ProposedResponse] = []
    for number, line in lines:
        if not line.strip():
            continue
        found.append(_entry(number, parsed(number, line)))
        _bounded(found)
    return found


def answers_in_table(lines: Lines) -> list[ProposedResponse]:
    """A table with commas, whose first row names the columns.

    Raises:
        InputError: a column is missing, a row is broken, or there are too many.
    """
    csv.field_size_limit(_LONGEST_FIELD)
    reader = csv.reader((line for _, line in lines), strict=True)
    found: list[ProposedResponse] = []
    try:
        names = [name.strip().lower() for name in next(reader, list[str]())]
        if not {"question", "answer"} <= set(names):
            raise InputError("The first row names no columns `question` and `answer`. Nothing was imported.")
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if len(row) > len(names):
                raise InputError(f"Line {reader.line_num} has more cells than the first. Nothing was imported.")
            found.append(_entry(reader.line_num, dict(zip(names, row, strict=False))))
            _bounded(found)
    except csv.Error as error:
        raise InputError(f"Line {reader.line_num} is no row of a table ({error}). Nothing was imported.") from error
    return found


def _entry(number: int, value: Mapping[str, Any]) -> ProposedResponse:
    question, answer = value.get("question"), value.get("answer")
    if not isinstance(question, str) or not isinstance(answer, str):
        raise InputError(f"Line {number} has no `question` and `answer` as texts. Nothing was imported.")
    return ProposedResponse(question=question, answer=answer, sources=tuple(_sources(number, value)))


def _sources(number: int, value: Mapping[str, Any]) -> Iterator[VerifiedSource]:
    given: object = value.get("sources") or list[object]()
    if isinstance(given, str):
        given = given.split()
    if not isinstance(given, list):
        raise InputError(f"Line {number}: `sources` is no list. Nothing was imported.")
    if isinstance(url := value.get("url"), str) and url.strip():
        yield VerifiedSource(title=_text(value.get("title")), url=url.strip())
    for each in cast(list[object], given):
        if isinstance(each, str):
            yield VerifiedSource(title="", url=each)
        elif isinstance(each, dict):
            fields = cast(dict[str, object], each)
            yield VerifiedSource(title=_text(fields.get("title")), url=_text(fields.get("url")))
        else:
            raise InputError(f"Line {number}: a source is an address or has `title` and `url`. Nothing was imported.")


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _bounded(found: list[ProposedResponse]) -> None:
    if len(found) > _MOST:
        raise InputError(f"The file has over {_MOST:,} answers. Cut it into smaller ones. Nothing was imported.")
