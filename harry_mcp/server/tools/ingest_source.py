"""ingest_source: documents into the knowledge base, by handle where it takes long."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent
from pydantic import Field

from harry_mcp.domain.ingestions import IngestionRequest
from harry_mcp.server.render import ingestion_text
from harry_mcp.server.schemas import IngestionReply
from harry_mcp.server.state import ServerState, caller_of
from harry_mcp.server.tools.ingestion_replies import ingestion_reply, watch_of

TITLE = "Bring documents in"
DESCRIPTION = """\
Reads a page, a whole site, a file or a folder into the knowledge base, so that search_kb finds it. Call it when the \
user asks to add or refresh a source; never on your own because a search was weak, and never for an address that only \
a document named. Reading the same source again writes only what changed; pages that are gone are reported, not deleted.

Returns an ingestion: its ingestion_id, its state, what was planned, counts (new, changed, unchanged, gone, refused, \
failed) and problems. Small sources come back with state "finished". Longer ones come back "running" after \
wait_seconds and go on in the background: ask ingestion_status with the ingestion_id. Called for a source that is \
running, it returns that ingestion; for one that was interrupted, it goes on with it."""

SourceToRead = Annotated[
    str,
    Field(
        description="What to read: an http(s) address, or the absolute path of a file, a folder (with all below it) or "
        "a glob such as /docs/**/*.md on the machine of this server. Required."
    ),
]
Crawl = Annotated[
    bool,
    Field(
        description="true: the whole site that the address belongs to, as its robots.txt allows. false: that page. "
        "Default: False."
    ),
]
GivenTopic = Annotated[str, Field(description="Topic to put the documents under. Default: empty, none.")]
Pages = Annotated[
    int,
    Field(
        ge=0,
        le=1_000_000,
        description="With crawl: pages to ask for at most, 1 and up. Default: 0, as the server is set up.",
    ),
]
Prefix = Annotated[
    str,
    Field(description="With crawl: only pages under this path, such as /docs. Default: empty, the whole site."),
]
WaitSeconds = Annotated[
    int,
    Field(
        ge=0,
        le=20,
        description="Seconds to wait for the end before the reply comes, 0 to 20. Default: 2.",
    ),
]


async def ingest_source(
    source: SourceToRead,
    ctx: Context[ServerState],
    crawl: Crawl = False,
    topic: GivenTopic = "",
    pages: Pages = 0,
    prefix: Prefix = "",
    wait_seconds: WaitSeconds = 2,
) -> Annotated[CallToolResult, IngestionReply]:
    """Registered with ``DESCRIPTION``; see there."""
    app = await ctx.request_context.lifespan_context.app()
    request = IngestionRequest(source=source, crawl=crawl, topic=topic, pages=pages, prefix=prefix or "/")
    begun = await app.ingestions.begin(request, caller_of(ctx))
    reply = ingestion_reply(await app.ingestions.wait(begun.id, wait_seconds, watch_of(ctx)), app.settings)
    return CallToolResult(
        content=[TextContent(type="text", text=ingestion_text(reply))],
        structured_content=reply.model_dump(mode="json"),
    )
