"""review_verified: a curator's decision about an official answer."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent
from pydantic import Field

from harry_mcp.domain.verified import VerifiedAction
from harry_mcp.server.render_verified import entries_text, entry_reply
from harry_mcp.server.schemas_verified import EntriesReply
from harry_mcp.server.state import ServerState, caller_of

TITLE = "Decide about an official answer"
DESCRIPTION = """\
A curator's decision about one verified response. "approve": serve it as the official answer from now on; on an active \
one it vouches for the cited documents as they are now; with answer, the wording is changed first. "reject": a \
candidate is not wanted. "retire": stop serving an active one; it is kept and can be approved again. "never_serve": \
remember that it must never answer the given question. Do this only when the curator asked for it. Returns the entry \
as it is now."""

ResponseId = Annotated[str, Field(description="The response_id of list_verified. Required.")]
Action = Annotated[
    Literal["approve", "reject", "retire", "never_serve"],
    Field(description="approve, reject, retire or never_serve. Required."),
]
Question = Annotated[
    str, Field(max_length=2000, description="For never_serve: the question that it must not answer. Default: empty.")
]
NewAnswer = Annotated[
    str, Field(max_length=8000, description="For approve: another wording of the answer. Default: empty, as it is.")
]


async def review_verified(
    response_id: ResponseId,
    action: Action,
    ctx: Context[ServerState],
    question: Question = "",
    answer: NewAnswer = "",
) -> Annotated[CallToolResult, EntriesReply]:
    """Registered with ``DESCRIPTION``; see there."""
    state = ctx.request_context.lifespan_context
    app = await state.app()
    entry = await app.loop.verified.review(
        response_id.strip(), VerifiedAction(action), caller_of(ctx), question=question, answer=answer
    )
    reply = EntriesReply(entries=[entry_reply(entry)], next_offset=-1, next_step=f"It is {entry.status.value} now.")
    return CallToolResult(
        content=[TextContent(type="text", text=entries_text(reply))],
        structured_content=reply.model_dump(mode="json"),
    )
