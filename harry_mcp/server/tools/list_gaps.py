"""list_gaps: what was asked and could not be answered."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent
from pydantic import Field

from harry_mcp.errors import NotFoundError
from harry_mcp.server.fitting import fitting
from harry_mcp.server.render_records import gap_reply, gaps_text
from harry_mcp.server.schemas_review import GapsReply
from harry_mcp.server.state import ServerState, is_read_by_a_model

TITLE = "List gaps"
DESCRIPTION = """\
Lists questions that the knowledge base could not answer, each once with how often it was asked, its topic, the best \
score that a search for it had, and what the web said. Use it to decide what to write or ingest next; not for \
answering questions. Returns gaps, the most asked first, each with the next step that closes it: web_fallback, \
ingest_source or submit_correction."""

Order = Annotated[
    Literal["most_asked", "latest"], Field(description="most_asked or latest, whichever first. Default: most_asked.")
]
Topic = Annotated[
    str, Field(max_length=200, description="Only gaps whose topic begins with this breadcrumb. Default: empty, all.")
]
GapId = Annotated[str, Field(max_length=100, description="Only this gap. Default: empty, all.")]
Limit = Annotated[int, Field(ge=1, le=50, description="Gaps, 1 to 50. Default: 10.")]
Offset = Annotated[int, Field(ge=0, le=1_000_000, description="Gaps to pass over. Default: 0.")]


async def list_gaps(
    ctx: Context[ServerState],
    order: Order = "most_asked",
    topic: Topic = "",
    gap_id: GapId = "",
    limit: Limit = 10,
    offset: Offset = 0,
) -> Annotated[CallToolResult, GapsReply]:
    """Registered with ``DESCRIPTION``; see there."""
    state = ctx.request_context.lifespan_context
    app = await state.app()
    await app.loop.recorded()
    gaps = await app.loop.review.gaps(
        gap_id=gap_id.strip(), topic=topic.strip(), latest=order == "latest", limit=limit, offset=offset
    )
    if not gaps and gap_id.strip():
        there = " of that topic" if topic.strip() else ""
        raise NotFoundError(f"There is no gap {gap_id.strip()[:60]!r}{there}. list_gaps without gap_id shows them all.")
    total = gaps[0].total if gaps else 0
    shown = [gap_reply(gap) for gap in gaps]
    if is_read_by_a_model(ctx):
        shown = fitting(shown, state.settings.reply.text_characters)
    left = total - offset - len(shown)
    more = f" {left} more: offset {offset + len(shown)}." if left > 0 else ""
    reply = GapsReply(
        total=total,
        gaps=shown,
        next_step=("Ask the curator which to close, the most asked first." if gaps else _nothing(topic, offset)) + more,
    )
    return CallToolResult(
        content=[TextContent(type="text", text=gaps_text(reply))],
        structured_content=reply.model_dump(mode="json"),
    )


def _nothing(topic: str, offset: int) -> str:
    if offset:
        return f"No gap comes after the first {offset}. Begin at offset 0."
    return "No gap of that topic is on record. Leave topic out." if topic.strip() else "No gap is on record."
