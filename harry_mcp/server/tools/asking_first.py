"""Asking a person before much is taken away: by elicitation where the client can, else by the argument ``confirm``.

Some clients say that they can ask and decline by themselves. So a ``confirm`` counts once the same was asked and not
allowed, for whoever sends it then heard what was about to happen. It is no consent: a model can write it. The safety
net is that all of it can be undone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any

from mcp.server.elicitation import AcceptedElicitation, CancelledElicitation, ElicitationResult
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel, Field

from harry_mcp.domain.curation import DocumentChange, ReviewAction
from harry_mcp.domain.plain import sanitised
from harry_mcp.server.schemas_review import Consented
from harry_mcp.server.state import ServerState, caller_of

_UNREAD = (
    "The answer to the question whether to go on could not be read, so nothing was changed; ask in the conversation, "
    "and only when the curator says yes call again with confirm."
)
_TITLES = 5
_TITLE = 80


class Consent(BaseModel):
    """What a person is asked."""

    go_on: bool = Field(description="Do it. It can be undone.")


class Unasked(BaseModel):
    """Nobody was asked, and why."""

    answer: Consented


async def ask_first(
    ctx: Context[ServerState],
    action: str,
    document_ids: list[str],
    text: str,
    title: str,
    base_version: int,
    preview: bool,
    confirm: bool,
) -> Elicit[Consent] | Unasked:
    """Ask before an action that takes something away from more than one document, or from one in heavy use."""
    state = ctx.request_context.lifespan_context
    wanted = ReviewAction(action)
    if preview or not wanted.destroys:
        return Unasked(answer="not_needed")
    app = await state.app()
    planned = await app.loop.review.preview(wanted, document_ids, base_version=base_version, answers=False)
    heavy = [change for change in planned.changes if change.uses >= app.settings.review.heavy_use]
    if len(planned.changes) < 2 and not heavy:
        return Unasked(answer="not_needed")
    if not _can_ask(ctx):
        return Unasked(answer="confirmed" if confirm else "cannot_be_asked")
    if confirm and await state.was_declined(caller_of(ctx), key_of(action, document_ids, text, title)):
        return Unasked(answer="confirmed")
    return Elicit(_question(wanted, planned.changes, heavy, app.settings.review.undo_days), Consent)


Asked = Annotated[ElicitationResult[Consent], Resolve(ask_first)]


def answer_of(asked: ElicitationResult[Consent]) -> Consented:
    """What the asking came to."""
    if isinstance(asked, AcceptedElicitation):
        if isinstance(asked.data, Unasked):
            return asked.data.answer
        return "given" if asked.data.go_on else "declined"
    return "cancelled" if isinstance(asked, CancelledElicitation) else "declined"


async def unread(fault: str, ctx: Context[ServerState], given: Mapping[str, Any]) -> str:
    """What to say where the SDK's words are that it got an answer which is none; empty for any other fault.

    The person was asked and did not allow it, so that a ``confirm`` counts: a client that answers so does it always.
    """
    if f"Resolver '{ask_first.__module__}:{ask_first.__qualname__}'" not in fault:
        return ""
    key = key_of(given["action"], given["document_ids"], given.get("text", ""), given.get("title", ""))
    await ctx.request_context.lifespan_context.note_declined(caller_of(ctx), key)
    return _UNREAD


def key_of(action: str, document_ids: list[str], text: str, title: str) -> str:
    """One key for one wish, however its documents are ordered."""
    parts = (action, *sorted(document_ids), text, title)
    return hashlib.sha256("\x00".join(parts).encode("utf-8", "replace")).hexdigest()


def _can_ask(ctx: Context[ServerState]) -> bool:
    capabilities = ctx.client_capabilities
    elicitation = capabilities.elicitation if capabilities else None
    # Clients that say no more than that they can, can show a form.
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def _question(action: ReviewAction, changes: tuple[DocumentChange, ...], heavy: list[DocumentChange], days: int) -> str:
    """The same words for the same documents: a client that is asked over several requests sees that it is one."""
    number = "1 document" if len(changes) == 1 else f"{len(changes)} documents"
    shown = [f"“{sanitised(change.title, _TITLE)}”" for change in changes[:_TITLES]]
    more = [f"and {len(changes) - _TITLES} more"] if len(changes) > _TITLES else []
    used = f" In heavy use: {len(heavy)}." if heavy else ""
    named = ", ".join([*shown, *more])
    return f"{action.value.capitalize()} {number}: {named}.{used} It can be undone for {days} days."
