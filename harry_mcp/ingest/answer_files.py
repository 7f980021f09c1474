"""Questions with their answers, from JSON lines or a table.

Of each entry ``question`` and ``answer`` are read, and what it rests on: ``sources`` (in JSON a list of addresses or
of ``{title, url}``, in a table addresses with spaces between them) or ``url`` with ``title``. Other fields are passed
over.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from itertools import chain, dropwhile, islice
from typing import Any, cast

from harry_mcp.domain.plain import one_line
from harry_mcp.domain.verified import ProposedResponse, VerifiedSource
from harry_mcp.errors import InputError
from harry_mcp.ingest.json_lines import parsed

# They are held in memory, with their vectors.
_MOST = 20_000
# Characters of one field of a table; the library's own limit is under what an answer may have.
_LONGEST_FIELD = 1_000_000

# What Excel and others write, the one of the standard first. Many countries have a comma in numbers.
_DELIMITERS = (",", ";", "\t", "|")
_HINT = re.compile(r'"?sep=.?"?', re.IGNORECASE)
# Lines that the row with the names may go over.
_LONGEST_HEAD = 50
_NEEDED = ("question", "answer")
_READ = (*_NEEDED, "url", "title", "sources")
# Names of columns that an error tells.
_SHOWN = 12

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
    """A table with commas, semicolons, tabs or bars, whose first row names the columns, in letters of any case.

    Each line has its end, for a cell may go over several.

    Raises:
        InputError: a column is missing, a row is broken, or there are too many.
    """
    csv.field_size_limit(_LONGEST_FIELD)
    before, first, rest = _head(lines)
    delimiter, names = _columns(first)
    reader = csv.reader(chain(first, rest), delimiter=delimiter, strict=True)
    found: list[ProposedResponse] = []
    try:
        next(reader)
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if any(cell.strip() for cell in row[len(names) :]):
                raise InputError(
                    f"Line {before + reader.line_num} has more cells than the first. Nothing was imported."
                )
            found.append(_entry(before + reader.line_num, dict(zip(names, row, strict=False))))
            _bounded(found)
    except csv.Error as error:
        raise InputError(
            f"Line {before + reader.line_num} is no row of a table ({error}). Nothing was imported."
        ) from error
    return found


def _head(lines: Lines) -> tuple[int, list[str], Iterator[str]]:
    """How many lines stand before the first row, those that may hold it, and those behind them. Empty ones before it
    are passed over, and so is the line by which Excel is told the delimiter."""
    begun = dropwhile(lambda each: not each[1].strip() or _HINT.fullmatch(each[1].strip()) is not None, lines)
    first = list(islice(begun, _LONGEST_HEAD))
    return first[0][0] - 1 if first else 0, [line for _, line in first], (line for _, line in begun)


def _columns(first: list[str]) -> tuple[str, list[str]]:
    """The delimiter by which the first row names what is needed, and its names.

    Raises:
        InputError: by none it does; it says what was found.
    """
    read = [(delimiter, _names(first, delimiter)) for delimiter in _DELIMITERS]
    delimiter, names = next((each for each in read if set(_NEEDED) <= set(each[1])), max(read, key=lambda r: len(r[1])))
    if missing := [name for name in _NEEDED if name not in names]:
        there = ", ".join(f"`{one_line(name, 40)}`" for name in names[:_SHOWN]) or "none"
        raise InputError(
            f"The first row names no column {' and no column '.join(f'`{name}`' for name in missing)}; it names "
            f"{there}. A table needs `question` and `answer`, and may have `url`, `title` and `sources`. Nothing was "
            "imported."
        )
    if twice := next((name for name in _READ if names.count(name) > 1), ""):
        raise InputError(f"The first row names the column `{twice}` twice. Nothing was imported.")
    return delimiter, names


def _names(first: list[str], delimiter: str) -> list[str]:
    try:
        row = next(csv.reader(first, delimiter=delimiter, strict=True), list[str]())
    except csv.Error:
        return []
    # Any space, also the kind that is not broken, and marks that stand for nothing.
    return ["".join(each for each in name.casefold() if each.isprintable() and not each.isspace()) for name in row]


def _entry(number: int, value: Mapping[str, Any]) -> ProposedResponse:
    question, answer = value.get("question"), value.get("answer")
    if not isinstance(question, str) or not isinstance(answer, str):
        raise InputError(f"Line {number} has no `question` and `answer` as texts. Nothing was imported.")
    if not question.strip() or not answer.strip():
        has, lacks = ("question", "answer") if question.strip() else ("answer", "question")
        what = (
            f"has a{'n' if has == 'answer' else ''} {has} and no {lacks}"
            if (question + answer).strip()
            else "is empty but for what it rests on"
        )
        raise InputError(f"Line {number} {what}. Complete it, or take it out. Nothing was imported.")
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
