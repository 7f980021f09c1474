"""harry vectors: the index beside PostgreSQL that searches copies of the vectors, where the settings name one."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harry_mcp.cli.asking import confirm
from harry_mcp.cli.console import ExitCode, print_json, run, terminal
from harry_mcp.errors import InputError
from harry_mcp.settings import Settings, load_settings

if TYPE_CHECKING:
    from harry_mcp.storage.applying import OutboxApplier
    from harry_mcp.storage.database import Database
    from harry_mcp.storage.mirror_status import MirrorStatus

commands = typer.Typer(help="Look after Qdrant, where it searches the vectors.", no_args_is_help=True)
_Json = Annotated[bool, typer.Option("--json", help="Print the result for a script.")]


@commands.command("status")
def status(as_json: _Json = False) -> None:
    """Who searches the vectors, and how far a Qdrant beside PostgreSQL is behind. Fails when it is not whole."""
    found = run(_status(load_settings()))
    if as_json:
        print_json({"index": "qdrant" if found else "pgvector", **(_as_json(found) if found else {})})
    elif found is None:
        terminal().print("PostgreSQL searches the vectors; there is nothing beside it.", soft_wrap=True)
    else:
        for line in in_words(found):
            terminal().print(line, soft_wrap=True, markup=False)
    if found is not None and not found.whole:
        raise typer.Exit(ExitCode.FAILED)


@commands.command("rebuild")
def rebuild(as_json: _Json = False) -> None:
    """Fill Qdrant anew from PostgreSQL, after it was lost or restored. Meanwhile searches find part, and say so."""
    done = run(_rebuild(load_settings()))
    if as_json:
        print_json({"told": done})
    else:
        terminal().print(f"Qdrant was told {done} vectors.", soft_wrap=True)


@commands.command("off")
def off(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: _Json = False,
) -> None:
    """Give Qdrant up: remove its collections, and write no changes down for it any more.

    Run it with the settings of Qdrant, when every server has gone back to pgvector.
    """
    confirm("Remove the collections of this knowledge base from Qdrant", yes=yes)
    dropped = run(_off(load_settings()))
    if as_json:
        print_json({"dropped": dropped})
    else:
        terminal().print(f"{dropped} collections removed. Set HARRY_VECTORS__INDEX to pgvector.", soft_wrap=True)


@asynccontextmanager
async def mirror(database: Database, settings: Settings) -> AsyncGenerator[OutboxApplier | None, None]:
    """What keeps the index beside PostgreSQL up to date; None where there is no such index."""
    from harry_mcp.providers.factory import build_vector_store
    from harry_mcp.storage.applying import OutboxApplier

    store = build_vector_store(settings)
    if store is None:
        yield None
        return
    try:
        yield OutboxApplier(database, store, settings.vectors)
    finally:
        await store.close()


def in_words(found: MirrorStatus) -> list[str]:
    """How far the index is, a line for each thing."""
    lines: list[str] = []
    if not found.watched:
        lines.append("No change is written down for Qdrant yet; a server that is started with it begins.")
    behind = found.backlog
    lines.append(f"{behind.changes} changes to tell" + (f", for {behind.seconds:,.0f} s" if behind.changes else ""))
    for each in found.collections:
        own = each.collection
        use = "in use" if own.active else "not in use"
        held = "lost; run `harry vectors rebuild`" if each.points is None else f"{each.points} of {own.vectors} vectors"
        advice = "" if each.whole or each.points is None else "; run `harry vectors rebuild`"
        lines.append(f"{own.name}, {use}, {held}{advice}")
    return lines


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncGenerator[OutboxApplier | None, None]:
    from harry_mcp.providers.factory import build_embedder
    from harry_mcp.storage.database import Database

    database = await Database.open(settings, build_embedder(settings).space, any_space=True)
    try:
        async with mirror(database, settings) as applier:
            yield applier
    finally:
        await database.close()


async def _status(settings: Settings) -> MirrorStatus | None:
    async with _opened(settings) as applier:
        return await applier.status() if applier else None


async def _rebuild(settings: Settings) -> int:
    async with _opened(settings) as applier:
        with _progress_bar() as report:
            return await _needed(applier).rebuild(report)


async def _off(settings: Settings) -> int:
    async with _opened(settings) as applier:
        return await _needed(applier).give_up()


def _needed(applier: OutboxApplier | None) -> OutboxApplier:
    if applier is None:
        raise InputError(
            "HARRY_VECTORS__INDEX is pgvector: there is nothing beside PostgreSQL. Set it to qdrant first."
        )
    return applier


def _as_json(found: MirrorStatus) -> dict[str, Any]:
    return {
        "whole": found.whole,
        "watched": found.watched,
        "changes": found.backlog.changes,
        "seconds": found.backlog.seconds,
        "collections": [
            {
                "name": each.collection.name,
                "active": each.collection.active,
                "vectors": each.collection.vectors,
                "points": each.points,
                "pending": each.collection.pending,
            }
            for each in found.collections
        ],
    }


@contextmanager
def _progress_bar() -> Generator[Callable[[int, int], None], None, None]:
    """A bar on stderr; nothing where nobody looks."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = terminal(stderr=True)
    columns = (TextColumn("telling Qdrant"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("telling", total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)
