"""ingestion_status: how far an ingestion is."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent
from pydantic import Field

from harry_mcp.server.render import ingestions_text
from harry_mcp.server.schemas import IngestionsReply
from harry_mcp.server.state import ServerState
from harry_mcp.server.tools.ingestion_replies import ingestion_reply, watch_of

TITLE = "See how far an ingestion is"
DESCRIPTION = """\
Tells how far an ingestion of ingest_source is, or lists the last ones. Call it with the ingestion_id of one that was \
running, about once a minute or with wait_seconds; not to search. Returns for each ingestion its state (running, \
finished, failed, interrupted), counts, problems with reasons, and next_step, which says what to do now. "interrupted" \
means that its process ended: call ingest_source with the same source again, and it goes on where it was."""

IngestionId = Annotated[
    str, Field(description="An ingestion_id of ingest_source. Default: empty, the last ten ingestions.")
]
WaitSeconds = Annotated[
    int,
    Field(
        ge=0,
        le=20,
        description="With an ingestion_id: seconds to wait for its end before the reply comes, 0 to 20. Default: 0.",
    ),
]
_LISTED = 10


async def ingestion_status(
    ctx: Context[ServerState], ingestion_id: IngestionId = "", wait_seconds: WaitSeconds = 0
) -> Annotated[CallToolResult, IngestionsReply]:
    """Registered with ``DESCRIPTION``; see there."""
    app = await ctx.request_context.lifespan_context.app()
    wanted = ingestion_id.strip()
    if wanted:
        found = [await app.ingestions.wait(wanted, wait_seconds, watch_of(ctx))]
    else:
        found = await app.ingestions.recent(_LISTED)
    reply = IngestionsReply(ingestions=[ingestion_reply(each, app.settings) for each in found])
    return CallToolResult(
        content=[TextContent(type="text", text=ingestions_text(reply))],
        structured_content=reply.model_dump(mode="json"),
    )
