"""harry serve: the MCP server on stdio."""

from __future__ import annotations

import sys

from harry_mcp.cli import logs
from harry_mcp.settings import load_settings


def serve() -> None:
    """Serve the knowledge base to an MCP host over standard input and output.

    An MCP host starts this; see the README for its configuration. Logs go to stderr.
    """
    settings = load_settings()
    logs.configure(settings.log_level)
    if sys.stdin.isatty():
        sys.stderr.write("harry speaks the Model Context Protocol here and waits for a host. Press Ctrl-C to leave.\n")
    from harry_mcp.cli.console import run
    from harry_mcp.server.server import build_server
    from harry_mcp.server.stdio import serve_stdio

    run(serve_stdio(build_server(settings)))
