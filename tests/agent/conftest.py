"""One filled knowledge base for the tests of a module that only ask it, and one of its own for each that changes it."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from pydantic import SecretStr

from harry_mcp.app import App
from harry_mcp.settings import Settings, load_settings
from harry_mcp.storage.embedded import EmbeddedPostgres
from tests.loop.small_base import filled

_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def base(postgres: EmbeddedPostgres, template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """Settings of a knowledge base with the small base in it. Questions leave traces there; nothing else may."""
    with filled_by(_fill, postgres, template, tmp_path_factory.mktemp("agent")) as settings:
        yield settings


@contextmanager
def filled_by(
    fill: Callable[[Settings], Coroutine[None, None, None]], postgres: EmbeddedPostgres, template: str, folder: Path
) -> Generator[Settings]:
    """Settings of a knowledge base of its own, filled once."""
    name = f"agent_{next(_numbers)}"
    with psycopg.connect(postgres.dsn, autocommit=True) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY").format(
                sql.Identifier(name), sql.Identifier(template)
            )
        )
        url = SecretStr(make_conninfo(postgres.dsn, dbname=name))
        settings = load_settings({"HARRY_DATA_DIR": str(folder)}).model_copy(update={"database_url": url})
        asyncio.run(fill(settings))
        yield settings
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


async def _fill(settings: Settings) -> None:
    async with await App.open(settings) as app:
        await filled(app)


@pytest.fixture
async def fresh(app: App, settings: Settings) -> Settings:
    """The same, for one test alone."""
    await filled(app)
    return settings
