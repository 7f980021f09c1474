"""harry export: the whole knowledge base into a file."""

from __future__ import annotations

from contextlib import aclosing
from typing import Annotated

import typer

from harry_mcp import __version__
from harry_mcp.cli.console import print_json, run, terminal
from harry_mcp.cli.files import STANDARD, refuse_taken, writing
from harry_mcp.settings import Settings, load_settings


def export(
    file: Annotated[str, typer.Argument(help="Where to; packed when it ends in .gz. - is standard output.")],
    vectors: Annotated[bool, typer.Option("--vectors", help="With the vectors of the model in service.")] = False,
    searches: Annotated[bool, typer.Option("--searches", help="With the record of searches.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report for a script.")] = False,
) -> None:
    """Write all that is stored as lines of JSON, as it is at one moment; `harry import` takes it in again.

    Without --vectors the file is a quarter of the size, and the import embeds anew. The keys of services and the
    settings are not in it. All else is, in the clear: keep it as you keep the database. A file takes its name once it
    is whole; until then one that --force is to replace stays as it is.
    """
    settings = load_settings()
    refuse_taken(file, force=force)  # before anything is opened
    lines = run(_export(settings, file, vectors=vectors, searches=searches, force=force))
    if file == STANDARD:
        return
    if as_json:
        print_json({"file": file, "records": lines - 2})
    else:
        terminal().print(f"{lines - 2} records written to {file}", markup=False, soft_wrap=True)


async def _export(settings: Settings, file: str, *, vectors: bool, searches: bool, force: bool) -> int:
    from harry_mcp.loop.exporting import export_lines
    from harry_mcp.providers.factory import build_embedder
    from harry_mcp.storage.database import Database

    database = await Database.open(settings, build_embedder(settings).space, any_space=True)
    lines = 0
    try:
        with writing(file, force=force) as write:
            every = export_lines(database, version=__version__, vectors=vectors, searches=searches)
            async with aclosing(every) as exported:
                async for line in exported:
                    write(line)
                    lines += 1
    finally:
        await database.close()
    return lines
