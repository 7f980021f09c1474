"""Resources: what a host can put in front of a model without a tool call."""

from __future__ import annotations

import asyncio
from urllib.parse import quote

from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp_types import Resource

from harry_mcp.errors import HarryError, InputError
from harry_mcp.server.moments import moment
from harry_mcp.server.render import document_text
from harry_mcp.server.render_corrections import correction_reply, corrections_text
from harry_mcp.server.render_digest import digest_text
from harry_mcp.server.schemas import DocumentReply
from harry_mcp.server.schemas_corrections import CorrectionsReply
from harry_mcp.server.state import ServerState

CORRECTIONS = "kb://corrections"
TITLE = "Active corrections"
DESCRIPTION = "The active corrections, the last changed first, at most 50: what people said is wrong and what is true."
DIGEST = "kb://digest"
DIGEST_TITLE = "Curation digest"
DIGEST_DESCRIPTION = "How the knowledge base is doing, for a curator: the same as the tool curation_digest gives."
DOCUMENT = "kb://documents/{document}"
DOCUMENT_TITLE = "A document of the knowledge base"
DOCUMENT_DESCRIPTION = (
    "A document as Markdown, by its id or its title. A long one is cut; read_document reads on where it says."
)
_MOST = 50
# Documents that are listed, and seconds that a list waits for the knowledge base to be open.
_LISTED = 50
_PATIENCE = 10.0


def document_uri(document_id: str) -> str:
    """The address of a document."""
    return DOCUMENT.format(document=quote(document_id, safe=""))


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
            active=-1,
            next_offset=-1,
            next_step="search_kb and verified_lookup bring those that bear on a question by themselves.",
        )
    )


async def digest(state: ServerState) -> str:
    """Registered with ``DIGEST_DESCRIPTION``; see there."""
    try:
        app = await state.app()
        return digest_text(await app.loop.digest.digest(top=5))
    except HarryError as error:
        raise ResourceError(str(error)) from error


async def latest(state: ServerState) -> list[Resource]:
    """The documents that changed last, to pick one from; none while the knowledge base cannot be opened."""
    try:
        app = await asyncio.wait_for(state.app(), _PATIENCE)
        found = await app.browse.latest(_LISTED)
    except (HarryError, TimeoutError):
        return []
    return [
        Resource(uri=document_uri(each.id), name=each.id, title=each.title, mime_type="text/markdown") for each in found
    ]


async def document(state: ServerState, name: str) -> str:
    """Registered with ``DOCUMENT_DESCRIPTION``; see there."""
    try:
        app = await state.app()
        key = await app.browse.named(name)
        page = await app.loop.read(key, offset=0, limit=state.settings.reply.document_characters)
    except InputError as error:
        # Of the request and not of the server: the protocol has a code for each.
        raise ResourceNotFoundError(str(error)) from error
    except HarryError as error:
        raise ResourceError(str(error)) from error
    found = page.document
    return document_text(
        DocumentReply(
            document_id=found.id,
            title=found.title,
            url=found.url,
            source=found.source,
            topic=found.topic,
            language=found.language,
            version=found.version,
            updated_at=moment(found.updated_at),
            caveats=list(page.caveats),
            text=page.text,
            offset=page.offset,
            next_offset=page.next_offset,
            total_characters=page.total,
        )
    )
