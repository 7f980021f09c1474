"""review_correction: a curator's decision about a correction."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent
from pydantic import Field

from harry_mcp.domain.corrections import CorrectionAction
from harry_mcp.server.render_corrections import correction_reply, corrections_text, touched_replies
from harry_mcp.server.schemas_corrections import CorrectionsReply
from harry_mcp.server.state import ServerState

TITLE = "Decide about a correction"
DESCRIPTION = """\
A curator's decision about one correction. "approve": it reaches agents from the next request on. "deprecate": it \
reaches none any more; it is kept and can be approved again. "promote": make it a draft document that waits for \
review. Do this only when the curator asked for it. Returns the correction as it is now, and the answers that it went \
into."""

CorrectionId = Annotated[str, Field(description="The correction_id of list_corrections. Required.")]
Action = Annotated[
    Literal["approve", "deprecate", "promote"], Field(description="approve, deprecate or promote. Required.")
]
Reason = Annotated[str, Field(max_length=500, description="Why, for the record. Default: empty.")]


async def review_correction(
    correction_id: CorrectionId, action: Action, ctx: Context[ServerState], reason: Reason = ""
) -> Annotated[CallToolResult, CorrectionsReply]:
    """Registered with ``DESCRIPTION``; see there."""
    state = ctx.request_context.lifespan_context
    app = await state.app()
    correction = await app.loop.corrections.review(
        correction_id.strip(), CorrectionAction(action), state.caller, reason=reason.strip()
    )
    answers, touched = await app.loop.corrections.touched(correction.id)
    draft = f" Its draft is {correction.document_id}, pending." if correction.document_id else ""
    reply = CorrectionsReply(
        corrections=[correction_reply(correction)],
        answers_touched=answers,
        touched=touched_replies(touched),
        next_step=f"It is {correction.status.value} now.{draft}",
    )
    return CallToolResult(
        content=[TextContent(type="text", text=corrections_text(reply))],
        structured_content=reply.model_dump(mode="json"),
    )
