"""harry eval grow: golden rows from what the knowledge base has learnt in use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harry_mcp.cli import eval_options as options
from harry_mcp.cli.console import print_json, run, terminal
from harry_mcp.errors import InputError
from harry_mcp.settings import Settings, load_settings

if TYPE_CHECKING:
    from harry_mcp.evals.growing import Grown
    from harry_mcp.evals.grown_files import Added

_OUT = "JSONL of questions for `harry eval run --queries`: official answers, praised results, promoted corrections."
_CORRECTIONS = "JSONL for `harry eval corrections --golden`: each correction, and the questions that must bring it."
_CORPUS = "JSONL of the pages for `harry eval run --corpus`, as they are now."


def eval_grow(
    out: Annotated[Path | None, typer.Option(help=_OUT)] = None,
    corrections: Annotated[Path | None, typer.Option(help=_CORRECTIONS)] = None,
    corpus: Annotated[Path | None, typer.Option(help=_CORPUS)] = None,
    praise: Annotated[bool, typer.Option(help="Take praised results that no curator approved, too.")] = True,
    as_json: options.AsJson = False,
) -> None:
    """Grow golden questions and regression tests from real use.

    A file that is there is added to, never changed: only rows whose id is new are appended. A file that was not grown
    is left alone. Rows say in "provenance" what they come from; personal data and secrets are taken out of questions
    and corrections. Look through what was added before you make it a gate.
    """
    from harry_mcp.evals import grown_files

    wanted = [path for path in (out, corrections, corpus) if path is not None]
    if not wanted:
        raise InputError("Say what to grow: --out FILE for questions, --corrections FILE, --corpus FILE.")
    if len({path.resolve() for path in wanted}) < len(wanted):
        raise InputError("Questions, corrections and pages go into files of their own. Name one for each.")
    for path in wanted:
        grown_files.check(path)
    grown = run(_grown(load_settings(), praise=praise, corpus=corpus is not None))
    rows = ((out, grown.questions), (corrections, grown.corrections), (corpus, grown.corpus))
    added = [grown_files.add(path, kind) for path, kind in rows if path is not None]
    if as_json:
        files = [
            {"file": str(each.path), "added": each.added, "known": each.known, "differing": each.differing}
            for each in added
        ]
        print_json({"files": files, "left_out": {why: count for why, count in grown.left_out.items() if count}})
    else:
        _print(grown, added)


async def _grown(settings: Settings, *, praise: bool, corpus: bool) -> Grown:
    from harry_mcp.evals.growing import grow
    from harry_mcp.providers.factory import build_embedder
    from harry_mcp.storage.database import Database

    database = await Database.open(settings, build_embedder(settings).space, any_space=True)
    try:
        return await grow(database, praise=praise, corpus=corpus)
    finally:
        await database.close()


def _print(grown: Grown, added: list[Added]) -> None:
    console = terminal()
    for each in added:
        words = f"{each.path}: {each.added} rows added, {each.known} were there"
        console.print(words, markup=False, soft_wrap=True)
        if each.differing:
            console.print(
                f"  {len(each.differing)} of these say something else by now and stay as they are: "
                f"{', '.join(each.differing[:5])}{', …' if len(each.differing) > 5 else ''}",
                markup=False,
                soft_wrap=True,
            )
    for why, count in grown.left_out.items():
        if count:
            console.print(f"Left out: {count} {why}", markup=False, soft_wrap=True)
