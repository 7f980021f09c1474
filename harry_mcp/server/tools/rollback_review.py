"""rollback_review: taking a curator's action back."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent
from pydantic import Field

from harry_mcp.server.render_review import review_text
from harry_mcp.server.review_replies import undone
from harry_mcp.server.schemas_review import ReviewReply
from harry_mcp.server.state import ServerState, caller_of, is_read_by_a_model

TITLE = "Take a review action back"
DESCRIPTION = """\
Undoes one action of review_documents exactly: status, text, passages, keywords and vectors of every document that it \
changed, as they were; a bulk action as a whole. Once, and within the days that the server is set up for. What others \
did since stays: a signal still counts, a newer text of the source too, and what was removed for good is named in \
refused. It refuses, and says why, when a later action stands on top (undo that first) or when the source of a \
rewritten document was read anew since. The action_id is in the reply of review_documents and in list_review_queue, \
tab recent. Returns what each document is now."""

ActionId = Annotated[str, Field(max_length=100, description="The action_id of the action to undo. Required.")]


async def rollback_review(action_id: ActionId, ctx: Context[ServerState]) -> Annotated[CallToolResult, ReviewReply]:
    """Registered with ``DESCRIPTION``; see there."""
    state = ctx.request_context.lifespan_context
    app = await state.app()
    outcome = await app.loop.review.rollback(action_id.strip(), caller_of(ctx))
    reply = undone(action_id.strip(), outcome, brief=is_read_by_a_model(ctx))
    return CallToolResult(
        content=[TextContent(type="text", text=review_text(reply))],
        structured_content=reply.model_dump(mode="json"),
    )
