"""What is told against documents, as things stand at the moment of an answer.

The sentences are stored when a signal speaks; what happened since is looked up when they are read. So nothing that is
undone or done again has to change them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from harry_mcp.domain.documents import Document, DocumentStatus, caveats
from harry_mcp.domain.rot import as_of_now
from harry_mcp.domain.search import Passage
from harry_mcp.storage.unit_of_work import UnitOfWork


async def as_they_stand(unit: UnitOfWork, passages: Mapping[int, Passage]) -> dict[int, Passage]:
    """Passages with what is to be told of their documents now; without flagged ones nothing is asked."""
    flagged = {each.document_id for each in passages.values() if each.status == DocumentStatus.FLAGGED and each.caveats}
    if not flagged:
        return dict(passages)
    since = await unit.curation.since(flagged)
    return {
        key: replace(each, caveats=as_of_now(each.caveats, since[each.document_id]))
        if each.document_id in since
        else each
        for key, each in passages.items()
    }


async def told_of(unit: UnitOfWork, document: Document) -> tuple[str, ...]:
    """What is to be told with a document now."""
    if document.status is not DocumentStatus.FLAGGED or not document.caveats:
        return caveats(document.status, document.caveats)
    since = await unit.curation.since({document.id})
    return caveats(document.status, as_of_now(document.caveats, since.get(document.id, ())))
