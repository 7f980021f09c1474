"""list_review_queue: what waits for a curator, in the order of harm."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent
from pydantic import Field

from harry_mcp.server.render_review import queue_text
from harry_mcp.server.review_replies import Asked, queue_reply
from harry_mcp.server.schemas_review import QueueReply
from harry_mcp.server.state import ServerState, is_read_by_a_model

TITLE = "Show the review queue"
DESCRIPTION = """\
Shows documents that wait for a curator, the most harmful first: pending drafts, flagged documents that are still \
served, archived ones, and recent actions with their rollback ids; words and signal narrow the list. Not for answering \
questions. Returns for each why it was flagged, how often it is used, and how its place comes about. With a \
document_id it returns that one with its text, the differing passages, kept versions, and what was done to it. \
review_documents acts on them, rollback_review takes an action back."""

Tab = Annotated[
    Literal["pending", "flagged", "archived", "recent"],
    Field(description="pending, flagged, archived (with rejected ones) or recent (actions). Default: flagged."),
]
DocumentId = Annotated[str, Field(max_length=100, description="Only this document, with its dossier. Default: empty.")]
Words = Annotated[
    str, Field(max_length=200, description="Only documents whose title, topic or address holds this. Default: empty.")
]
Signal = Annotated[
    Literal["any", "stale", "contradiction", "dead_source", "negative_feedback"],
    Field(description="Only documents that this signal speaks against. Default: any."),
]
Limit = Annotated[int, Field(ge=1, le=30, description="Entries, 1 to 30. Default: 10.")]
Offset = Annotated[int, Field(ge=0, le=1_000_000, description="Entries to pass over. Default: 0.")]


async def list_review_queue(
    ctx: Context[ServerState],
    tab: Tab = "flagged",
    document_id: DocumentId = "",
    words: Words = "",
    signal: Signal = "any",
    limit: Limit = 10,
    offset: Offset = 0,
) -> Annotated[CallToolResult, QueueReply]:
    """Registered with ``DESCRIPTION``; see there."""
    state = ctx.request_context.lifespan_context
    app = await state.app()
    asked = Asked(
        words=words.strip(),
        signal="" if signal == "any" else signal,
        limit=limit,
        offset=offset,
        characters=state.settings.reply.text_characters if is_read_by_a_model(ctx) else 0,
    )
    reply = await queue_reply(app.loop.review, tab, document_id.strip(), asked)
    return CallToolResult(
        content=[TextContent(type="text", text=queue_text(reply))],
        structured_content=reply.model_dump(mode="json"),
    )
