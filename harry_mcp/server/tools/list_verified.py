"""list_verified: the official answers, for a curator."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent
from pydantic import Field

from harry_mcp.server.fitting import fitting, following, more
from harry_mcp.server.render_verified import entries_text, entry_reply
from harry_mcp.server.schemas_verified import EntriesReply
from harry_mcp.server.state import ServerState

TITLE = "List official answers"
DESCRIPTION = """\
Lists verified responses for a curator: candidates that wait for approval, active ones, those held back because a \
cited document changed, retired and rejected ones. Not for answering questions; verified_lookup is. Returns entries \
with question, answer, sources, counters and why one is held. review_verified acts on them."""

Status = Annotated[
    Literal["candidate", "active", "held", "retired", "rejected", "all"],
    Field(description="candidate, active, held, retired, rejected or all. Default: candidate."),
]
Limit = Annotated[int, Field(ge=1, le=50, description="Entries, 1 to 50. Default: 10.")]
Offset = Annotated[int, Field(ge=0, le=1_000_000, description="Entries to pass over. Default: 0.")]


async def list_verified(
    ctx: Context[ServerState], status: Status = "candidate", limit: Limit = 10, offset: Offset = 0
) -> Annotated[CallToolResult, EntriesReply]:
    """Registered with ``DESCRIPTION``; see there."""
    state = ctx.request_context.lifespan_context
    app = await state.app()
    found = await app.loop.verified.list("" if status == "all" else status, limit=limit + 1, offset=offset)
    entries = fitting([entry_reply(entry) for entry in found[:limit]], state.settings.reply.text_characters)
    after = following(len(entries), len(found), offset)
    reply = EntriesReply(
        entries=entries,
        next_offset=after,
        next_step=("Call review_verified with a response_id to approve, reject or retire it." if entries else "None.")
        + more(after),
    )
    return CallToolResult(
        content=[TextContent(type="text", text=entries_text(reply))],
        structured_content=reply.model_dump(mode="json"),
    )
