"""Reading a document a page at a time."""

from __future__ import annotations

from dataclasses import dataclass

from harry_mcp.domain.documents import Document
from harry_mcp.errors import InputError, NotFoundError
from harry_mcp.loop.standing import told_of
from harry_mcp.storage.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPage:
    """A page of a document. ``next_offset`` is -1 at the end."""

    document: Document
    text: str
    offset: int
    next_offset: int
    total: int
    caveats: tuple[str, ...]


async def read_page(database: Database, key: str, *, offset: int, limit: int) -> DocumentPage:
    """A page of the document that an id, a chunk id, a URL or a source names.

    Raises:
        NotFoundError: there is none that readers may see.
        InputError: the offset lies behind the end.
    """
    async with database.reading() as unit:
        document = await unit.documents.find(key) if key else None
        if document is None or not document.status.searchable:
            raise NotFoundError(
                f"There is no document {key[:100]!r}. Pass a document_id, a chunk id or a URL that search_kb returned."
            )
        page = await unit.documents.text(document.id, offset, limit)
        told = await told_of(unit, document)
    if offset and offset >= page.total:
        raise InputError(
            f"offset {offset} is behind the end: the document has {page.total} characters. Pass a smaller offset."
        )
    end = offset + len(page.text)
    return DocumentPage(
        document=document,
        text=page.text,
        offset=offset,
        next_offset=end if end < page.total else -1,
        total=page.total,
        caveats=told,
    )
