"""harry ingest: the user's own documents into the knowledge base."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from harry_mcp.cli.console import ExitCode, print_json, run, terminal
from harry_mcp.cli.cost import agree, told
from harry_mcp.errors import InputError
from harry_mcp.settings import Settings, load_settings

if TYPE_CHECKING:
    from harry_mcp.app import App
    from harry_mcp.domain.documents import IngestOutcome, SourceDocument
    from harry_mcp.ingest.estimating import Estimate
    from harry_mcp.ingest.ingester import Progress
    from harry_mcp.ingest.sources import SourceItem, Unreadable


def ingest(
    targets: Annotated[list[str], typer.Argument(help="Files, folders, globs (in quotes) or http(s) addresses.")],
    topic: Annotated[str, typer.Option(help="Topic of these documents.")] = "",
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Print what it would write and cost, and write nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask, whatever it costs.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report for a script.")] = False,
) -> None:
    """Read Markdown, reST, HTML and text into the knowledge base. What did not change is not written again.

    Documents that are gone from a folder are reported and kept.
    """
    if estimate:
        expected = run(_estimate(load_settings(), targets, topic))
        if as_json:
            print_json(asdict(expected))
        else:
            terminal().print(told(expected), markup=False, soft_wrap=True)
        return
    outcome = run(_ingest(load_settings(), targets, topic, yes=yes))
    if as_json:
        print_json(asdict(outcome))
    else:
        print_outcome(outcome)
    if outcome.failed or outcome.template_contexts:
        raise typer.Exit(ExitCode.PARTIAL)


async def _ingest(settings: Settings, targets: list[str], topic: str, *, yes: bool) -> IngestOutcome:
    from harry_mcp.app import App
    from harry_mcp.ingest.sources import missing_sources

    documents: Iterable[SourceDocument | Unreadable] = _found(settings, targets, topic)
    async with await App.open(settings) as app:
        if app.ingester.situator is not None or app.embedder.space.provider != "local":
            documents = list(documents)  # read once, counted, then ingested
            agree((await _expected(app, documents)).dollars, settings.ingest.ask_above, yes=yes)
        if app.ingester.situator is not None:
            app.ingester.situator.allow()
        with progress_bar() as report:
            outcome = await app.ingester.ingest(documents, report=report)
        async with app.database.reading() as unit:
            known = await unit.documents.sources_under("file:")
    gone = {source for target in targets for source in missing_sources(target, known)}
    outcome.missing.extend(sorted(gone))
    return outcome


async def _estimate(settings: Settings, targets: list[str], topic: str) -> Estimate:
    from harry_mcp.app import App

    documents = _found(settings, targets, topic)
    async with await App.open(settings) as app:
        return await _expected(app, documents)


async def _expected(app: App, documents: Iterable[SourceDocument | Unreadable]) -> Estimate:
    from harry_mcp.ingest.estimating import estimate

    s = app.settings
    return estimate(
        await app.ingester.changed(documents),
        claude=s.claude if app.ingester.situator else None,
        voyage=s.voyage if app.embedder.space.provider == "voyage" else None,
        windows=s.ingest.semantic_neighbours + 1 if s.ingest.chunking == "semantic" else 0,
    )


def _found(settings: Settings, targets: list[str], topic: str) -> Iterator[SourceDocument | Unreadable]:
    """The documents of all targets. A wrong path is told at once, before anything is started."""
    from harry_mcp.ingest.decoding import clean_text
    from harry_mcp.ingest.fetching import fetch_page
    from harry_mcp.ingest.sources import expand

    if not all(target.strip() for target in targets):  # else an unset variable of a script would mean this folder
        raise InputError("A target is empty. Name a file, a folder, a glob or an address; `.` is this folder.")
    largest = settings.ingest.file_bytes
    found = [expand(target, fetch=partial(fetch_page, largest=largest), largest=largest) for target in targets]
    return _documents((item for items in found for item in items), " ".join(clean_text(topic).split()))


def _documents(items: Iterable[SourceItem], topic: str) -> Iterator[SourceDocument | Unreadable]:
    from harry_mcp.domain.documents import SourceDocument
    from harry_mcp.ingest.sources import read_each

    for read in read_each(items):
        yield replace(read, topic=topic) if topic and isinstance(read, SourceDocument) else read


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
        where = reason if source in reason else f"{source}: {reason}"
        console.print(f"[red]skipped:[/] {escape(where)}", soft_wrap=True)
