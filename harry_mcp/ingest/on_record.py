"""Who wanted something read into the knowledge base."""

from __future__ import annotations

from harry_mcp.domain.ingestions import IngestionRequest
from harry_mcp.domain.people import Principal
from harry_mcp.storage.texts import storable
from harry_mcp.storage.unit_of_work import UnitOfWork

_LONGEST_ID = 200
_LONGEST_SOURCE = 2000


async def note_ingest(unit: UnitOfWork, request: IngestionRequest, by: Principal, *, ingestion_id: str = "") -> None:
    """Put it into the audit log, before the first document is stored: also a run that is killed is on record."""
    source = storable(request.source)[:_LONGEST_SOURCE]
    given = {"topic": storable(request.topic), "pages": request.pages, "prefix": storable(request.prefix)}
    detail = {name: value for name, value in given.items() if value and value != "/"}
    await unit.audit.add(
        by,
        "crawl" if request.crawl else "ingest",
        kind="source",
        target_id=ingestion_id or source[:_LONGEST_ID],
        target=source,
        detail=detail,
    )
