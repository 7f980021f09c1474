"""run_rot_checks: look for documents that are out of date, contradicted, gone at their source, or complained about."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent
from pydantic import Field

from harry_mcp.domain.rot import RotSignal
from harry_mcp.server.render_rot import rot_reply, rot_text
from harry_mcp.server.schemas_rot import RotReply, SignalName
from harry_mcp.server.state import ServerState, caller_of

TITLE = "Check for rot"
DESCRIPTION = """\
Runs the checks that flag doubtful documents for review, now instead of at night: stale (old, and about what people \
ask in vain), contradiction (documents of one address or subject that deny each other), dead_source (asks whether each \
document's web page is still there) and negative_feedback (complaints that name a document). Call it when a curator \
asks to check the knowledge base; not while answering a question. Flagged documents stay findable, with caveats.

Returns for each check its state, what was examined, what is left, how many documents were newly flagged, examples \
with the reason, and how often a curator bore its flags out. It stops after `seconds`: with state "partial" call it \
again, and it goes on where it was. Calling it again flags nothing twice: each address is asked once a day, and the \
same evidence counts once."""

Signals = Annotated[
    list[SignalName],
    Field(
        max_length=4,
        description="The checks to run: stale, contradiction, dead_source, negative_feedback. Default: empty, all.",
    ),
]
Seconds = Annotated[
    int, Field(ge=1, le=25, description="Seconds after which it stops and says what is left, 1 to 25. Default: 20.")
]
_ALL: list[SignalName] = []


async def run_rot_checks(
    ctx: Context[ServerState], signals: Signals = _ALL, seconds: Seconds = 20
) -> Annotated[CallToolResult, RotReply]:
    """Registered with ``DESCRIPTION``; see there."""
    state = ctx.request_context.lifespan_context
    app = await state.app()
    wanted = [RotSignal(signal) for signal in signals]
    reply = rot_reply(await app.loop.rot.run(wanted, actor=caller_of(ctx).name, seconds=seconds))
    return CallToolResult(
        content=[TextContent(type="text", text=rot_text(reply))],
        structured_content=reply.model_dump(mode="json"),
    )
