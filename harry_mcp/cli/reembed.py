"""harry reembed: move the knowledge base to another embedding model, and back."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from harry_mcp.cli.asking import confirm
from harry_mcp.cli.console import print_json, run, terminal
from harry_mcp.cli.cost import agree
from harry_mcp.errors import InputError, ProviderError
from harry_mcp.settings import Settings, load_settings

if TYPE_CHECKING:
    from harry_mcp.domain.search import EmbeddingSpace
    from harry_mcp.ingest.reembedding import ReembedOutcome
    from harry_mcp.storage.database import Database
    from harry_mcp.storage.spaces import IdleSpace


def reembed(
    back: Annotated[bool, typer.Option("--back", help="Return to the model that was in use before.")] = False,
    drop_old: Annotated[
        bool, typer.Option("--drop-old", help="Remove the vectors of models that are not in use, and do nothing else.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask, whatever it costs.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report for a script.")] = False,
) -> None:
    """Embed the knowledge base anew with the model that the settings name, then switch to it in one step.

    The old model serves until then. Stopped or killed, the next run goes on where this one was. The old vectors stay,
    so that --back is instant while nothing was written since; --drop-old removes them.
    """
    if drop_old:
        if back:
            raise InputError("--back needs the vectors that --drop-old removes. Use one of the two.")
        _drop_old(run(_dropped(load_settings(), yes=yes, quiet=as_json)), as_json=as_json)
        return
    outcome = run(_reembed(load_settings(), back=back, yes=yes))
    if as_json:
        print_json(
            {
                "space": str(outcome.space),
                "before": str(outcome.before) if outcome.before else "",
                "embedded": outcome.embedded,
                "switched": outcome.switched,
            }
        )
    else:
        _print(outcome)


async def _reembed(settings: Settings, *, back: bool, yes: bool) -> ReembedOutcome:
    from harry_mcp.ingest.reembedding import reembed as move
    from harry_mcp.providers.factory import build_embedder, embedder_for
    from harry_mcp.storage.database import Database

    embedder = build_embedder(settings)
    database = await Database.open(settings, embedder.space, any_space=True)
    try:
        target = embedder
        if back:
            async with database.reading() as unit:
                previous = await unit.spaces.previous()
            if previous is None:
                raise InputError("There is no model to go back to: the knowledge base has had one only.")
            target = embedder_for(settings, previous.space)
        if target.space.provider == "voyage":
            agree(await _dollars(database, target.space, settings), settings.ingest.ask_above, yes=yes)
        with _progress_bar() as report:
            outcome = await move(database, target, report=report)
        await _tell_index(database, settings)
        return outcome
    finally:
        await database.close()


async def _tell_index(database: Database, settings: Settings) -> None:
    """Bring an index beside PostgreSQL up to date, or say that the servers will: the switch is done in any case."""
    from harry_mcp.cli.vectors import mirror

    async with mirror(database, settings) as applier:
        if applier is None:
            return
        try:
            await applier.catch_up()
        except ProviderError as error:
            terminal(stderr=True).print(f"Qdrant was not told yet: {error}", soft_wrap=True, markup=False)


async def _dropped(settings: Settings, *, yes: bool, quiet: bool) -> list[IdleSpace]:
    """Show what is not in use, ask, and remove it in one transaction."""
    from harry_mcp.ingest.reembedding import drop_idle
    from harry_mcp.providers.factory import build_embedder
    from harry_mcp.storage.database import Database

    database = await Database.open(settings, build_embedder(settings).space, any_space=True)
    try:
        async with database.reading() as unit:
            idle = await unit.spaces.idle()
        if not idle:
            return []
        if not quiet:
            for space in idle:
                _print_idle(space)
        confirm("Remove the vectors of " + ("these models" if len(idle) > 1 else "this model"), yes=yes)
        dropped = await drop_idle(database)
        await _tell_index(database, settings)
        return dropped
    finally:
        await database.close()


def _drop_old(dropped: list[IdleSpace], *, as_json: bool) -> None:
    if as_json:
        print_json({"dropped": [{"space": str(s.space), "vectors": s.vectors, "bytes": s.bytes} for s in dropped]})
        return
    size = sum(space.bytes for space in dropped) / 1_000_000
    terminal().print(f"[bold]{len(dropped)}[/] removed, {size:,.1f} MB freed", soft_wrap=True)


def _print_idle(space: IdleSpace) -> None:
    from rich.markup import escape

    size = f"{space.vectors:,} vectors, {space.bytes / 1_000_000:,.1f} MB"
    terminal().print(f"  {escape(str(space.space))}: {size}", soft_wrap=True)


async def _dollars(database: Database, space: EmbeddingSpace, settings: Settings) -> float:
    """What embedding the passages that the space lacks will cost; three characters of English are about a token."""
    async with database.reading() as unit:
        characters = await unit.spaces.characters_missing(space)
    return characters / 3 * settings.voyage.price / 1_000_000


@contextmanager
def _progress_bar() -> Generator[Callable[[int, int], None], None, None]:
    """A bar on stderr; nothing where nobody looks."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = terminal(stderr=True)
    columns = (TextColumn("embedding"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("embedding", total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)


def _print(outcome: ReembedOutcome) -> None:
    from rich.markup import escape

    console = terminal()
    passages = f"{outcome.embedded} passages embedded"
    if not outcome.switched:
        console.print(
            f"Already on {escape(str(outcome.space))}; {passages}. Name another model in the settings to move.",
            soft_wrap=True,
        )
        return
    console.print(
        f"{passages}. The knowledge base is now on [bold]{escape(str(outcome.space))}[/]. Start servers with the "
        "settings of this model; `harry reembed --back` returns to the one before.",
        soft_wrap=True,
    )
