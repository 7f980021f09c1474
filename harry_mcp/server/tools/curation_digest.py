"""curation_digest: the state of the knowledge base, for a curator."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent
from pydantic import Field

from harry_mcp.server.render_digest import digest_reply, digest_text
from harry_mcp.server.schemas_digest import DigestReply
from harry_mcp.server.state import ServerState

TITLE = "Curation digest"
DESCRIPTION = """\
Shows a curator how the knowledge base is doing: what happened to documents in 24 hours, how many searches of the last \
7 days it could not answer and had to hand to the web (with the change from the week before), the questions asked most \
without an answer, the documents that most was said against, feedback, and what waits. Not for answering questions. \
Start here when asked "what needs attention?". Returns figures and next_step, which names the tool that acts on what \
waits. The same digest is mailed once a day by `harry worker`."""

Top = Annotated[int, Field(ge=1, le=20, description="Gaps and documents to name, 1 to 20. Default: 5.")]


async def curation_digest(ctx: Context[ServerState], top: Top = 5) -> Annotated[CallToolResult, DigestReply]:
    """Registered with ``DESCRIPTION``; see there."""
    app = await ctx.request_context.lifespan_context.app()
    digest = await app.loop.digest.digest(top=top)
    return CallToolResult(
        content=[TextContent(type="text", text=digest_text(digest))],
        structured_content=digest_reply(digest).model_dump(mode="json"),
    )
