"""Listening on a port with uvicorn, and going in order when told to."""

from __future__ import annotations

import asyncio
import errno
import socket
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import cast

import uvicorn
from starlette.types import ASGIApp

from harry_mcp.errors import HarryError, SettingsError
from harry_mcp.server.connections import raise_limit, timed
from harry_mcp.server.leaving import Leaving
from harry_mcp.settings import HttpSection

# What is kept open, and was not told yet that we leave, may carry one more call in this time.
_LAST_CALLS_SECONDS = 1.0
_TICK = 0.02


class _Listener(uvicorn.Server):
    """Leaves signals to the command, which cancels the task; uvicorn's own way loses the exit code."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


def bind(settings: HttpSection, *, others: bool = False) -> socket.socket:
    """A socket on the host and the port. ``others``: tokens beside the one of these settings let people in.

    Raises:
        SettingsError: there is no such address, it is not this machine's, it is open to others with too short a
            token, or another program has the port.
    """
    host, port = settings.host, settings.port
    if settings.open_to_others and (settings.token.get_secret_value() or not others):
        raise SettingsError(
            f"{host} is open to other machines. Set HARRY_HTTP__TOKEN to 32 or more random characters, or listen on "
            "127.0.0.1."
        )
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise SettingsError(
            f"There is no address {host!r} to listen on. Set HARRY_HTTP__HOST to an IP address."
        ) from error
    try:
        if sys.platform != "win32":  # there it would let two programs share a port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            fault = f"Another program listens on port {port} of {host}. Choose another with --port; 0 takes a free one."
        elif error.errno == errno.EACCES:
            fault = f"Port {port} may not be used by this user. Choose one above 1023 with --port."
        else:
            fault = f"{host} is no address of this machine. Listen on 127.0.0.1."
        raise SettingsError(fault) from error
    return listening


def address_of(listening: socket.socket, settings: HttpSection) -> str:
    """Where browsers and clients find it, with the port that it really has."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{listening.getsockname()[1]}"


async def serve_http(
    app: ASGIApp, listening: socket.socket, settings: HttpSection, up: Callable[[], None], leaving: Leaving
) -> None:
    """Serve until the task is cancelled; calls that run then get ``grace`` seconds. ``up`` is called once it answers.

    It goes in steps, so that no call is lost: ``leaving`` is announced, the port is closed after ``drain`` seconds,
    connections that are open come to an end, and so do the calls that run.

    Raises:
        HarryError: the application did not start.
    """
    raise_limit()
    config = uvicorn.Config(
        app,
        http=timed(settings.request_seconds),
        log_config=None,  # the root logger's way holds for all
        access_log=False,
        server_header=False,
        forwarded_allow_ips="127.0.0.1,::1",
        timeout_keep_alive=settings.idle_seconds,
        timeout_graceful_shutdown=settings.grace,
        lifespan="on",
        ws="none",
    )
    listener = _Listener(config)
    serving = asyncio.create_task(listener.serve(sockets=[listening]), name="harry-http")
    try:
        await _started(listener, serving)
        up()
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        # A second one, from who does not want to wait, skips what is left of it.
        await _leave(listener, listening, leaving, settings.drain)
        raise
    finally:
        listener.should_exit = True
        await asyncio.gather(serving, return_exceptions=True)


async def _leave(listener: uvicorn.Server, listening: socket.socket, leaving: Leaving, drain: float) -> None:
    leaving.announce()
    await asyncio.sleep(drain)
    waiting = list(_waiting(listening))
    for server in listener.servers:
        server.close()
    loop = asyncio.get_running_loop()
    for each in waiting:
        await loop.connect_accepted_socket(lambda: _protocol(listener), each)
    for _ in range(round(_LAST_CALLS_SECONDS / _TICK)):
        if not listener.server_state.connections:
            break
        await asyncio.sleep(_TICK)


def _waiting(listening: socket.socket) -> Generator[socket.socket, None, None]:
    """Who has connected and was not served yet: closing the port would break these connections off."""
    # Not blocking: the loop made it so.
    with suppress(OSError):
        while True:
            connected, _ = listening.accept()
            connected.setblocking(False)
            yield connected


def _protocol(listener: uvicorn.Server) -> asyncio.Protocol:
    made = cast("Callable[..., asyncio.Protocol]", listener.config.http_protocol_class)
    return made(config=listener.config, server_state=listener.server_state, app_state=listener.lifespan.state)


async def _started(listener: uvicorn.Server, serving: asyncio.Task[None]) -> None:
    while not listener.started:
        if serving.done():
            raise HarryError("The HTTP server did not start; the log says why.")
        await asyncio.sleep(_TICK)
