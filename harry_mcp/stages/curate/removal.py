"""Removing a document for good: with its passages, keywords, vectors and kept versions; only the records stay."""

from __future__ import annotations

from harry_mcp.domain.people import Principal
from harry_mcp.storage.unit_of_work import UnitOfWork


async def remove(unit: UnitOfWork, document_id: str, by: Principal) -> bool:
    """Delete a document in the caller's transaction, with its records; false when it was not there."""
    await unit.keywords.lock()
    document = await unit.documents.get(document_id)
    if document is None:
        return False
    await unit.documents.delete(document_id)
    await unit.curation.add(document_id, "remove", actor=by.name, before=document.status.value)
    await unit.audit.add(
        by,
        "remove",
        kind="document",
        target_id=document_id,
        target=document.title,
        detail={"source": document.source, "before": document.status.value},
    )
    return True
