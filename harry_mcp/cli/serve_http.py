"""harry serve --http: wires the server and the console, which do not know each other."""

from __future__ import annotations

import sys

from harry_mcp.cli.serve import app_page
from harry_mcp.console.routes import Console
from harry_mcp.server.http import build_http_app
from harry_mcp.server.listening import address_of, bind, serve_http
from harry_mcp.server.server import build_server
from harry_mcp.server.tokens import StaticToken, holder_of_the_token, new_token
from harry_mcp.settings import HttpSection, Settings


async def over_http(settings: Settings, host: str | None, port: int | None) -> None:
    """Serve until the task is cancelled. None leaves what the settings say."""
    section = _asked(settings.http, host, port)
    token = section.token.get_secret_value()
    made = "" if token else new_token()
    # The socket first: when the port is taken, nothing else is to be opened and closed.
    with bind(section) as listening:
        holder = StaticToken(token or made, holder_of_the_token(settings)).holder
        server = build_server(settings, page=app_page)
        app = build_http_app(server, section, holder, Console(section, holder, server.call).routes())
        base = address_of(listening, section)
        await serve_http(app, listening, section, lambda: _tell(base, made))


def _asked(section: HttpSection, host: str | None, port: int | None) -> HttpSection:
    given = {"host": host, "port": port}
    return section.model_copy(update={name: value for name, value in given.items() if value is not None})


def _tell(base: str, made: str) -> None:
    """Where it is; and a token that was made for this start, for nobody knows it yet."""
    link = f"#token={made}" if made else ""
    sys.stderr.write(f"harry serves MCP at {base}/mcp\nThe curation console: {base}/admin{link}\n")
    if made:
        sys.stderr.write(f"Clients send this token as a bearer token, until the server stops: {made}\n")
    sys.stderr.write("Press Ctrl-C to leave.\n")
    sys.stderr.flush()
