"""The ASGI application: the protocol at /mcp, whether it is up at /healthz and /readyz, and pages beside them."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from harry_mcp.errors import HarryError
from harry_mcp.server.abandoned import Abandoned
from harry_mcp.server.gates import Entrance, HostGate, TokenGate
from harry_mcp.server.leaving import Leaving, LetGo
from harry_mcp.server.request_ids import RequestIds
from harry_mcp.server.server import HarryServer
from harry_mcp.settings import HttpSection

_READY_SECONDS = 2.0
_AGAIN_SECONDS = 5.0


def build_http_app(
    server: HarryServer,
    settings: HttpSection,
    entrance: Entrance,
    pages: Sequence[BaseRoute] = (),
    *,
    leaving: Leaving,
) -> Starlette:
    """The application, whose lifespan is the server's. ``pages`` are routes that let people in by themselves."""
    protocol = server.streamable_http_app(
        stateless_http=True,
        json_response=True,
        max_request_body_size=settings.body_bytes,
        # The gate before every route looks at Host and Origin already.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    (endpoint,) = (route for route in protocol.routes if isinstance(route, Route))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None, None]:
        async with server.session_manager.run():
            settling = asyncio.create_task(_settle(server), name="harry-settle")
            try:
                yield
            finally:
                settling.cancel()
                await asyncio.gather(settling, return_exceptions=True)

    async def ready(_: Request) -> Response:
        if leaving.announced:
            return _uncached({"ready": False, "why": "It is about to end."}, 503)
        return await _readiness(server)

    return Starlette(
        routes=[
            Route("/mcp", TokenGate(_PostOnly(Abandoned(endpoint.app)), entrance)),
            Route("/healthz", _alive),
            Route("/readyz", ready),
            *pages,
        ],
        middleware=[
            Middleware(RequestIds),
            Middleware(LetGo, leaving=leaving),
            Middleware(HostGate, names=settings.names),
        ],
        lifespan=lifespan,
    )


class _PostOnly:
    """Refuses the stream that clients may open by GET: nothing is ever sent on it, and it keeps servers from ending."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app if scope["method"] == "POST" else Response(status_code=405, headers={"Allow": "POST"})
        await app(scope, receive, send)


async def _settle(server: HarryServer) -> None:
    """Leave what was loaded for good to the garbage collector no more, once all is loaded.

    It looks through some 200,000 objects each time, for a quarter of a second on a slow machine, and finds nothing:
    all calls wait for it meanwhile.
    """
    while True:
        try:
            await server.app()
        except HarryError:
            await asyncio.sleep(_AGAIN_SECONDS)
        else:
            gc.collect()
            gc.freeze()
            return


async def _alive(_: Request) -> Response:
    return _uncached({"alive": True}, 200)


async def _readiness(server: HarryServer) -> Response:
    state = server.state
    try:
        if state is None:
            raise HarryError("It is not running.")
        async with asyncio.timeout(_READY_SECONDS):
            app = await state.app()
            await app.database.versions()
    except (HarryError, TimeoutError):
        # Not why: whoever may ask need not hold the token. The log says it.
        return _uncached({"ready": False, "why": "The database does not answer, or not yet."}, 503)
    return _uncached({"ready": True}, 200)


def _uncached(body: dict[str, object], status: int) -> Response:
    return JSONResponse(body, status_code=status, headers={"Cache-Control": "no-store"})
