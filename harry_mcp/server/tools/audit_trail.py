"""audit_trail: who did what, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent
from pydantic import AfterValidator, Field

from harry_mcp.server.fitting import fitting, following, more
from harry_mcp.server.render_records import audit_text, entry_reply
from harry_mcp.server.schemas_review import AuditReply
from harry_mcp.server.state import ServerState, is_read_by_a_model
from harry_mcp.server.tools.arguments import checked_instant, instant

if TYPE_CHECKING:  # heavy, and the server imports this module before its first answer
    from harry_mcp.app import App

TITLE = "Show who did what"
DESCRIPTION = """\
Shows the audit log for a curator: who did what to which document, correction or official answer, when, why, and under \
which rollback id. Use it when somebody asks who archived, approved, rewrote or rolled back something. Returns \
entries, the last first; narrow them by target, actor, action or time. What made a document doubtful is in \
list_review_queue, not here."""

_FOUND = "rollback_review takes an action_id back while it can be undone."

TargetId = Annotated[
    str, Field(max_length=200, description="Only this document, correction or response. Default: empty, all.")
]
Actor = Annotated[
    str, Field(max_length=200, description="Only what this person did, such as ann or http:ann. Default: empty, all.")
]
Action = Annotated[
    str,
    Field(
        max_length=40,
        description="Only this action: approve, archive, restore, keep, rewrite, reject, undo and others. Default: "
        "empty, all.",
    ),
]
Since = Annotated[
    str,
    AfterValidator(checked_instant),
    Field(description="Only from this ISO 8601 date or moment on. Default: empty, all."),
]
Limit = Annotated[int, Field(ge=1, le=100, description="Entries, 1 to 100. Default: 20.")]
Offset = Annotated[int, Field(ge=0, le=1_000_000, description="Entries to pass over. Default: 0.")]


async def audit_trail(
    ctx: Context[ServerState],
    target_id: TargetId = "",
    actor: Actor = "",
    action: Action = "",
    since: Since = "",
    limit: Limit = 20,
    offset: Offset = 0,
) -> Annotated[CallToolResult, AuditReply]:
    """Registered with ``DESCRIPTION``; see there."""
    state = ctx.request_context.lifespan_context
    app = await state.app()
    rows = await app.loop.review.trail(
        target_id=target_id.strip(),
        actor=actor.strip(),
        action=action.strip().lower(),
        since=instant(since),
        limit=limit + 1,
        offset=offset,
    )
    entries = [entry_reply(row) for row in rows[:limit]]
    if is_read_by_a_model(ctx):
        entries = fitting(entries, state.settings.reply.text_characters)
    after = following(len(entries), len(rows), offset)
    reply = AuditReply(
        entries=entries,
        next_offset=after,
        next_step=(_FOUND if rows else await _nothing(app, action.strip().lower())) + more(after),
    )
    return CallToolResult(
        content=[TextContent(type="text", text=audit_text(reply))],
        structured_content=reply.model_dump(mode="json"),
    )


async def _nothing(app: App, action: str) -> str:
    """Why there are no entries: whether it is the action that nothing has, or the filters together."""
    known = await app.loop.review.actions_on_record()
    if not known:
        return "Nothing is on record."
    if action and action not in known:
        return f"No action {action!r} is on record. Those that are: {', '.join(known)}."
    return "Nothing on record matches. Leave a filter out."
