"""list_corrections: the corrections, for a curator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent
from pydantic import Field

from harry_mcp.server.fitting import fitting, following, more
from harry_mcp.server.render_corrections import correction_reply, corrections_text, touched_replies
from harry_mcp.server.schemas_corrections import CorrectionsReply
from harry_mcp.server.state import ServerState
from harry_mcp.server.tools.list_verified import Limit, Offset

TITLE = "List corrections"
DESCRIPTION = """\
Returns corrections for a curator: those that wait for review (pending) with the reason, active ones, deprecated ones. \
Not for answering questions: search_kb brings the relevant ones by itself. With a correction_id it returns that one \
and its blast radius: how many answers it went into, and the last of them. review_correction acts on them."""

_FOUND = "Call review_correction to approve, deprecate or promote one."

Status = Annotated[
    Literal["pending", "active", "deprecated", "all"],
    Field(description="pending, active, deprecated or all. Default: pending."),
]
Topic = Annotated[str, Field(max_length=200, description="Only corrections of this topic. Default: empty, all.")]
CorrectionId = Annotated[
    str, Field(max_length=100, description="Only this correction, with the answers it went into. Default: empty.")
]


async def list_corrections(
    ctx: Context[ServerState],
    status: Status = "pending",
    topic: Topic = "",
    correction_id: CorrectionId = "",
    limit: Limit = 10,
    offset: Offset = 0,
) -> Annotated[CallToolResult, CorrectionsReply]:
    """Registered with ``DESCRIPTION``; see there."""
    state = ctx.request_context.lifespan_context
    app = await state.app()
    standing: dict[str, int] = {}
    if correction_id.strip():
        answers, touched = await app.loop.corrections.touched(correction_id)
        found = [await app.loop.corrections.get(correction_id)]
    else:
        answers, touched = -1, []
        wanted = "" if status == "all" else status
        standing = await app.loop.corrections.standing(topic=topic.strip())
        found = await app.loop.corrections.list(wanted, topic=topic.strip(), limit=limit + 1, offset=offset)
    shown = fitting([correction_reply(each) for each in found[:limit]], state.settings.reply.text_characters)
    after = following(len(shown), len(found), offset)
    reply = CorrectionsReply(
        corrections=shown,
        answers_touched=answers,
        touched=touched_replies(touched),
        active=-1 if correction_id.strip() else standing.get("active", 0),
        next_offset=after,
        next_step=(_FOUND if found else _none(status, standing, offset)) + more(after),
    )
    return CallToolResult(
        content=[TextContent(type="text", text=corrections_text(reply))],
        structured_content=reply.model_dump(mode="json"),
    )


def _none(status: str, standing: Mapping[str, int], offset: int) -> str:
    """Which corrections there are none of, and which there are."""
    if standing.get(status, 0) or (status == "all" and standing):
        return f"None comes after the first {offset}. Begin at offset 0."
    there = [f"{number} {other} (status {other})" for other, number in sorted(standing.items())]
    listed = (
        "None is there" if status == "all" else "None waits for review" if status == "pending" else f"None is {status}"
    )
    return f"{listed}. There are {' and '.join(there)}." if there else f"{listed}, and there is no other."
