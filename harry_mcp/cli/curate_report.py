"""The review queue and what was done to it, for a person at a terminal."""

from __future__ import annotations

from rich.markup import escape

from harry_mcp.cli.console import terminal
from harry_mcp.server.schemas_review import (
    ActionReply,
    ChangeReply,
    DossierReply,
    QueueReply,
    ReviewReply,
    WaitingReply,
)

_COLOURS = {"live": "green", "flagged": "yellow", "pending": "cyan", "archived": "dim", "rejected": "dim"}


def print_queue(reply: QueueReply) -> None:
    _say(f"{reply.pending} pending, {reply.flagged} flagged, {reply.archived} archived")
    for document in reply.documents:
        _print_document(document)
    for dossier in reply.dossier:
        _print_dossier(dossier)
    for action in reply.actions:
        _print_action(action)
    if not (reply.documents or reply.actions):
        _say("Nothing is here.")


def print_review(reply: ReviewReply) -> None:
    if reply.outcome == "preview":
        _say("[bold]Nothing was changed.[/] This would be:")
    for change in reply.changes:
        _print_change(change)
    for each in reply.refused:
        _say(f"  [yellow]left[/] {escape(each.document_id)} {escape(each.title)}: {escape(each.reason)}")
    for answer in reply.answers:
        before, after = answer.before_title or "nothing", answer.after_title or "nothing"
        _say(
            f"  [magenta]answer[/] {escape(answer.question)}: {escape(before)} ({answer.before_band}) becomes "
            f"{escape(after)} ({answer.after_band}); asked {answer.asked} times"
        )
    if reply.outcome == "preview":
        _say(f"[dim]{reply.questions_asked} past questions tried, {reply.questions_left} not. {escape(reply.note)}[/]")
    elif reply.note:
        _say(escape(reply.note))
    if reply.action_id:
        _say(f"[bold]harry curate undo {reply.action_id}[/] takes it back, until {reply.undo_until}")


def _print_document(document: WaitingReply) -> None:
    colour = _COLOURS[document.status]
    _say(f"{document.document_id}  [bold]{escape(document.title)}[/]  [{colour}]{document.status}[/]")
    _say(f"  [dim]{escape(document.url or document.source)}  version {document.version}, {document.updated_at}[/]")
    _say(f"  [dim]harm {escape(document.harm_why)}[/]")
    for each in document.signals:
        settled = " [dim](settled)[/]" if each.settled else ""
        _say(f"  [yellow]{escape(each.signal)}[/]{settled} {each.at}: {escape(each.why)}")


def _print_dossier(dossier: DossierReply) -> None:
    for pair in dossier.differences:
        _say(f"  [dim]differs from {escape(pair.origin)}[/]")
        _say(f"  [red]- {escape(pair.before)}[/]")
        _say(f"  [green]+ {escape(pair.after)}[/]")
    for each in dossier.versions:
        _say(f"  [dim]version {each.version} kept: {escape(each.title)}, until {each.replaced_at}, {each.action_id}[/]")
    _say(escape(dossier.text))
    _say(f"[dim]It takes {', '.join(dossier.allowed)}.[/]")


def _print_action(action: ActionReply) -> None:
    undo = "can be undone" if action.undoable else escape(action.why_not)
    reason = f", because {escape(action.reason)}" if action.reason else ""
    _say(f"{action.action_id}  [bold]{action.action}[/]  {action.at} by {escape(action.actor)}{reason}  [dim]{undo}[/]")
    for change in action.documents:
        _print_change(change)
    if action.document_count > len(action.documents):
        _say(f"  [dim]and {action.document_count - len(action.documents)} more[/]")


def _print_change(change: ChangeReply) -> None:
    _say(
        f"  {change.document_id} [bold]{escape(change.title)}[/]: {change.before} to "
        f"[{_COLOURS[change.after]}]{change.after}[/]"
    )
    for note in change.notes:
        _say(f"    [dim]{escape(note)}[/]")


def _say(line: str) -> None:
    terminal().print(line, soft_wrap=True)
