"""Prompts that a person picks in the host: a question with what people corrected already in front of the model."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts.base import UserMessage
from pydantic import Field

from harry_mcp.domain.verified import Match
from harry_mcp.server.render_corrections import relevant_lines, relevant_replies
from harry_mcp.server.render_verified import failure_replies, match_lines, match_reply
from harry_mcp.server.state import ServerState

TITLE = "Answer with citations"
DESCRIPTION = (
    "Answers a question from the knowledge base, with its official answer and the corrections that bear on it."
)


async def answer_with_citations(
    question: Annotated[str, Field(description="The question, standing alone.")], ctx: Context[ServerState]
) -> list[UserMessage]:
    """Registered with ``DESCRIPTION``; see there."""
    app = await ctx.request_context.lifespan_context.app()
    result = await app.loop.lookup(question)
    corrections = relevant_replies(result.corrections)
    failures = failure_replies(result.failures)
    known = relevant_lines(corrections)
    if result.verified.match is not Match.NONE or failures:
        known = [*match_lines(match_reply(result.verified), failures), *known]
    style = f" {app.profile.answer_style}" if app.profile.answer_style else ""
    lines = [
        f"Answer this question from the knowledge base: {question}",
        "",
        "Call search_kb with it and follow verdict.next_action. Cite titles and URLs of what you used, and only of "
        f"what a tool returned. If neither the knowledge base nor web_fallback knows, say that you do not know.{style}",
        *(["", "What is known about it already:", *known] if known else []),
    ]
    return [UserMessage("\n".join(lines))]
