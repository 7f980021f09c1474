"""Prompts that a person picks in the host: a question with what people corrected already in front of the model."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts.base import UserMessage
from pydantic import Field

from harry_mcp.domain.plain import one_line
from harry_mcp.domain.verified import Match
from harry_mcp.server.render_corrections import relevant_lines, relevant_replies
from harry_mcp.server.render_review import queue_text
from harry_mcp.server.render_verified import failure_replies, match_lines, match_reply
from harry_mcp.server.review_replies import Asked, queue_reply
from harry_mcp.server.state import ServerState

ANSWER_NAME = "answer_with_citations"
CURATE_NAME = "curate_queue"
TABS = ("flagged", "pending", "archived", "recent")
TITLE = "Answer with citations"
DESCRIPTION = (
    "Answers a question from the knowledge base, with its official answer and the corrections that bear on it."
)
CURATE_TITLE = "Curate today's queue"
CURATE_DESCRIPTION = (
    "Goes through what waits for a curator, the most harmful first, and proposes a decision for each; you decide."
)

_LONGEST_TOPIC = 200
# Documents of the queue that a conversation begins with.
_SHOWN = 10


async def answer_with_citations(
    question: Annotated[str, Field(description="The question, standing alone.")],
    ctx: Context[ServerState],
    topic: Annotated[str, Field(description="Only documents of this topic. Default: all.")] = "",
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
    topic = one_line(topic, _LONGEST_TOPIC)
    narrowed = f" and the topic {topic!r}" if topic else ""
    lines = [
        f"Answer this question from the knowledge base: {question}",
        "",
        f"Call search_kb with it{narrowed} and follow verdict.next_action. Cite titles and URLs of what you used, "
        f"and only of what a tool returned. If neither the knowledge base nor web_fallback knows, say that you do "
        f"not know.{style}",
        *(["", "What is known about it already:", *known] if known else []),
    ]
    return [UserMessage("\n".join(lines))]


async def curate_queue(
    ctx: Context[ServerState],
    tab: Annotated[
        Literal["flagged", "pending", "archived", "recent"],
        Field(description="flagged, pending, archived or recent. Default: flagged."),
    ] = "flagged",
) -> list[UserMessage]:
    """Registered with ``CURATE_DESCRIPTION``; see there."""
    state = ctx.request_context.lifespan_context
    asked = Asked(limit=_SHOWN, characters=state.settings.reply.text_characters)
    reply = await queue_reply((await state.app()).loop.review, tab, "", asked)
    lines = [
        f"Help me go through the {tab} documents of the knowledge base, one at a time, from the top.",
        "",
        "For each: call list_review_queue with its document_id to see its text and what speaks against it, say in two "
        "sentences what is wrong, and propose one of what review_documents can do. Where you are not sure, call it "
        "with preview=true and tell me which past questions would change. Do nothing before I said yes; then name the "
        "action id, with which rollback_review takes it back.",
        "",
        queue_text(reply),
    ]
    return [UserMessage("\n".join(lines))]
