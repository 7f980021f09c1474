"""harry curate: the review queue from the terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from harry_mcp.cli.asking import confirm
from harry_mcp.cli.console import ExitCode, print_json, run
from harry_mcp.cli.spoken import spoken
from harry_mcp.cli.who import user_of
from harry_mcp.domain.counting import counted
from harry_mcp.domain.curation import ReviewAction
from harry_mcp.domain.people import Role
from harry_mcp.errors import InputError
from harry_mcp.settings import Settings, load_settings

if TYPE_CHECKING:
    from harry_mcp.server.schemas_review import QueueReply, ReviewReply

commands = typer.Typer(help="Review documents: the queue, decisions, and taking them back.", no_args_is_help=True)

_Ids = Annotated[list[str], typer.Argument(help="Document ids, as `harry curate list` shows them.")]
_Reason = Annotated[str, typer.Option(help="Why, for the record.")]
_Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
_Preview = Annotated[bool, typer.Option("--preview", help="Change nothing; show what would be.")]
_Json = Annotated[bool, typer.Option("--json", help="Print the result for a script.")]
_Tab = Literal["pending", "flagged", "archived", "recent"]


@commands.command("list")
def list_queue(
    tab: Annotated[_Tab, typer.Argument(help="pending, flagged, archived or recent.")] = "flagged",
    document: Annotated[str, typer.Option(help="Only this document, with all that bears on it.")] = "",
    words: Annotated[str, typer.Option(help="Only those with this in their title, topic or address.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Entries to show.")] = 10,
    offset: Annotated[int, typer.Option(min=0, help="Entries to pass over.")] = 0,
    as_json: _Json = False,
) -> None:
    """Show what waits for a curator, the most harmful first, and why."""
    from harry_mcp.cli.curate_report import print_queue

    reply = run(_queue(tab, document.strip(), words.strip(), limit=limit, offset=offset))
    reply = reply.model_copy(update={"next_step": spoken(reply.next_step)})
    if as_json:
        print_json(reply.model_dump(mode="json"))
    else:
        print_queue(reply)


@commands.command()
def approve(ids: _Ids, reason: _Reason = "", preview: _Preview = False, as_json: _Json = False) -> None:
    """Let pending documents go live; say of flagged ones that they are right."""
    _do(ReviewAction.APPROVE, ids, reason=reason, preview=preview, yes=True, as_json=as_json)


@commands.command()
def archive(
    ids: _Ids, reason: _Reason = "", preview: _Preview = False, yes: _Yes = False, as_json: _Json = False
) -> None:
    """Take documents out of every search. They are kept."""
    _do(ReviewAction.ARCHIVE, ids, reason=reason, preview=preview, yes=yes, as_json=as_json)


@commands.command()
def reject(
    ids: _Ids, reason: _Reason = "", preview: _Preview = False, yes: _Yes = False, as_json: _Json = False
) -> None:
    """Say of pending documents that they are not wanted."""
    _do(ReviewAction.REJECT, ids, reason=reason, preview=preview, yes=yes, as_json=as_json)


@commands.command()
def restore(ids: _Ids, reason: _Reason = "", preview: _Preview = False, as_json: _Json = False) -> None:
    """Bring archived or rejected documents back to what they were."""
    _do(ReviewAction.RESTORE, ids, reason=reason, preview=preview, yes=True, as_json=as_json)


@commands.command()
def keep(ids: _Ids, reason: _Reason = "", as_json: _Json = False) -> None:
    """Leave documents flagged, and move them down the queue."""
    _do(ReviewAction.KEEP, ids, reason=reason, preview=False, yes=True, as_json=as_json)


@commands.command()
def rewrite(
    document_id: Annotated[str, typer.Argument(help="The document.")],
    file: Annotated[Path | None, typer.Option(help="A Markdown file with the whole new text; - reads it here.")] = None,
    title: Annotated[str, typer.Option(help="A new title.")] = "",
    reason: _Reason = "",
    preview: _Preview = False,
    yes: _Yes = False,
    as_json: _Json = False,
) -> None:
    """Give a document a new text or title. The old one is kept and can be brought back."""
    text = _read(file) if file is not None else ""
    _do(
        ReviewAction.REWRITE,
        [document_id],
        text=text,
        title=title,
        reason=reason,
        preview=preview,
        yes=yes,
        as_json=as_json,
    )


@commands.command()
def undo(
    action_id: Annotated[str, typer.Argument(help="The id of the action, as `harry curate list recent` shows it.")],
    as_json: _Json = False,
) -> None:
    """Take an action back: all of its documents, exactly, once."""
    _show(run(_undo(action_id.strip())), as_json=as_json)


def _do(
    action: ReviewAction,
    ids: Sequence[str],
    *,
    text: str = "",
    title: str = "",
    reason: str,
    preview: bool,
    yes: bool,
    as_json: bool,
) -> None:
    if preview:
        _show(run(_preview(action, ids, text, title)), as_json=as_json)
    else:
        _show(run(_act(action, ids, text=text, title=title, reason=reason, yes=yes)), as_json=as_json)


def _for_curators() -> Settings:
    """The settings, of somebody who may see the queue: it holds what people said, which tools show to curators alone.

    Raises:
        InputError: whoever asks may not.
    """
    settings = load_settings()
    by = user_of(settings)
    if not by.may(Role.CURATOR):
        raise InputError(f"This takes the role curator; you are {by.role.name.lower()}.")
    return settings


async def _queue(tab: _Tab, document: str, words: str, *, limit: int, offset: int) -> QueueReply:
    from harry_mcp.app import App
    from harry_mcp.server.review_replies import Asked, queue_reply

    async with await App.open(_for_curators()) as app:
        return await queue_reply(app.loop.review, tab, document, Asked(words=words, limit=limit, offset=offset))


async def _preview(action: ReviewAction, ids: Sequence[str], text: str, title: str) -> ReviewReply:
    from harry_mcp.app import App
    from harry_mcp.server.review_replies import would

    async with await App.open(_for_curators()) as app:
        return would(await app.loop.review.preview(action, ids, text=text, title=title), "not_needed")


async def _act(
    action: ReviewAction, ids: Sequence[str], *, text: str, title: str, reason: str, yes: bool
) -> ReviewReply:
    """Ask where much is taken away, and do it."""
    from harry_mcp.app import App
    from harry_mcp.server.review_replies import did

    settings = _for_curators()
    async with await App.open(settings) as app:
        planned = await app.loop.review.preview(action, ids, answers=False)
        heavy = any(change.uses >= settings.review.heavy_use for change in planned.changes)
        if action.destroys and (len(planned.changes) > 1 or heavy):
            confirm(f"{action.value.capitalize()} {counted(len(planned.changes), 'document')}", yes=yes)
        who = user_of(settings)
        return did(await app.loop.review.act(action, ids, who, text=text, title=title, reason=reason), "not_needed")


async def _undo(action_id: str) -> ReviewReply:
    from harry_mcp.app import App
    from harry_mcp.server.review_replies import undone

    settings = _for_curators()
    async with await App.open(settings) as app:
        return undone(action_id, await app.loop.review.rollback(action_id, user_of(settings)))


def _read(file: Path) -> str:
    try:
        return sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise InputError(f"There is no file {file}. Nothing was changed.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 text. Nothing was changed.") from error
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise InputError(f"{file} cannot be read: {why}. Nothing was changed.") from error


def _show(reply: ReviewReply, *, as_json: bool) -> None:
    """What was done, or would be. It ends in part done when documents were left, and as unusable when all were."""
    from harry_mcp.cli.curate_report import print_review

    left = [each.model_copy(update={"reason": spoken(each.reason)}) for each in reply.refused]
    told = {"refused": left, "note": spoken(reply.note), "next_step": spoken(reply.next_step)}
    reply = reply.model_copy(update=told)
    if as_json:
        print_json(reply.model_dump(mode="json"))
    else:
        print_review(reply)
    if reply.refused:
        raise typer.Exit(ExitCode.PARTIAL if reply.changes else ExitCode.USAGE)
