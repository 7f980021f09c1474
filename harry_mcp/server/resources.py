"""Resources: what a host can put in front of a model without a tool call."""

from __future__ import annotations

from mcp.server.mcpserver.exceptions import ResourceError

from harry_mcp.errors import HarryError
from harry_mcp.server.render_corrections import correction_reply, corrections_text
from harry_mcp.server.schemas_corrections import CorrectionsReply
from harry_mcp.server.state import ServerState

CORRECTIONS = "kb://corrections"
TITLE = "Active corrections"
DESCRIPTION = "The active corrections, the last changed first, at most 50: what people said is wrong and what is true."
_MOST = 50


async def corrections(state: ServerState) -> str:
    """Registered with ``DESCRIPTION``; see there."""
    try:
        app = await state.app()
        active = await app.loop.corrections.list("active", limit=_MOST)
    except HarryError as error:
        raise ResourceError(str(error)) from error
    return corrections_text(
        CorrectionsReply(
            corrections=[correction_reply(each) for each in active],
            answers_touched=-1,
            touched=[],
            next_offset=-1,
            next_step="search_kb and verified_lookup bring those that bear on a question by themselves.",
        )
    )
