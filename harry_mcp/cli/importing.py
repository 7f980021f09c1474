"""harry import: what was exported, or questions with their answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from harry_mcp.cli.console import ExitCode, print_json, run, terminal
from harry_mcp.cli.files import reading
from harry_mcp.domain.counting import counted
from harry_mcp.errors import InputError, ProviderError
from harry_mcp.settings import Settings, load_settings, user_name

if TYPE_CHECKING:
    from harry_mcp.app import App
    from harry_mcp.domain.transfer import ImportReport

Lines = Iterator[tuple[int, str]]


@dataclass(frozen=True, slots=True)
class _Done:
    """What an import did. ``problem``: what keeps its vectors from being complete."""

    records: ImportReport | None = None
    answers: int = 0
    added_answers: int = 0
    embedded: int = 0
    problem: str = ""


def import_(
    file: Annotated[str, typer.Argument(help="An export, or questions and answers. - is standard input.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing; say what would be.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Embed what lacks a vector whatever it costs.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report for a script.")] = False,
) -> None:
    """Take in what `harry export` wrote, or questions with their answers.

    An empty knowledge base becomes what the exported one was. Another one gets what it lacks: what is there already
    stays, and where the file has it otherwise, the report says so. A file is taken whole or not at all, and taking it
    again changes nothing. Texts are embedded anew unless the file has vectors of the model in use.

    Questions and answers come as CSV, of commas, semicolons or tabs, with the columns question and answer, or as JSON
    lines; url, title and sources are optional. They become candidates for official answers, which a curator approves.
    """
    done = run(_import(load_settings(), file, dry_run=dry_run, yes=yes, quiet=as_json))
    if as_json:
        print_json(_as_json(done, dry_run=dry_run))
    else:
        _print(done, dry_run=dry_run)
    if done.problem or (done.records and done.records.different):
        raise typer.Exit(ExitCode.PARTIAL)


async def _import(settings: Settings, file: str, *, dry_run: bool, yes: bool, quiet: bool) -> _Done:
    from harry_mcp.app import App

    with reading(file) as lines:
        first = next(lines, None)
        if first is None:
            raise InputError(f"{file} is empty. Nothing was imported.")
        head = _object(first[1])
        if head is not None and head.get("kind") == "harry-export":
            from harry_mcp.domain.transfer import read_header
            from harry_mcp.storage.migrator import migrations

            header = read_header(head, schema=len(migrations()))
            async with await App.open(settings) as app:
                with _progress(quiet=quiet) as report:
                    from harry_mcp.loop.importing import import_records

                    records = await import_records(app.database, header, lines, dry_run=dry_run, report=report)
                if dry_run:
                    return _Done(records)
                return await _embedded(app, records, yes=yes)
        return await _answers(settings, chain([first], lines), json_lines=head is not None, dry_run=dry_run)


async def _embedded(app: App, records: ImportReport, *, yes: bool) -> _Done:
    """Give vectors to all that lacks one. What came in stays when that fails."""
    from harry_mcp.cli.cost import agree
    from harry_mcp.ingest.reembedding import reembed

    space = app.database.space
    embedded = 0
    try:
        if records.added:
            await app.database.vacuum()
        async with app.database.reading() as unit:
            characters = await unit.spaces.characters_missing(space)
        if characters and space.provider == "voyage":
            dollars = characters / 3 * app.settings.voyage.price / 1_000_000
            agree(dollars, app.settings.ingest.ask_above, yes=yes)
        if characters:
            embedded = (await reembed(app.database, app.embedder)).embedded
        embedded += await app.embed_missing()
    except (InputError, ProviderError) as error:
        return _Done(records, embedded=embedded, problem=f"{error} `harry reembed` embeds what has no vector yet.")
    return _Done(records, embedded=embedded)


async def _answers(settings: Settings, lines: Lines, *, json_lines: bool, dry_run: bool) -> _Done:
    from harry_mcp.app import App
    from harry_mcp.domain.people import Principal, Role
    from harry_mcp.ingest.answer_files import answers_in_json, answers_in_table

    # A table needs its line ends: a cell may go over several lines.
    found = answers_in_json(lines) if json_lines else answers_in_table((n, f"{line}\n") for n, line in lines)
    by = Principal(subject=user_name(), via="cli", role=Role.ADMIN, trusted=True)
    async with await App.open(settings) as app:
        added = await app.loop.verified.add_all(found, origin="import", by=by, dry_run=dry_run)
    return _Done(answers=len(found), added_answers=len(added))


def _object(line: str) -> dict[str, Any] | None:
    """A line as a JSON object; None when it is the head of a table."""
    if re.match(r"\s*\[\s*(\{|$)", line):
        raise InputError("The file is one list of JSON. Write one object a line, without it. Nothing was imported.")
    if not line.lstrip().startswith("{"):
        return None
    try:
        return cast(dict[str, Any], json.loads(line))
    except ValueError as error:
        raise InputError(f"Line 1 is no JSON ({error}). Nothing was imported.") from error


@contextmanager
def _progress(*, quiet: bool) -> Generator[Callable[[int], None], None, None]:
    """A count on stderr; nothing where nobody looks."""
    from rich.progress import Progress, SpinnerColumn, TextColumn

    console = terminal(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.completed:,.0f} records read"))
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task("reading", total=None)
        yield lambda done: bar.update(task, completed=done)


def _as_json(done: _Done, *, dry_run: bool) -> dict[str, object]:
    if done.records is None:
        return {"dry_run": dry_run, "answers": done.answers, "added": done.added_answers}
    kinds = {
        kind: {
            "added": told.added,
            "unchanged": told.unchanged,
            "different": told.different,
            "differing": told.differing,
            "titles": told.titles,
        }
        for kind, told in done.records.kinds.items()
    }
    return {"dry_run": dry_run, "kinds": kinds, "embedded": done.embedded, "problem": done.problem}


def _print(done: _Done, *, dry_run: bool) -> None:
    console = terminal()
    would = "would be added" if dry_run else "added"

    def say(text: str) -> None:
        console.print(text, markup=False, soft_wrap=True)

    if done.records is None:
        here = done.answers - done.added_answers
        added = counted(done.added_answers, "candidate for an official answer", "candidates for official answers")
        others = "1 is here already or comes" if here == 1 else f"{here} are here already or come"
        say(f"{added} {would}, {others} twice")
        return
    for kind, told in done.records.kinds.items():
        if told.added or told.unchanged or told.different:
            say(f"{kind}: {told.added} {would}, {told.unchanged} unchanged, {told.different} different here")
        if told.differing:
            say("  stay as they are here: " + ", ".join(told.named()))
    if not done.records.kinds:
        say("The export holds no records.")
    if done.embedded:
        say(f"{counted(done.embedded, 'text')} embedded")
    if done.problem:
        say(done.problem)
