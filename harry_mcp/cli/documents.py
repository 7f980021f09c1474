"""harry documents: what is in the knowledge base, and taking documents out of it or bringing them back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harry_mcp.cli.asking import confirm
from harry_mcp.cli.console import print_json, run, terminal
from harry_mcp.cli.who import user_of
from harry_mcp.domain.curation import ReviewAction
from harry_mcp.domain.documents import DocumentStatus
from harry_mcp.errors import InputError, NotFoundError, SourceError
from harry_mcp.settings import load_settings

if TYPE_CHECKING:
    from harry_mcp.storage.catalogue import CatalogueEntry
    from harry_mcp.storage.database import Database
    from harry_mcp.storage.unit_of_work import UnitOfWork

_SHOWN = 20  # documents of a preview; --json has them all

commands = typer.Typer(help="List, archive, restore and remove documents.", no_args_is_help=True)

_Sources = Annotated[list[str], typer.Argument(help="Documents: their ids, addresses, or paths of files.")]
_Under = Annotated[bool, typer.Option("--under", help="All documents under these addresses or folders.")]
_Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
_Json = Annotated[bool, typer.Option("--json", help="Print the result for a script.")]


class _Act(StrEnum):
    ARCHIVE = "archive"
    RESTORE = "restore"
    REMOVE = "remove"

    @property
    def statuses(self) -> frozenset[DocumentStatus]:
        """Documents in these can be acted on."""
        if self is _Act.ARCHIVE:
            return frozenset({DocumentStatus.LIVE, DocumentStatus.FLAGGED, DocumentStatus.PENDING})
        return frozenset({DocumentStatus.ARCHIVED}) if self is _Act.RESTORE else frozenset(DocumentStatus)


@dataclass(frozen=True, slots=True)
class _Selection:
    """The documents that an act is for, and those that it leaves as they are."""

    chosen: list[CatalogueEntry]
    left: list[CatalogueEntry]


@commands.command("list")
def list_documents(
    sources: Annotated[list[str] | None, typer.Argument(help="Addresses or folders; all when none is given.")] = None,
    status: Annotated[DocumentStatus | None, typer.Option(help="Only documents in this status.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Documents to show.")] = 50,
    as_json: _Json = False,
) -> None:
    """Show the documents of the knowledge base, by their source."""
    found = run(_list(sources or [], status.value if status else "", limit))
    if as_json:
        print_json([_as_json(entry) for entry in found])
        return
    for entry in found:
        _print_entry(entry)
    if len(found) == limit:
        terminal(stderr=True).print(f"These are the first {limit}; --limit shows more.", soft_wrap=True)


@commands.command()
def archive(sources: _Sources, under: _Under = False, yes: _Yes = False, as_json: _Json = False) -> None:
    """Take documents out of every search. They are kept, and stay out when their source is read again."""
    _do(_Act.ARCHIVE, sources, under=under, yes=yes, as_json=as_json)


@commands.command()
def restore(sources: _Sources, under: _Under = False, yes: _Yes = False, as_json: _Json = False) -> None:
    """Bring archived documents back into every search."""
    _do(_Act.RESTORE, sources, under=under, yes=yes, as_json=as_json)


@commands.command()
def remove(sources: _Sources, under: _Under = False, yes: _Yes = False, as_json: _Json = False) -> None:
    """Delete documents for good, with their passages. Their source brings them back when it is read again."""
    _do(_Act.REMOVE, sources, under=under, yes=yes, as_json=as_json)


def _do(act: _Act, sources: list[str], *, under: bool, yes: bool, as_json: bool) -> None:
    selection = run(_act(act, sources, under=under, yes=yes, as_json=as_json))
    if as_json:
        print_json(
            {
                "action": act.value,
                "documents": [_as_json(entry) for entry in selection.chosen],
                "left": [_as_json(entry) for entry in selection.left],
            }
        )
        return
    done = {_Act.ARCHIVE: "archived", _Act.RESTORE: "restored", _Act.REMOVE: "removed"}[act]
    left = f"; {len(selection.left)} left as they are" if selection.left else ""
    terminal().print(f"[bold]{len(selection.chosen)}[/] {done}{left}", soft_wrap=True)


async def _list(sources: Sequence[str], status: str, limit: int) -> list[CatalogueEntry]:
    database = await _open()
    try:
        async with database.reading() as unit:
            if not sources:
                return await unit.catalogue.all(status=status, limit=limit)
            names = [name for source in sources for name in _names(source)]
            return await unit.catalogue.named(names, _prefixes(names), status=status, limit=limit)
    finally:
        await database.close()


async def _act(act: _Act, sources: Sequence[str], *, under: bool, yes: bool, as_json: bool) -> _Selection:
    """Show what will be done, ask, and do it to all of them in one transaction, or to none."""
    database = await _open()
    try:
        async with database.reading() as unit:
            found = await _named(unit, sources, under=under)
        selection = _Selection(
            [entry for entry in found if DocumentStatus(entry.status) in act.statuses],
            [entry for entry in found if DocumentStatus(entry.status) not in act.statuses],
        )
        if not selection.chosen:
            return selection
        if not as_json:
            _preview(act, selection)
        number = len(selection.chosen)
        confirm(f"{act.value.capitalize()} {number} document{'s' if number > 1 else ''}", yes=yes)
        async with database.transaction() as unit:
            done = await _apply(act, [entry.id for entry in selection.chosen], unit)
        changed = [entry for entry in selection.chosen if entry.id not in done]  # by others, while it was asked
        return _Selection([entry for entry in selection.chosen if entry.id in done], [*selection.left, *changed])
    finally:
        await database.close()


async def _apply(act: _Act, ids: Sequence[str], unit: UnitOfWork) -> frozenset[str]:
    """Do it, as a review does: on record, and, but for a removal, to be taken back by `harry curate undo`."""
    from harry_mcp.loop.promoting import close_corrections_of
    from harry_mcp.stages.curate.removal import remove
    from harry_mcp.stages.curate.review import Act, carry_out

    settings = load_settings()
    who = user_of(settings)
    if act is _Act.REMOVE:
        return frozenset([key for key in ids if await remove(unit, key, who)])
    wanted = Act(action=ReviewAction(act.value), ids=tuple(ids), by=who)
    outcome = await carry_out(unit, wanted, settings.review, partial(close_corrections_of, by=who.name))
    return frozenset(change.document_id for change in outcome.done)


async def _open() -> Database:
    """The database on whatever model is in service: nothing is embedded here."""
    from harry_mcp.providers.factory import build_embedder
    from harry_mcp.storage.database import Database

    settings = load_settings()
    return await Database.open(settings, build_embedder(settings).space, any_space=True)


async def _named(unit: UnitOfWork, sources: Sequence[str], *, under: bool) -> list[CatalogueEntry]:
    """The documents that each of the sources stands for.

    Raises:
        NotFoundError: one of them stands for none.
    """
    found: dict[str, CatalogueEntry] = {}
    for source in sources:
        names = _names(source)
        entries = await unit.catalogue.named(names, _prefixes(names) if under else ())
        if not entries:
            below = [] if under else await unit.catalogue.named(names, _prefixes(names))
            hint = (
                f" {len(below)} lie under it; --under takes them all." if below else " `harry documents list` has all."
            )
            raise NotFoundError(f"There is no document {source}.{hint}")
        found |= {entry.id: entry for entry in entries}
    return list(found.values())


def _names(source: str) -> list[str]:
    """What a source may be stored as: as it is written, as a canonical address, or as the address of a file."""
    from harry_mcp.ingest.addresses import canonical_address

    if not source.strip():  # else an unset variable of a script would stand for all that has no address
        raise InputError("A source is empty. Name a document by its id, its address or its path.")
    names = [source]
    if source.lower().startswith(("http://", "https://")):
        try:
            names.append(canonical_address(source))
        except SourceError:
            return names
    elif "://" not in source:
        names.append(Path(source).expanduser().resolve().as_uri())
    return list(dict.fromkeys(name.rstrip("/") or name for name in names) | dict.fromkeys(names))


def _prefixes(names: Sequence[str]) -> list[str]:
    """What the sources of documents under these begin with; /docs-old is not under /docs."""
    return [name.rstrip("/") + "/" for name in names if "/" in name]


def _preview(act: _Act, selection: _Selection) -> None:
    console = terminal()
    console.print(f"{act.value.capitalize()}:", soft_wrap=True)
    for entry in selection.chosen[:_SHOWN]:
        _print_entry(entry)
    if len(selection.chosen) > _SHOWN:
        console.print(f"  and {len(selection.chosen) - _SHOWN} more; `harry documents list` has them", soft_wrap=True)


def _print_entry(entry: CatalogueEntry) -> None:
    from rich.markup import escape

    facts = f"{entry.status}, {entry.chunks} chunks, {entry.updated_at:%Y-%m-%d}"
    topic = f", {escape(entry.topic)}" if entry.topic else ""
    terminal().print(
        f"  {entry.id}  {escape(entry.source)}  [bold]{escape(entry.title)}[/]  [dim]{facts}{topic}[/]", soft_wrap=True
    )


def _as_json(entry: CatalogueEntry) -> dict[str, Any]:
    return asdict(entry) | {"updated_at": entry.updated_at.isoformat(timespec="seconds")}
