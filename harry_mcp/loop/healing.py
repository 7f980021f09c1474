"""Acts that are tried once more where PostgreSQL went away and came back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from harry_mcp.errors import DatabaseUnavailable
from harry_mcp.storage.database import Database

P = ParamSpec("P")
T = TypeVar("T")


class OnDatabase:
    """Something that works on a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def heal(self) -> None:
        """Throw away the connections that a PostgreSQL that is gone left behind.

        Raises:
            DatabaseUnavailable: it is still gone.
        """
        await self._database.heal()


S = TypeVar("S", bound=OnDatabase)


def healed(act: Callable[Concatenate[S, P], Awaitable[T]]) -> Callable[Concatenate[S, P], Awaitable[T]]:
    """A method that is run again after :meth:`OnDatabase.heal`. All that it writes must be one transaction, or do no
    harm when it is written twice."""

    @wraps(act)
    async def run(self: S, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await act(self, *args, **kwargs)
        except DatabaseUnavailable:
            await self.heal()
            return await act(self, *args, **kwargs)

    return run
