"""harry serve --http: wires the server and the console, which do not know each other."""

from __future__ import annotations

import secrets
import socket
import sys
from collections.abc import Callable

from harry_mcp.cli.serve import app_page
from harry_mcp.console.login_page import Taken
from harry_mcp.console.routes import Console, Parts
from harry_mcp.errors import SettingsError
from harry_mcp.server.door import Door
from harry_mcp.server.gates import Entrance
from harry_mcp.server.http import build_http_app
from harry_mcp.server.issued_tokens import IssuedTokens
from harry_mcp.server.issuer_keys import IssuerKeys
from harry_mcp.server.leaving import Leaving
from harry_mcp.server.listening import address_of, bind, serve_http
from harry_mcp.server.marks import Marks
from harry_mcp.server.protected_resource import metadata_address, metadata_routes
from harry_mcp.server.rates import Rates
from harry_mcp.server.sealing import keys_for
from harry_mcp.server.server import build_server
from harry_mcp.server.tokens import known_tokens, new_token
from harry_mcp.server.workers import Workers, end_with_parent, say_up
from harry_mcp.settings import Settings, child_environment


async def over_http(settings: Settings, host: str | None, port: int | None, workers: int | None) -> None:
    """Serve until the task is cancelled. None leaves what the settings say."""
    settings = _asked(settings, host=host, port=port, workers=workers)
    section, others = settings.http, settings.auth.lets_in
    token = section.token.get_secret_value()
    made = "" if token or others else new_token()
    if section.replicas > 1 and (made or not section.keys):
        raise SettingsError(
            "Replicas need the same secrets. Set HARRY_HTTP__STATE_KEYS, and HARRY_HTTP__TOKEN or other tokens, alike "
            "on all of them."
        )
    # Before anything is opened: what is wrong with the tokens is said at once.
    known_tokens(settings, token or made)
    # The socket first: when the port is taken, nothing else is to be opened and closed.
    with bind(section, others=others) as listening:
        base = address_of(listening, section)

        def tell() -> None:
            _tell(base, made)

        if section.workers > 1:
            await _many(settings, token or made, listening, tell)
        else:
            await _one(settings, token or made, listening, tell)


async def as_worker(settings: Settings, descriptor: int) -> None:
    """Serve on a socket that another process of ours listens on, for as long as that one lives."""
    end_with_parent()
    with socket.socket(fileno=descriptor) as listening:
        await _one(settings, settings.http.token.get_secret_value(), listening, say_up)


async def _many(settings: Settings, token: str, listening: socket.socket, up: Callable[[], None]) -> None:
    if sys.platform == "win32":
        raise SettingsError("Several workers cannot share a port on Windows. Set HARRY_HTTP__WORKERS to 1.")
    section, descriptor = settings.http, listening.fileno()
    environment = child_environment(
        HARRY_HTTP__TOKEN=token,
        HARRY_HTTP__HOST=section.host,
        HARRY_HTTP__PORT=str(section.port),
        HARRY_HTTP__WORKERS=str(section.workers),
        HARRY_HTTP__STATE_KEYS=",".join(section.keys or (secrets.token_urlsafe(48),)),
    )
    command = [sys.executable, "-m", "harry_mcp.cli.main", "serve", "--http", "--listening", str(descriptor)]
    wait = section.drain + section.grace
    await Workers(command, environment, listening).serve(section.workers, grace=wait, up=up)


async def _one(settings: Settings, token: str, listening: socket.socket, up: Callable[[], None]) -> None:
    section = settings.http
    resource = section.public_url or f"{address_of(listening, section)}/mcp"
    issued = IssuedTokens(settings.auth, resource, IssuerKeys(settings.auth)) if settings.auth.issuer else None
    door = Door(known_tokens(settings, token), issued)
    rates = Rates(section.calls_per_minute, burst=section.burst, processes=section.processes)
    server = build_server(settings, page=app_page, notify=False)
    keys = keys_for("harry console session", section.keys)
    parts = Parts(
        door=door, taken=_taken(settings, token), rates=rates, marks=Marks(server.app), keys=keys, call=server.call
    )
    routes = [
        *Console(section, parts).routes(),
        *(metadata_routes(resource, settings.auth.issuer) if issued else ()),
    ]
    entrance = Entrance(door, rates, metadata_address(resource) if issued else "")
    leaving = Leaving()
    await serve_http(
        build_http_app(server, section, entrance, routes, leaving=leaving), listening, section, up, leaving
    )


def _taken(settings: Settings, token: str) -> Taken:
    """What opens the console. A worker is handed its token as a setting, so it cannot tell where that came from."""
    section, auth = settings.http, settings.auth
    own = "either" if section.workers > 1 else "set" if section.token.get_secret_value() else "made"
    return Taken(own=own if token else "", named=bool(auth.tokens or auth.tokens_file), issuer=bool(auth.issuer))


def _asked(settings: Settings, **given: str | int | None) -> Settings:
    changes = {name: value for name, value in given.items() if value is not None}
    return settings.model_copy(update={"http": settings.http.model_copy(update=changes)})


def _tell(base: str, made: str) -> None:
    """Where it is; and a token that was made for this start, for nobody knows it yet."""
    link = f"#token={made}" if made else ""
    sys.stderr.write(f"harry serves MCP at {base}/mcp\nThe curation console: {base}/admin{link}\n")
    if made:
        sys.stderr.write(f"Clients send this token as a bearer token, until the server stops: {made}\n")
    sys.stderr.write("Press Ctrl-C to leave.\n")
    sys.stderr.flush()
