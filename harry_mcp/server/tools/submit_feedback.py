"""submit_feedback: what the user says of an answer."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent
from pydantic import Field

from harry_mcp.domain.feedback import Opinion, Rating
from harry_mcp.server.render_verified import feedback_reply, feedback_text
from harry_mcp.server.schemas_verified import FeedbackReply
from harry_mcp.server.state import ServerState, caller_of

TITLE = "Rate an answer"
DESCRIPTION = """\
Stores what the user says of an answer that came from this server. Call it when the user praises an answer or \
complains about it; not to judge it yourself. rating "up" with the answer that was given makes it a candidate for an \
official answer. rating "down" needs a reason; name the source_urls that were wrong, so that they are reviewed. When \
the user says what is true instead, call submit_correction too. Returns what was done about it. One verdict for each \
person and result: a second one replaces the first."""

ResultId = Annotated[
    str, Field(description="The search_id, lookup_id or web_id of the result that the answer rested on. Required.")
]
RatingChoice = Annotated[Literal["up", "down"], Field(description="up or down. Required.")]
Reason = Annotated[
    Literal["", "wrong", "outdated", "incomplete", "irrelevant", "bad_source", "other"],
    Field(
        description="Why it was no good, required for down: wrong, outdated, incomplete, irrelevant (it answers "
        "another question), bad_source or other. Default: empty."
    ),
]
Comment = Annotated[str, Field(max_length=2000, description="What the user said, in short. Default: empty.")]
Answer = Annotated[
    str, Field(max_length=8000, description="The answer that the user was given; wanted for up. Default: empty.")
]
SourceUrls = Annotated[
    list[str],
    Field(
        max_length=20,
        description="For up: the sources that the answer cited. For down: those that are wrong. Default: none.",
    ),
]


async def submit_feedback(
    result_id: ResultId,
    rating: RatingChoice,
    ctx: Context[ServerState],
    reason: Reason = "",
    comment: Comment = "",
    answer: Answer = "",
    source_urls: SourceUrls = [],  # noqa: B006 - the schema shows it as the default, and nobody changes it
) -> Annotated[CallToolResult, FeedbackReply]:
    """Registered with ``DESCRIPTION``; see there."""
    state = ctx.request_context.lifespan_context
    app = await state.app()
    opinion = Opinion(
        result_id=result_id.strip(),
        rating=Rating(rating),
        reason=reason,
        comment=comment,
        answer=answer.strip(),
        source_urls=tuple(source_urls),
    )
    reply = feedback_reply(await app.loop.submit_feedback(opinion, caller_of(ctx)))
    return CallToolResult(
        content=[TextContent(type="text", text=feedback_text(reply))],
        structured_content=reply.model_dump(mode="json"),
    )
