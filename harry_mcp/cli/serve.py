"""harry serve: the MCP server, on stdio or over HTTP."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from harry_mcp.cli import logs
from harry_mcp.errors import InputError
from harry_mcp.settings import load_settings


def serve(
    http: Annotated[
        bool, typer.Option("--http", help="Serve over HTTP: the protocol at /mcp, the curation console at /admin.")
    ] = False,
    host: Annotated[
        str | None, typer.Option(help="With --http: the address to listen on, else HARRY_HTTP__HOST.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="With --http: the port, else HARRY_HTTP__PORT; 0 takes a free one."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=64, help="With --http: processes that share the port, else HARRY_HTTP__WORKERS."),
    ] = None,
    listening: Annotated[int | None, typer.Option(hidden=True)] = None,
) -> None:
    """Serve the knowledge base to MCP hosts, over standard input and output or with --http over HTTP.

    Without --http an MCP host starts this; see the README for its configuration. Logs go to stderr.
    With --http it serves any number of hosts, and curators with a browser, until it is stopped.
    """
    settings = load_settings()
    logs.configure(settings.log_level)
    from harry_mcp.cli.console import run

    if http:
        from harry_mcp.cli.serve_http import as_worker, over_http

        run(over_http(settings, host, port, workers) if listening is None else as_worker(settings, listening))
        return
    if any(option is not None for option in (host, port, workers, listening)):
        raise InputError(
            "--host, --port and --workers are for HTTP. Add --http, or leave them out to serve a host on stdio."
        )
    if sys.stdin.isatty():
        sys.stderr.write("harry speaks the Model Context Protocol here and waits for a host. Press Ctrl-C to leave.\n")
    from harry_mcp.server.server import build_server
    from harry_mcp.server.stdio import serve_stdio

    run(serve_stdio(build_server(settings, page=app_page)))


def app_page() -> str:
    """The console for a host that shows it; imported when one reads it."""
    from harry_mcp.console.page import console_page

    return console_page(mode="app")
