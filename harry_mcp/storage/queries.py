"""Named SQL: reads ``storage/sql/*.sql`` and runs what it finds.

A file is a row of queries, each opened by its name and its cardinality, then one line of purpose::

    -- name: document_by_id :one
    -- The document under an id.
    SELECT ... FROM documents WHERE id = %(id)s

``:one`` gives a row or ``None``, ``:many`` a list, ``:run`` the number of rows touched. Rows come back as
instances of the class that the caller names, matched by column name.
"""

from __future__ import annotations

import functools
import re
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Generic, LiteralString, TypeVar, cast

from psycopg import AsyncConnection, AsyncCursor, sql
from psycopg.rows import class_row

from harry_mcp.errors import StorageError

_HEADER = re.compile(r"^-- name: (?P<name>[a-z][a-z0-9_]*) :(?P<cardinality>one|many|run)\n", re.MULTILINE)

Parameters = Mapping[str, object]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Query:
    """One named statement."""

    name: str
    cardinality: str
    purpose: str
    text: LiteralString

    def numbered(self, **numbers: int) -> Query:
        """This query with ``{name}`` places filled with whole numbers, where SQL takes no parameter."""
        return _filled(self, tuple(numbers.items()))


@functools.lru_cache(maxsize=256)
def _filled(query: Query, numbers: tuple[tuple[str, int], ...]) -> Query:
    filled = sql.SQL(query.text).format(**{name: sql.Literal(value) for name, value in numbers})
    return Query(query.name, query.cardinality, query.purpose, cast(LiteralString, filled.as_string(None)))


@functools.cache
def load(aggregate: str) -> dict[str, Query]:
    """The queries of ``sql/<aggregate>.sql`` by name.

    Raises:
        StorageError: a query without a purpose, or two of one name; a fault of the package, not of its user.
    """
    text = resources.files("harry_mcp.storage.sql").joinpath(f"{aggregate}.sql").read_text(encoding="utf-8")
    found: dict[str, Query] = {}
    headers = list(_HEADER.finditer(text))
    for header, following in zip(headers, [*headers[1:], None], strict=True):
        body = text[header.end() : following.start() if following else len(text)].strip()
        purpose, _, statement = body.partition("\n")
        name = header["name"]
        if not purpose.startswith("-- ") or name in found:
            raise StorageError(f"The query {name} in {aggregate}.sql has no purpose or stands there twice.")
        found[name] = Query(name, header["cardinality"], purpose[3:], cast(LiteralString, statement.strip()))
    return found


async def many(
    connection: AsyncConnection[Any], query: Query, row: type[T], parameters: Parameters | None = None
) -> list[T]:
    """All rows, as instances of ``row``."""
    async with connection.cursor(row_factory=class_row(row), binary=True) as cursor:
        await cursor.execute(query.text, parameters, prepare=True)
        return await cursor.fetchall()


async def one(
    connection: AsyncConnection[Any], query: Query, row: type[T], parameters: Parameters | None = None
) -> T | None:
    """The first row, or ``None``."""
    async with connection.cursor(row_factory=class_row(row), binary=True) as cursor:
        await cursor.execute(query.text, parameters, prepare=True)
        return await cursor.fetchone()


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """Rows that are on their way: in a pipeline they come with those of the next statement that is waited for."""

    cursor: AsyncCursor[T]

    async def one(self) -> T | None:
        async with self.cursor as cursor:
            return await cursor.fetchone()

    async def many(self) -> list[T]:
        async with self.cursor as cursor:
            return await cursor.fetchall()


async def ask(
    connection: AsyncConnection[Any], query: Query, row: type[T], parameters: Parameters | None = None
) -> Answer[T]:
    """Send a statement whose rows are read later."""
    cursor = connection.cursor(row_factory=class_row(row), binary=True)
    await cursor.execute(query.text, parameters, prepare=True)
    return Answer(cursor)


async def tuples(
    connection: AsyncConnection[Any], query: Query, parameters: Parameters | None = None
) -> list[tuple[Any, ...]]:
    """All rows as tuples in the order of the columns: for the hottest statement, which builds no objects to sort."""
    async with connection.cursor(binary=True) as cursor:
        await cursor.execute(query.text, parameters, prepare=True)
        return await cursor.fetchall()


async def stream(
    connection: AsyncConnection[Any], query: Query, parameters: Parameters | None = None, *, at_once: int
) -> AsyncGenerator[str, None]:
    """The one text column of rows without end, so many in memory at once. Needs a transaction around it."""
    async with connection.cursor(name=query.name) as cursor:
        cursor.itersize = at_once
        await cursor.execute(query.text, parameters)
        async for (text,) in cursor:
            yield text


async def run(connection: AsyncConnection[Any], query: Query, parameters: Parameters | None = None) -> int:
    """Run for the effect; the number of rows touched."""
    async with connection.cursor() as cursor:
        await cursor.execute(query.text, parameters, prepare=True)
        return cursor.rowcount
