"""harry crawl: a whole site into the knowledge base."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from harry_mcp.cli.console import ExitCode, print_json, run, terminal
from harry_mcp.cli.cost import agree, costs_money, expected, told
from harry_mcp.cli.who import user_of
from harry_mcp.settings import Settings, load_settings

if TYPE_CHECKING:
    from harry_mcp.app import App
    from harry_mcp.ingest.crawl.crawler import CrawlRequest
    from harry_mcp.ingest.crawl.outlook import Outlook
    from harry_mcp.ingest.crawl.report import Because, CrawlReport
    from harry_mcp.ingest.crawl.run import CrawlProgress
    from harry_mcp.ingest.estimating import Estimate

_SHOWN = 20  # addresses of one kind that a person is shown; --json has them all


def crawl(
    url: Annotated[str, typer.Argument(help="Where to start: an http(s) address.")],
    prefix: Annotated[str, typer.Option(help="Only pages under this path, such as /docs.")] = "/",
    depth: Annotated[int | None, typer.Option(min=0, help="Links from the start to the farthest page.")] = None,
    pages: Annotated[int | None, typer.Option(min=1, help="Pages to ask for in this run.")] = None,
    topic: Annotated[str, typer.Option(help="Topic of all its pages.")] = "",
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Ask for every page whole, also for those that did not change.")
    ] = False,
    allow_private: Annotated[bool, typer.Option("--allow-private", help="Also private and local addresses.")] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Look at some pages, print what all would cost, and write nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask, whatever it costs.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole report for a script.")] = False,
) -> None:
    """Read a site into the knowledge base: by its llms.txt, its sitemaps and its links, as its robots.txt allows.

    A run that was ended goes on where it was. Crawling again asks only for what changed, and for pages that would be
    cut otherwise now. Pages that are gone are reported and kept. Where Claude or Voyage are paid for it, the cost is
    judged by some of its pages and asked for above HARRY_INGEST__ASK_ABOVE; contexts cost no more without --yes.
    """
    from harry_mcp.ingest.crawl.crawler import CrawlRequest, plan
    from harry_mcp.ingest.targets import topic_of

    settings = load_settings()
    request = CrawlRequest(
        url=url,
        prefix=prefix,
        depth=depth,
        pages=pages,
        allow_private=allow_private or settings.ingest.private_addresses,
        topic=topic_of(topic),
        fresh=fresh,
    )
    plan(request, settings.crawl)  # asked before anything is started, so that a wrong address costs nothing
    if estimate:
        _print_estimate(*run(_estimate(settings, request)), as_json=as_json)
        return
    report = run(_crawl(settings, request, yes=yes))
    if as_json:
        print_json(asdict(report))
    else:
        print_report(report)
    if report.partial:
        raise typer.Exit(ExitCode.PARTIAL)


async def _crawl(settings: Settings, request: CrawlRequest, *, yes: bool) -> CrawlReport:
    from harry_mcp.app import App
    from harry_mcp.domain.ingestions import IngestionRequest
    from harry_mcp.ingest.on_record import note_ingest

    async with await App.open(settings) as app:
        if costs_money(app):
            dollars = 0.0 if yes else (await _outlook(app, request))[1].dollars
            # Pages that nobody has seen may cost more than was judged, so only who was asked spends without a limit.
            if agree(dollars, settings.ingest.ask_above, yes=yes) and app.ingester.situator is not None:
                app.ingester.situator.allow()
        asked = IngestionRequest(
            source=request.url, crawl=True, topic=request.topic, pages=request.pages or 0, prefix=request.prefix
        )
        async with app.database.transaction() as unit:
            await note_ingest(unit, asked, user_of(settings))
        with progress_line() as report:
            return await app.crawler.crawl(request, report=report)


async def _estimate(settings: Settings, request: CrawlRequest) -> tuple[Outlook, Estimate]:
    from harry_mcp.app import App

    async with await App.open(settings) as app:
        return await _outlook(app, request)


async def _outlook(app: App, request: CrawlRequest) -> tuple[Outlook, Estimate]:
    """What a crawl will meet, and what that will cost judged by some of its pages."""
    from harry_mcp.ingest.estimating import scaled

    outlook = await app.crawler.outlook(request)
    sample = expected(app, [app.ingester.prepare(document) for document in outlook.sample])
    return outlook, scaled(sample, outlook.pages)


def _print_estimate(outlook: Outlook, estimate: Estimate, *, as_json: bool) -> None:
    if as_json:
        about = {"basis": outlook.basis, "stored": outlook.stored, "sampled": len(outlook.sample)}
        print_json(about | asdict(estimate))
        return
    why = {
        "listed": "as the site lists them",
        "known": "as the last crawl met them",
        "limit": "for the site lists none, and that is the limit (--pages)",
    }
    most = "At most" if outlook.basis == "limit" else "About"
    size = (
        f"{most} {outlook.pages:,} pages to write, {why[outlook.basis]}; {outlook.stored:,} more are stored already. "
        f"Judged by {len(outlook.sample)} of them, about {estimate.chunks:,} chunks."
    )
    terminal().print(told(estimate, size), markup=False, soft_wrap=True)


@contextmanager
def progress_line() -> Generator[Callable[[CrawlProgress], None], None, None]:
    """A bar on stderr that counts addresses and names the last one; nothing where nobody looks."""
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    console = terminal(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("robots.txt and sitemaps", total=None)

        def report(step: CrawlProgress) -> None:
            url = step.url if len(step.url) <= 60 else "…" + step.url[-59:]
            description = f"[dim]{step.outcome}[/] {escape(url)}"
            bar.update(task, completed=step.done, total=step.met, description=description)

        yield report


def print_report(report: CrawlReport) -> None:
    """The report for a person: the sum, then what needs eyes, by reason."""
    counts = {
        "new": len(report.new),
        "changed": len(report.changed),
        "unchanged": len(report.unchanged),
        "duplicates": len(report.duplicates),
        "redirected": len(report.redirected),
        "gone": len(report.gone),
        "refused": len(report.refused),
        "failed": len(report.failed),
        "blocked": len(report.blocked),
    }
    again = ", going on where the last run was ended" if report.resumed else ""
    _print(f"[bold]{report.seen}[/] addresses met{again}; {report.chunks_written} chunks written")
    _print(", ".join(f"[bold]{number}[/] {name}" for name, number in counts.items()))
    _print_reasons("refused", "yellow", report.refused, examples=False)
    _print_reasons("gone, kept until you archive it", "yellow", report.gone)
    _print_reasons("failed", "red", report.failed)
    if report.stopped:
        _print(
            f"[red]{_safe(report.stopped)}[/] It cost {len(report.blocked)} addresses; crawl again to go on with them."
        )
        _print_some(report.blocked)
    for url, reason in list(report.template_contexts.items())[:_SHOWN]:
        _print(f"[yellow]in part without a context:[/] {_safe(f'{url}: {reason}')}")
    if report.spent or report.template_contexts:
        limit = f" of the ${report.allowance:.2f} that may be without asking" if report.allowance >= 0 else ""
        _print(f"Contexts cost ${report.spent:.2f}{limit}.")
    for warning in report.warnings:
        _print(f"[red]warning:[/] {_safe(warning)}")


def _print_reasons(title: str, colour: str, entries: dict[str, Because], *, examples: bool = True) -> None:
    if not entries:
        return
    if not examples:
        numbers = Counter(entry.reason for entry in entries.values())
        _print(f"[{colour}]{title}:[/] " + ", ".join(f"{number} {name}" for name, number in numbers.most_common()))
        return
    for url, entry in list(entries.items())[:_SHOWN]:
        _print(f"[{colour}]{title}:[/] {_safe(url)}: {_safe(entry.why)}")
    if len(entries) > _SHOWN:
        _print(f"[{colour}]{title}:[/] and {len(entries) - _SHOWN} more; --json has them all")


def _print_some(urls: list[str]) -> None:
    for url in urls[:_SHOWN]:
        _print(f"  {_safe(url)}")
    if len(urls) > _SHOWN:
        _print(f"  and {len(urls) - _SHOWN} more; --json has them all")


def _print(line: str) -> None:
    terminal().print(line, soft_wrap=True)


def _safe(text: str) -> str:
    from rich.markup import escape

    return escape(text)
