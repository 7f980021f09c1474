"""What every process of this server is to know for a while, whichever of them heard it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Hashable
from hashlib import sha256
from typing import TYPE_CHECKING

from harry_mcp.domain.recent import Recent
from harry_mcp.errors import HarryError

if TYPE_CHECKING:
    from harry_mcp.app import App

log = logging.getLogger(__name__)

_MOST_HERE = 1024
_PATIENCE = 2.0


class Marks:
    """Kept in PostgreSQL for all, and here as well, so that this process knows what it heard while that is away.

    A mark that another process set is not seen meanwhile. That is harmless: without PostgreSQL nothing can be done
    that a mark would keep anyone from.
    """

    def __init__(self, app: Callable[[], Awaitable[App]]) -> None:
        self._app = app
        self._here: Recent[Hashable, float] = Recent(_MOST_HERE)

    async def set(self, kind: str, name: str, *, seconds: float) -> None:
        """Set a mark for some seconds."""
        self._here.put((kind, name), time.monotonic() + seconds)
        try:
            async with asyncio.timeout(_PATIENCE):
                app = await self._app()
                async with app.database.reading() as unit:
                    await unit.shared_marks.set(kind, _key(name), seconds=seconds)
        except (HarryError, TimeoutError) as error:
            log.warning("other processes are not told of a mark (%s): %s", kind, error)

    async def drop(self, kind: str, name: str) -> None:
        """Take a mark away."""
        self._here.put((kind, name), 0.0)
        try:
            async with asyncio.timeout(_PATIENCE):
                app = await self._app()
                async with app.database.reading() as unit:
                    await unit.shared_marks.drop(kind, _key(name))
        except (HarryError, TimeoutError) as error:
            log.warning("other processes keep a mark (%s): %s", kind, error)

    async def is_set(self, kind: str, name: str) -> bool:
        """Whether any process set it and its time is not over."""
        if time.monotonic() < (self._here.get((kind, name)) or 0.0):
            return True
        try:
            async with asyncio.timeout(_PATIENCE):
                app = await self._app()
                async with app.database.reading() as unit:
                    return await unit.shared_marks.is_set(kind, _key(name))
        except (HarryError, TimeoutError) as error:
            log.warning("marks of other processes cannot be read (%s): %s", kind, error)
            return False


def _key(name: str) -> str:
    return sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
