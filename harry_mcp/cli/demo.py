"""harry demo: the main job on real documents, as an agent's host would run it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import SecretStr

from harry_mcp.cli.console import print_json, run, terminal
from harry_mcp.cli.excerpt import excerpt
from harry_mcp.cli.ingest import print_outcome, progress_bar
from harry_mcp.cli.search import print_reply
from harry_mcp.errors import HarryError
from harry_mcp.settings import Settings, child_environment, load_settings

if TYPE_CHECKING:
    from mcp.client import Client

    from harry_mcp.domain.documents import IngestOutcome
    from harry_mcp.server.schemas import SearchReply

ANSWERED = "How do I create an HNSW index with pgvector?"
UNANSWERED = "How do I create an index in MongoDB?"
AGAIN = "Which index of pgvector should we build here?"
OFFICIAL = "How can I make an HNSW index using pgvector?"
CORRECTION = {
    "wrong": "Any of the index types of pgvector will do here.",
    "truth": "Here every pgvector index is HNSW with vector_cosine_ops.",
    "lesson": "In this company a pgvector index is always HNSW with vector_cosine_ops.",
}


def demo(
    question: Annotated[str, typer.Option(help="Ask this instead of the first question.")] = ANSWERED,
    as_json: Annotated[bool, typer.Option("--json", help="Print both results as the MCP tool returns them.")] = False,
) -> None:
    """Fill a knowledge base from the documentation of the packages that harry needs, and ask it over MCP.

    It has a data folder of its own, so your knowledge base is not touched. No key and no network are needed.
    """
    from rich.markup import escape

    settings = load_settings()
    home = settings.data_dir / "demo"
    console = terminal(stderr=as_json)
    console.print(f"[bold]1.[/] Starting PostgreSQL with pgvector in {home} and reading the packages that harry needs")
    started = time.perf_counter()
    outcome = run(_fill(settings.model_copy(update={"data_dir": home, "database_url": SecretStr("")})))
    if not as_json:
        print_outcome(outcome)
    console.print(f"[dim]{time.perf_counter() - started:.1f} s[/]\n")
    console.print("[bold]2.[/] Starting `harry serve` as an MCP host would, and asking over standard input and output")
    played = run(_play(home, question, console.print))
    first, second = played[0], played[1]
    if as_json:
        print_json([reply.model_dump(mode="json") for reply in played])
        return
    console.print("\n[bold]3.[/] A question that the documents answer")
    print_reply(first)
    console.print("\n[dim]What the agent received, the hit's text and all but the first hit left out:[/]")
    print_json(_shortened(first))
    console.print("\n[bold]4.[/] A question that they do not answer")
    print_reply(second)
    console.print(f"\n[bold]5.[/] A correction, and a question in other words: {AGAIN}")
    for item in played[2].corrections:
        console.print(f"comes with it: [bold]{escape(item.lesson)}[/] [dim]relevance {item.relevance:.2f}[/]")
    console.print(f"\n[bold]6.[/] The first answer, praised and approved, asked again in other words: {OFFICIAL}")
    served = played[3].verified
    console.print(f"{served.match} match, similarity {served.similarity:.2f}: [bold]{escape(served.answer)}[/]")
    console.print(
        f"\nThis knowledge base stays in {home}. Fill your own with `harry ingest PATH`, then plug `harry serve` into "
        "your agent; the README shows how."
    )


def _shortened(reply: SearchReply) -> dict[str, Any]:
    fields = reply.model_dump(mode="json")
    hits = [hit | {"text": f"({len(hit['text'])} characters)"} for hit in fields["hits"][:1]]
    return fields | {"hits": hits}


async def _fill(settings: Settings) -> IngestOutcome:
    from harry_mcp.app import App
    from harry_mcp.ingest.packages import installed_packages, requirements
    from harry_mcp.ingest.sources import read_each

    async with await App.open(settings) as app:
        with progress_bar() as report:
            documents = read_each(installed_packages(requirements("harry-mcp")))
            return await app.ingester.ingest(documents, report=report)


async def _play(home: Path, question: str, say: Callable[[str], None]) -> list[SearchReply]:
    """The loop as an agent plays it: an answer, a miss, the answer after a correction, and the official one."""
    from mcp.client import Client
    from mcp.client.stdio import StdioServerParameters

    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "harry_mcp.cli.main", "serve"],
        env=child_environment(HARRY_DATA_DIR=str(home), HARRY_DATABASE_URL="", HARRY_ROLE="admin"),
    )
    started = time.perf_counter()
    async with Client(server) as client:
        tools = await client.list_tools()
        say(f"[dim]tools after {time.perf_counter() - started:.1f} s: {', '.join(t.name for t in tools.tools)}[/]")
        first = await _search(client, question)
        say(f"[dim]first answer after {time.perf_counter() - started:.1f} s[/]")
        second = await _search(client, UNANSWERED)
        await _call(client, "submit_correction", CORRECTION)
        corrected = await _search(client, AGAIN)
        answer = excerpt(first.hits[0].text, question, 160) if first.hits else "There is no answer."
        praised = await _call(
            client, "submit_feedback", {"result_id": first.search_id, "rating": "up", "answer": answer}
        )
        approval = {"response_id": praised["candidate_id"], "action": "approve"}
        await _call(client, "review_verified", approval)
        official = await _search(client, OFFICIAL)
        say(f"[dim]all six calls after {time.perf_counter() - started:.1f} s[/]")
    return [first, second, corrected, official]


async def _search(client: Client, question: str) -> SearchReply:
    from harry_mcp.server.schemas import SearchReply

    return SearchReply.model_validate(await _call(client, "search_kb", {"query": question, "k": 3}))


async def _call(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    if result.is_error or result.structured_content is None:
        raise HarryError(f"The server did not answer {tool}: {result}")
    return result.structured_content
