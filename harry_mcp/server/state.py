"""What lives as long as the server: the settings, and the app once it is open."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context

from harry_mcp.domain.people import Principal, Role
from harry_mcp.errors import HarryError
from harry_mcp.server.marks import Marks
from harry_mcp.settings import Settings, user_name

if TYPE_CHECKING:
    from harry_mcp.app import App

log = logging.getLogger(__name__)
# Opening the app imports heavy libraries, which would slow down the first answer; a host that says nothing for
# this long is not waiting for one.
_QUIET_SECONDS = 1.0
_DECLINED = "declined"
_DECLINED_SECONDS = 86_400.0
PRINCIPAL = "harry.principal"


class ServerState:
    """Opens the app in the background once the first message is answered; tools wait for it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.first_message_answered = asyncio.Event()
        self._opening: asyncio.Task[App] | None = None
        self.marks = Marks(self.app)

    async def note_declined(self, caller: Principal, wish: str) -> None:
        """Remember, in every process, that a person was asked about a wish of this caller and did not allow it."""
        await self.marks.set(_DECLINED, f"{caller.name} {wish}", seconds=_DECLINED_SECONDS)

    async def was_declined(self, caller: Principal, wish: str) -> bool:
        return await self.marks.is_set(_DECLINED, f"{caller.name} {wish}")

    async def forget_declined(self, caller: Principal, wish: str) -> None:
        """One yes in the conversation is for one time: the same wish is asked about again."""
        await self.marks.drop(_DECLINED, f"{caller.name} {wish}")

    async def app(self) -> App:
        """The open app.

        Raises:
            HarryError: it cannot be opened; the next call tries again.
        """
        if self._opening is None or _failed(self._opening):
            self._opening = asyncio.create_task(_open(self.settings), name="harry-open")
        # Shielded: a caller that gives up must not stop the opening that others wait for.
        return await asyncio.shield(self._opening)

    async def recorded(self) -> None:
        """Wait until the searches that were answered so far are written down, where there may be any."""
        if self._opening is not None and self._opening.done() and not _failed(self._opening):
            await self._opening.result().loop.recorded()

    async def warm_up(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self.first_message_answered.wait(), _QUIET_SECONDS)
        try:
            await self.app()
        except HarryError as error:
            log.error("not ready yet: %s", error)

    async def close(self) -> None:
        if self._opening is not None and not _failed(self._opening):
            app = await self._opening
            await app.close()


def caller_of(ctx: Context[ServerState]) -> Principal:
    """Who calls a tool."""
    return caller_in(ctx.request_context)


def caller_in(ctx: ServerRequestContext[ServerState, Any]) -> Principal:
    """Who sends a message. Over stdio it is the user of this machine, in the role that the settings give.

    Whoever lets a request in over another way notes its principal: in the scope of an HTTP request, or in place of
    the request where there is none. One without is a fault of ours and is not served.
    """
    request: Any = ctx.request
    if request is None:
        role = Role[ctx.lifespan_context.settings.role.upper()]
        return Principal(subject=user_name(), via="stdio", role=role, trusted=True)
    return request if isinstance(request, Principal) else request.scope[PRINCIPAL]


def is_read_by_a_model(ctx: Context[ServerState]) -> bool:
    """Whether a reply must be short. A page of our own, which calls in this process, shows all of it."""
    return not isinstance(ctx.request_context.request, Principal)


def _failed(task: asyncio.Task[App]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


async def _open(settings: Settings) -> App:
    # The import alone takes a second on a slow machine; a thread keeps the event loop answering meanwhile.
    app_class = await asyncio.to_thread(_import_app)
    return await app_class.open(settings)


def _import_app() -> type[App]:
    from harry_mcp.app import App

    return App


@asynccontextmanager
async def running(settings: Settings) -> AsyncGenerator[ServerState, None]:
    """The state for the server's lifespan."""
    state = ServerState(settings)
    warming = asyncio.create_task(state.warm_up(), name="harry-warm-up")
    try:
        yield state
    finally:
        warming.cancel()
        await asyncio.gather(warming, return_exceptions=True)
        await state.close()
