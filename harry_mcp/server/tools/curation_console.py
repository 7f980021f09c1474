"""curation_console: the curation page, in hosts that show pages; elsewhere what waits, in words."""

from __future__ import annotations

from typing import Annotated

from mcp.server.apps import client_supports_apps
from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent

from harry_mcp.domain.curation import QueueTab
from harry_mcp.server.schemas_console import ConsoleReply
from harry_mcp.server.state import ServerState

TITLE = "Open the curation console"
DESCRIPTION = """\
Opens the curation page beside the conversation: drafts, flagged and archived documents, what was done and can be \
undone, gaps, corrections, official answers and the digest. The curator works on it with the mouse. Use it when they \
want to see or go through the queue themselves; to talk about it use list_review_queue, and for figures \
curation_digest. It changes nothing. Returns how many documents wait, and next_step; a client that shows no pages \
gets only these."""


async def curation_console(ctx: Context[ServerState]) -> Annotated[CallToolResult, ConsoleReply]:
    """Registered with ``DESCRIPTION``; see there."""
    app = await ctx.request_context.lifespan_context.app()
    waiting = await app.loop.review.waiting()
    shown = client_supports_apps(ctx)
    reply = ConsoleReply(
        shown=shown,
        pending=waiting[QueueTab.PENDING],
        flagged=waiting[QueueTab.FLAGGED],
        archived=waiting[QueueTab.ARCHIVED],
        next_step=_SHOWN if shown else _next_in_words(waiting),
    )
    text = f"{reply.pending} drafts wait, {reply.flagged} documents are flagged, {reply.archived} archived."
    return CallToolResult(
        content=[TextContent(type="text", text=f"{text} {reply.next_step}")],
        structured_content=reply.model_dump(mode="json"),
    )


_SHOWN = "The page is open; the curator goes on there. Say what waits, and act only on what they ask for here."


def _next_in_words(waiting: dict[QueueTab, int]) -> str:
    if waiting[QueueTab.FLAGGED] or waiting[QueueTab.PENDING]:
        tab = "flagged" if waiting[QueueTab.FLAGGED] else "pending"
        return f"This client shows no page. Go through them in words: list_review_queue with tab {tab}."
    return "This client shows no page, and nothing waits. curation_digest tells how the knowledge base is doing."
