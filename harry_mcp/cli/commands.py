"""The commands of ``harry``, put together."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from harry_mcp import __version__
from harry_mcp.cli import (
    ask,
    chat,
    crawl,
    curate,
    demo,
    doctor,
    documents,
    eval_calibrate,
    eval_corrections,
    eval_facts,
    eval_grow,
    eval_list,
    eval_loop,
    eval_run,
    export,
    importing,
    ingest,
    jobs,
    reembed,
    search,
    serve,
    token,
    vectors,
    worker,
)

_HELP = """A knowledge base for AI agents that says how far its answers can be trusted.

Exit codes: 0 done; 1 failed; 2 the input or a setting cannot be used; 3 the database; 4 a model or service;
5 done in part, the output names what was left out; 6 a gate of `harry eval` did not hold;
130 stopped by Ctrl-C; 141 nobody read the output to its end; 143 ended by SIGTERM.
"""

app = typer.Typer(name="harry", help=_HELP, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.command("serve")(serve.serve)
app.command("ingest")(ingest.ingest)
app.command("crawl")(crawl.crawl)
app.add_typer(token.commands, name="token")
app.add_typer(documents.commands, name="documents")
app.add_typer(jobs.commands, name="jobs")
app.command("worker")(worker.worker)
app.command("ask")(ask.ask)
app.command("chat")(chat.chat)
app.command("search")(search.search)
app.add_typer(curate.commands, name="curate")
app.command("reembed")(reembed.reembed)
app.add_typer(vectors.commands, name="vectors")
app.command("export")(export.export)
app.command("import")(importing.import_)
app.command("doctor")(doctor.doctor)
app.command("demo")(demo.demo)
evaluations = typer.Typer(help="Measure retrieval, verdicts and learning on golden sets.", no_args_is_help=True)
evaluations.command("run")(eval_run.eval_run)
evaluations.command("calibrate")(eval_calibrate.eval_calibrate)
evaluations.command("corrections")(eval_corrections.eval_corrections)
evaluations.command("facts")(eval_facts.eval_facts)
evaluations.command("loop")(eval_loop.eval_loop)
evaluations.command("grow")(eval_grow.eval_grow)
evaluations.command("list")(eval_list.eval_list)
evaluations.command("show")(eval_list.eval_show)
app.add_typer(evaluations, name="eval")


def _print_version(value: bool) -> None:
    if value:
        sys.stdout.write(f"harry {__version__}\n")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave."),
    ] = False,
) -> None:
    """Options of every command."""
