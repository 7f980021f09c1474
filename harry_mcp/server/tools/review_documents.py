"""review_documents: a curator's decision about documents."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent
from pydantic import Field

from harry_mcp.domain.curation import ReviewAction
from harry_mcp.server.render_review import review_text
from harry_mcp.server.review_replies import did, would
from harry_mcp.server.schemas_review import ReviewReply
from harry_mcp.server.state import ServerState, caller_of, is_read_by_a_model
from harry_mcp.server.tools.asking_first import Asked, answer_of, key_of

TITLE = "Decide about documents"
DESCRIPTION = """\
A curator's decision about one or more documents. "approve": a pending draft goes live, a flagged one is right. \
"archive": out of every search, kept. "restore": an archived or rejected one goes back to what it was. "keep": a \
flagged one stays flagged and moves down the queue. "rewrite": one document gets the whole new text or title; the old \
one is kept; pass the version that the text was made from as base_version, so that nobody else's change is \
overwritten. "reject": a draft is not wanted. Do this only when the curator asked for it. Documents that an action is \
not for are left and named; all others are done together or not at all.

With preview it changes nothing and returns what would be done and which past questions would be answered \
otherwise. Archiving, rejecting or rewriting several, or one that is much used, asks the curator first; where the \
client cannot ask it needs confirm. Returns what was done and the action_id that rollback_review undoes it by."""

Action = Annotated[
    Literal["approve", "archive", "restore", "keep", "rewrite", "reject"],
    Field(description="approve, archive, restore, keep, rewrite or reject. Required."),
]
DocumentIds = Annotated[
    list[str],
    Field(min_length=1, max_length=1000, description="The document_ids of list_review_queue or search_kb. Required."),
]
Text = Annotated[
    str,
    Field(
        max_length=500_000,
        description="For rewrite: the whole new text, Markdown. Default: empty, the text stays.",
    ),
]
BaseVersion = Annotated[
    int,
    Field(
        ge=0,
        le=2_000_000_000,
        description="For rewrite: the version that the new text was made from, as read_document or list_review_queue "
        "gave it. At another version by then it is refused, and says who changed it. Default: 0, not checked.",
    ),
]
Title = Annotated[str, Field(max_length=300, description="For rewrite: a new title. Default: empty, it stays.")]
Reason = Annotated[str, Field(max_length=500, description="Why, for the record. Default: empty.")]
Preview = Annotated[bool, Field(description="true: change nothing and show what would be. Default: False.")]
Confirm = Annotated[
    bool,
    Field(
        description="true: the curator said yes in this conversation. Counts where the client cannot ask, or asked in "
        "vain. Default: False."
    ),
]


async def review_documents(
    action: Action,
    document_ids: DocumentIds,
    ctx: Context[ServerState],
    asked: Asked,
    text: Text = "",
    title: Title = "",
    base_version: BaseVersion = 0,
    reason: Reason = "",
    preview: Preview = False,
    confirm: Confirm = False,
) -> Annotated[CallToolResult, ReviewReply]:
    """Registered with ``DESCRIPTION``; see there."""
    state = ctx.request_context.lifespan_context
    app = await state.app()
    review, wanted, answer = app.loop.review, ReviewAction(action), answer_of(asked)
    if preview or answer in ("declined", "cancelled", "cannot_be_asked"):
        if answer in ("declined", "cancelled"):
            await state.note_declined(caller_of(ctx), key_of(action, document_ids, text, title))
        planned = await review.preview(wanted, document_ids, text=text, title=title, base_version=base_version)
        reply = would(planned, answer, brief=is_read_by_a_model(ctx))
    else:
        told = {"text": text, "title": title, "reason": reason}
        outcome = await review.act(wanted, document_ids, caller_of(ctx), base_version=base_version, **told)
        if answer == "confirmed":
            await state.forget_declined(caller_of(ctx), key_of(action, document_ids, text, title))
        reply = did(outcome, answer, brief=is_read_by_a_model(ctx))
    return CallToolResult(
        content=[TextContent(type="text", text=review_text(reply))],
        structured_content=reply.model_dump(mode="json"),
    )
