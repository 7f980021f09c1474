"""submit_correction: what was wrong, and what is true instead."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent
from pydantic import Field

from harry_mcp.domain.corrections import CorrectionStatus, Lesson
from harry_mcp.domain.people import reported_by
from harry_mcp.server.render_corrections import correction_reply, submissions_text
from harry_mcp.server.schemas_corrections import SubmissionReply, SubmissionsReply
from harry_mcp.server.state import ServerState, caller_of

TITLE = "Correct an answer"
DESCRIPTION = """\
Stores a correction: the user says that something the knowledge base or you said is wrong, and what is true. Call it \
when the user corrects a fact, not for wishes or opinions. One lesson each: submit several statements one by one. Give \
wrong, truth and a one-line lesson that stands alone ("The API limit is 600 requests a minute, not 1,000."); keep \
numbers, names and versions exact. From the next question on it comes back with every answer that it bears on. Returns \
whether it is new, was there already or was merged with one that says the same, and whether it is active or waits for \
review. The same submission again changes nothing but the count."""

Wrong = Annotated[str, Field(description="What was said that is not so, at most 1,000 characters. Required.")]
Truth = Annotated[str, Field(description="What is so instead, at most 1,000 characters. Required.")]
LessonLine = Annotated[
    str,
    Field(description="One sentence to remember, that names its object and stands alone. Required."),
]
CorrectionTopic = Annotated[
    str, Field(max_length=200, description="Topic or kind of task that it belongs to. Default: empty, any.")
]
SourceUrl = Annotated[
    str,
    Field(
        max_length=2000,
        description="The page that says what is wrong, if one was named; it is flagged for review. Default: empty.",
    ),
]
ResultId = Annotated[
    str,
    Field(
        max_length=200,
        description="The search_id or lookup_id of the answer that was wrong: the lesson comes back with its question. "
        "Default: empty.",
    ),
]
ReportedBy = Annotated[
    str,
    Field(max_length=200, description="The person who said it, when you speak for several people. Default: empty."),
]


async def submit_correction(
    wrong: Wrong,
    truth: Truth,
    lesson: LessonLine,
    ctx: Context[ServerState],
    topic: CorrectionTopic = "",
    source_url: SourceUrl = "",
    result_id: ResultId = "",
    reporter: ReportedBy = "",
) -> Annotated[CallToolResult, SubmissionsReply]:
    """Registered with ``DESCRIPTION``; see there."""
    state = ctx.request_context.lifespan_context
    app = await state.app()
    given = Lesson(
        wrong=wrong.strip(),
        truth=truth.strip(),
        line=lesson.strip(),
        topic=topic.strip(),
        source_url=source_url.strip(),
    )
    stored = await app.loop.submit_correction(given, reported_by(caller_of(ctx), reporter), result_id=result_id.strip())
    reply = SubmissionsReply(
        submissions=[
            SubmissionReply(
                outcome=item.outcome.value, correction=correction_reply(item.correction), redacted=item.redacted
            )
            for item in stored
        ],
        next_step=_next_step([item.correction.status for item in stored]),
    )
    return CallToolResult(
        content=[TextContent(type="text", text=submissions_text(reply))],
        structured_content=reply.model_dump(mode="json"),
    )


def _next_step(statuses: list[CorrectionStatus]) -> str:
    waiting = sum(status is not CorrectionStatus.ACTIVE for status in statuses)
    if not waiting:
        return "It is stored and counts from the next question on. Tell the user."
    if waiting < len(statuses):
        return (
            f"{waiting} of {len(statuses)} lessons wait for review, see status_reason; the others count. Tell the user."
        )
    return "It is stored and waits for review, see status_reason. Tell the user."
