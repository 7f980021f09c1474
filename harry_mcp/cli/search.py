"""harry search: one question, from the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from harry_mcp.cli.console import print_json, run, terminal
from harry_mcp.settings import Settings, load_settings

if TYPE_CHECKING:
    from harry_mcp.server.schemas import SearchReply


def search(
    question: Annotated[str, typer.Argument(help="The question, in quotes.")],
    k: Annotated[
        int | None, typer.Option("-k", "--hits", min=1, max=50, help="Number of hits. Default: HARRY_RETRIEVE__K.")
    ] = None,
    topic: Annotated[str, typer.Option(help="Only documents of this topic.")] = "",
    source: Annotated[str, typer.Option(help="Only documents whose source or URL begins with this.")] = "",
    language: Annotated[str, typer.Option(help="Only documents in this language, such as en.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print what the MCP tool would return.")] = False,
) -> None:
    """Search the knowledge base and print the scored, cited result."""
    reply = run(_search(load_settings(), question, k or 0, topic, source, language))
    if as_json:
        print_json(reply.model_dump(mode="json"))
    else:
        print_reply(reply)


async def _search(settings: Settings, question: str, k: int, topic: str, source: str, language: str) -> SearchReply:
    from harry_mcp.app import App
    from harry_mcp.domain.search import SearchFilters
    from harry_mcp.server.tools.search_kb import search_reply

    async with await App.open(settings) as app:
        filters = SearchFilters(topic=topic, source=source, language=language)
        result = await app.loop.search(question, k=k, filters=filters)
    return search_reply(result, budget=settings.reply.text_characters)


def print_reply(reply: SearchReply) -> None:
    """The result for a person: the verdict, then the hits with their scores and sources."""
    from rich.markup import escape
    from rich.panel import Panel
    from rich.table import Table

    from harry_mcp.cli.excerpt import excerpt

    colour = {"strong": "green", "moderate": "yellow", "weak": "red"}
    console = terminal()
    verdict = reply.verdict
    shade = colour[verdict.band]
    body = [
        f"[bold {shade}]{verdict.band}[/]  score {verdict.score:.2f}  answerable {verdict.answerable:.2f}  "
        f"next action [bold]{verdict.next_action}[/]",
        escape(verdict.reason),
        f"[dim]{reply.search_id}  status {reply.status}  scored by {escape(verdict.relevance_source)}[/]",
    ]
    if reply.gap_id:
        body.append(f"[dim]opened the gap {reply.gap_id}[/]")
    if reply.degraded:
        body.append(f"[red]degraded: {', '.join(reply.degraded)}[/]")
    console.print(Panel("\n".join(body), title=escape(reply.query), title_align="left", border_style=shade))
    table = Table(box=None, padding=(0, 1), show_header=True, header_style="bold")
    for name, justify in (("", "right"), ("score", "right"), ("passage", "left")):
        table.add_column(name, justify=justify)  # pyright: ignore[reportArgumentType] - rich's Literal
    for hit in reply.hits:
        where = hit.title + (f" > {hit.heading}" if hit.heading else "")
        shown = excerpt(hit.text, reply.query, 300)
        lines = [
            f"[bold]{escape(where)}[/]",
            escape(shown),
            f"[dim]{escape(hit.url or hit.source)}[/]",
        ]
        lines.extend(f"[yellow]{escape(caveat)}[/]" for caveat in hit.caveats)
        table.add_row(str(hit.rank), f"[{colour[hit.band]}]{hit.score:.2f}[/]", "\n".join(lines))
    console.print(table)
    if reply.citations:
        console.print("[bold]Sources[/]")
        for citation in reply.citations:
            console.print(f"  {escape(citation.title)}  [cyan]{escape(citation.url or citation.source)}[/]")
    timings = ", ".join(f"{name} {value:.0f}" for name, value in reply.timings_ms.items())
    console.print(f"[dim]{timings} ms[/]")
