"""harry ingest: the user's own documents into the knowledge base."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from harry_mcp.cli.console import ExitCode, print_json, run, terminal
from harry_mcp.cli.cost import agree, costs_money, expected, told
from harry_mcp.cli.who import user_of
from harry_mcp.errors import InputError
from harry_mcp.settings import Settings, load_settings

if TYPE_CHECKING:
    from harry_mcp.domain.documents import IngestOutcome, SourceDocument
    from harry_mcp.ingest.estimating import Estimate
    from harry_mcp.ingest.ingester import Progress
    from harry_mcp.ingest.sources import Unreadable


def ingest(
    targets: Annotated[list[str], typer.Argument(help="Files, folders, globs (in quotes) or http(s) addresses.")],
    topic: Annotated[str, typer.Option(help="Topic of these documents.")] = "",
    allow_private: Annotated[bool, typer.Option("--allow-private", help="Also private and local addresses.")] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Print what it would write and cost, and write nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask, whatever it costs.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report for a script.")] = False,
) -> None:
    """Read documents into the knowledge base. What did not change is not written again.

    Read are Markdown, reST, HTML, text, PDF, Word, PowerPoint, Excel, CSV and EPUB.

    Documents that are gone from a folder are reported and kept.
    """
    settings = load_settings()
    wanted = _Wanted(targets, topic, allow_private or settings.ingest.private_addresses)
    if estimate:
        found = run(_estimate(settings, wanted))
        if as_json:
            print_json(asdict(found))
        else:
            terminal().print(told(found), markup=False, soft_wrap=True)
        return
    outcome = run(_ingest(settings, wanted, yes=yes))
    if as_json:
        print_json(asdict(outcome))
    else:
        print_outcome(outcome)
    if outcome.failed or outcome.template_contexts:
        raise typer.Exit(ExitCode.PARTIAL)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is to be read."""

    targets: list[str]
    topic: str
    allow_private: bool


async def _ingest(settings: Settings, wanted: _Wanted, *, yes: bool) -> IngestOutcome:
    from harry_mcp.app import App
    from harry_mcp.domain.ingestions import IngestionRequest
    from harry_mcp.ingest.on_record import note_ingest
    from harry_mcp.ingest.sources import missing_sources

    documents: Iterable[SourceDocument | Unreadable] = _found(settings, wanted)
    async with await App.open(settings) as app:
        if costs_money(app):
            documents = list(documents)  # read once, counted, then ingested
            agree(expected(app, await app.ingester.changed(documents)).dollars, settings.ingest.ask_above, yes=yes)
        if app.ingester.situator is not None:
            app.ingester.situator.allow()
        async with app.database.transaction() as unit:
            for target in wanted.targets:
                await note_ingest(unit, IngestionRequest(source=target, topic=wanted.topic), user_of(settings))
        with progress_bar() as report:
            outcome = await app.ingester.ingest(documents, report=report)
        async with app.database.reading() as unit:
            known = await unit.documents.sources_under("file:")
    gone = {source for target in wanted.targets for source in missing_sources(target, known)}
    outcome.missing.extend(sorted(gone))
    return outcome


async def _estimate(settings: Settings, wanted: _Wanted) -> Estimate:
    from harry_mcp.app import App

    documents = _found(settings, wanted)
    async with await App.open(settings) as app:
        return expected(app, await app.ingester.changed(documents))


def _found(settings: Settings, wanted: _Wanted) -> Iterator[SourceDocument | Unreadable]:
    """The documents of all targets. A wrong path is told at once, before anything is started."""
    from harry_mcp.ingest.targets import items_of, read_all, topic_of

    if not all(
        target.strip() for target in wanted.targets
    ):  # else an unset variable of a script would mean this folder
        raise InputError("A target is empty. Name a file, a folder, a glob or an address; `.` is this folder.")
    found = [items_of(target, settings.ingest, allow_private=wanted.allow_private) for target in wanted.targets]
    return read_all((item for items in found for item in items), topic_of(wanted.topic))


@contextmanager
def progress_bar() -> Generator[Callable[[Progress], None], None, None]:
    """A line on stderr that counts documents and chunks and names the last one; nothing where nobody looks."""
    from rich.markup import escape
    from rich.progress import Progress as Bar
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    console = terminal(stderr=True)
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("reading")
        documents = chunks = 0

        def report(step: Progress) -> None:
            nonlocal documents, chunks
            documents += 1
            chunks += step.chunks
            name = escape(step.title if len(step.title) <= 60 else step.title[:59] + "…")
            bar.update(task, description=f"{documents} documents, {chunks} chunks  [dim]{step.outcome} {name}[/]")

        yield report


def print_outcome(outcome: IngestOutcome) -> None:
    """The report for a person."""
    from rich.markup import escape

    console = terminal()
    console.print(
        f"[bold]{len(outcome.added)}[/] added, [bold]{len(outcome.changed)}[/] changed, "
        f"[bold]{len(outcome.unchanged)}[/] unchanged; {outcome.chunks_written} chunks written"
    )
    for source in outcome.missing:
        console.print(f"[yellow]gone from its folder, kept in the knowledge base:[/] {escape(source)}", soft_wrap=True)
    for source, reason in outcome.template_contexts.items():
        console.print(f"[yellow]in part without a context:[/] {escape(f'{source}: {reason}')}", soft_wrap=True)
    for source, reason in outcome.failed.items():
        console.print(f"[red]skipped:[/] {escape(_named(source, reason))}", soft_wrap=True)


def _named(source: str, reason: str) -> str:
    """The reason, with the source before it when it does not name it itself, as an address or as a path."""
    from harry_mcp.ingest.sources import file_of, shown_path

    path = file_of(source)
    names = (source, shown_path(path)) if path else (source,)
    return reason if any(name in reason for name in names) else f"{source}: {reason}"
