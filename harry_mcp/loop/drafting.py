"""Web pages that closed a gap become draft documents: pending until a curator lets them in."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from functools import partial
from typing import Any

from harry_mcp.domain.documents import DocumentStatus, SourceDocument
from harry_mcp.errors import SourceError
from harry_mcp.ingest.fetched import Largest
from harry_mcp.ingest.fetching import fetch_page
from harry_mcp.ingest.ingester import Ingester
from harry_mcp.ingest.running import Note, Watch
from harry_mcp.ingest.sources import expand
from harry_mcp.settings import Settings
from harry_mcp.storage.database import Database
from harry_mcp.storage.unit_of_work import UnitOfWork
from harry_mcp.storage.web import StoredWebSearch

log = logging.getLogger(__name__)
_SECONDS = 5.0  # for one page; what cannot be had by then is drafted from the passages that the web search brought
_MOST = 3


class WebDrafts:
    """Turns the pages behind a praised web answer into pending documents."""

    def __init__(self, settings: Settings, database: Database, ingester: Ingester) -> None:
        self._largest = Largest.of(settings.ingest.file_bytes)
        self._database = database
        self._ingester = ingester

    async def draft(self, web: StoredWebSearch, urls: Sequence[str], *, actor: str) -> list[str]:
        """Store the pages that an answer cited (all of the result when it named none), pending; their document ids.

        A page that the knowledge base holds already is left as it is. Only pages that the web search let through are
        fetched, and private addresses never.
        """
        cited = set(urls)
        pages = [page for page in web.results if not cited or page["url"] in cited][:_MOST]
        documents = await asyncio.gather(*(asyncio.to_thread(self._document, page, web.topic) for page in pages))
        async with self._database.reading() as unit:
            known = await unit.documents.states([document.id for document in documents])
        new = [document for document in documents if document.id not in known]
        if not new:
            return []
        await self._ingester.ingest(new, status=DocumentStatus.PENDING, watch=_on_record(web, actor))
        return [document.id for document in new]

    def _document(self, page: dict[str, Any], topic: str) -> SourceDocument:
        url = str(page["url"])
        try:
            fetch = partial(fetch_page, timeout=_SECONDS, largest=self._largest)
            item = next(iter(expand(url, fetch=fetch, largest=self._largest)))
            read = item.read()
        except SourceError as error:
            log.info("%s is drafted from its passages: %s", url, error)
            text = "\n\n".join(str(passage) for passage in page["passages"])
            read = SourceDocument(source=url, title=str(page["title"]) or url, text=text, url=url)
        return SourceDocument(
            source=read.source, title=read.title, text=read.text, url=read.url, topic=topic, language=read.language
        )


def _on_record(web: StoredWebSearch, actor: str) -> Watch:
    """Where a draft comes from, written down in the transaction that stores it."""

    async def watch(document: SourceDocument, status: DocumentStatus) -> Note:
        async def note(unit: UnitOfWork) -> None:
            provenance = {"web_id": web.id, "gap_id": web.gap_id, "question": web.question}
            await unit.curation.add(document.id, "draft", actor=actor, after=status.value, detail=provenance)

        return note

    return watch
