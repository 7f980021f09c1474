"""review_correction: a curator's decision about a correction."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent
from pydantic import Field

from harry_mcp.domain.corrections import CorrectionAction, LessonPreview
from harry_mcp.domain.plain import one_line
from harry_mcp.server.render_corrections import (
    changed_question_replies,
    correction_reply,
    corrections_text,
    touched_replies,
)
from harry_mcp.server.schemas_corrections import DecisionReply
from harry_mcp.server.state import ServerState, caller_of

TITLE = "Decide about a correction"
DESCRIPTION = """\
A curator's decision about one correction. "approve": it reaches agents from the next request on. "deprecate": it \
reaches none any more; it is kept and can be approved again. "reopen": take a decision back, it waits for one once \
more. "promote": make it a draft document that waits for review. Do this only when the curator asked for it. With \
preview it changes nothing and returns which past questions the correction would go into, or leave. Returns the \
correction as it is now, and the answers that it went into."""

CorrectionId = Annotated[str, Field(description="The correction_id of list_corrections. Required.")]
Action = Annotated[
    Literal["approve", "deprecate", "reopen", "promote"],
    Field(description="approve, deprecate, reopen or promote. Required."),
]
Preview = Annotated[bool, Field(description="true: change nothing and show what would be. Default: False.")]
Reason = Annotated[str, Field(max_length=500, description="Why, for the record. Default: empty.")]


async def review_correction(
    correction_id: CorrectionId,
    action: Action,
    ctx: Context[ServerState],
    reason: Reason = "",
    preview: Preview = False,
) -> Annotated[CallToolResult, DecisionReply]:
    """Registered with ``DESCRIPTION``; see there."""
    state = ctx.request_context.lifespan_context
    app = await state.app()
    corrections, wanted = app.loop.corrections, CorrectionAction(action)
    found = LessonPreview()
    if preview:
        await app.loop.recorded()
        found = await corrections.preview(correction_id, wanted)
        correction = await corrections.get(correction_id)
        step = "Nothing was changed. Tell the curator what would be; when they agree, call again without preview."
    else:
        correction = await corrections.review(correction_id, wanted, caller_of(ctx), reason=reason.strip())
        draft = f" Its draft is {correction.document_id}, pending." if correction.document_id else ""
        step = f"It is {correction.status.value} now.{draft}"
    answers, touched = await corrections.touched(correction.id)
    reply = DecisionReply(
        outcome="preview" if preview else "done",
        corrections=[correction_reply(correction)],
        answers_touched=answers,
        touched=touched_replies(touched),
        questions=changed_question_replies(found.changes),
        questions_tried=found.asked,
        questions_left=found.unasked,
        effects=[one_line(effect, 300) for effect in found.effects],
        note=found.note,
        active=-1,
        next_offset=-1,
        next_step=step,
    )
    return CallToolResult(
        content=[TextContent(type="text", text=corrections_text(reply))],
        structured_content=reply.model_dump(mode="json"),
    )
