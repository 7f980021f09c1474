"""The loop: the only module that knows the order of the stages."""

from __future__ import annotations

import asyncio
import logging
import re
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

from harry_mcp.domain.documents import Document, caveats
from harry_mcp.domain.search import (
    Band,
    Candidate,
    Hit,
    Retrieval,
    SearchFilters,
    SearchResult,
    SearchStatus,
    Verdict,
    gap_id,
)
from harry_mcp.errors import DatabaseUnavailable, InputError, NotFoundError, StorageError
from harry_mcp.profile import DomainProfile
from harry_mcp.settings import Settings
from harry_mcp.stages.rank.hits import assemble
from harry_mcp.stages.rank.ranker import RankStage
from harry_mcp.stages.retrieve.query import clean, optimize
from harry_mcp.stages.retrieve.retriever import HybridRetriever
from harry_mcp.storage.database import Database
from harry_mcp.storage.unit_of_work import UnitOfWork

log = logging.getLogger(__name__)
# Searches answered but not yet written down; beyond, an answer waits for one of them.
_MOST_UNRECORDED = 64
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPage:
    """A page of a document. ``next_offset`` is -1 at the end."""

    document: Document
    text: str
    offset: int
    next_offset: int
    total: int
    caveats: tuple[str, ...]


class HarryLoop:
    """Retrieve, rank, and record; verify, correct and curate join here as they come."""

    def __init__(
        self,
        *,
        settings: Settings,
        profile: DomainProfile,
        database: Database,
        retriever: HybridRetriever,
        ranker: RankStage,
    ) -> None:
        self._settings = settings
        self._profile = profile
        self._database = database
        self._retriever = retriever
        self._ranker = ranker
        self._recording: set[asyncio.Task[None]] = set()

    async def search(
        self, question: str, *, k: int = 0, filters: SearchFilters | None = None, record: bool = True
    ) -> SearchResult:
        """Answer a question with passages and a verdict, and have the search written down.

        ``k`` 0 takes the setting. A weak result opens a gap, or counts it once more.

        Raises:
            InputError: the question has no letter or digit, or is longer than the setting allows.
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        filters = _storable(filters or SearchFilters())
        self._check(question)
        try:
            result = await self._search(question, k, filters)
        except DatabaseUnavailable:
            # The connections may be those of a PostgreSQL that went and came back.
            await self._database.heal()
            result = await self._search(question, k, filters)
        if record:
            await self._record_soon(result, filters)
        return result

    async def _search(self, question: str, k: int, filters: SearchFilters) -> SearchResult:
        started = time.perf_counter()
        query = optimize(question, self._profile.glossary, self._settings.retrieve.query_characters)
        async with self._database.reading() as unit:
            retrieval = await self._retriever.retrieve(query, filters, unit)
            timings = dict(retrieval.timings_ms)
            rank_started = time.perf_counter()
            ranking, verdict = self._ranker.rank(retrieval, filtered=filters.any)
            timings["rank"] = _since(rank_started)
            read_started = time.perf_counter()
            hits = await self._hits(unit, ranking, k)
            timings["passages"] = _since(read_started)
        timings["total"] = _since(started)
        status = SearchStatus.OK if hits else SearchStatus.EMPTY
        return SearchResult(
            search_id="srch_" + uuid.uuid4().hex,
            question=query.question,
            query=query,
            status=SearchStatus.DEGRADED if retrieval.degraded else status,
            verdict=verdict,
            hits=hits,
            ranking=tuple(ranking),
            degraded=retrieval.degraded,
            timings_ms=timings,
            gap_id=gap_id(query.question) if _is_gap(verdict, retrieval, filters, ranking) else "",
            revision=retrieval.statistics.revision,
        )

    async def settled(self) -> None:
        """Wait until every search that was answered is written down."""
        while self._recording:
            await asyncio.wait(self._recording)

    async def _record_soon(self, result: SearchResult, filters: SearchFilters) -> None:
        """Write a search down while its answer is on the way; the answer neither waits for it nor fails with it."""
        if len(self._recording) >= _MOST_UNRECORDED:
            await asyncio.wait(self._recording, return_when=asyncio.FIRST_COMPLETED)
        task = asyncio.create_task(self._record(result, filters), name="harry-record")
        self._recording.add(task)
        task.add_done_callback(self._recording.discard)

    async def _record(self, result: SearchResult, filters: SearchFilters) -> None:
        try:
            async with self._database.reading() as unit:
                await unit.searches.record(result, filters)
        except StorageError as error:
            log.warning("the search %s was answered but not recorded: %s", result.search_id, error)

    async def _hits(self, unit: UnitOfWork, ranking: Sequence[Candidate], k: int) -> tuple[Hit, ...]:
        shortlist = ranking[: max(self._settings.rank.candidates, k)]
        if not shortlist:
            return ()
        passages = await unit.documents.passages([item.chunk_id for item in shortlist])
        return assemble(shortlist, passages, k or self._settings.retrieve.k, self._ranker.band)

    async def read(self, key: str, *, offset: int, limit: int) -> DocumentPage:
        """A page of the document that an id, a chunk id, a URL or a source names.

        Raises:
            NotFoundError: there is none that readers may see.
            InputError: the offset lies behind the end.
        """
        key = clean(key)
        async with self._database.reading() as unit:
            document = await unit.documents.find(key) if key else None
            if document is None or not document.status.searchable:
                raise NotFoundError(
                    f"There is no document {key[:100]!r}. Pass a document_id, a chunk id or a URL that search_kb "
                    "returned."
                )
            page = await unit.documents.text(document.id, offset, limit)
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
            caveats=caveats(document.status),
        )

    def _check(self, question: str) -> None:
        most = self._settings.reply.question_characters
        if len(question) > most:
            raise InputError(
                f"The question has {len(question):,} characters; send at most {most:,}. Put the question itself into "
                "the query and leave long material out."
            )
        if not any(character.isalnum() for character in clean(question)):
            raise InputError("The query holds no word. Send the user's question as text.")


def _is_gap(verdict: Verdict, retrieval: Retrieval, filters: SearchFilters, ranking: Sequence[Candidate]) -> bool:
    """A weak answer is a gap; an empty knowledge base and a filter that lets nothing through are none."""
    nothing_to_search = not retrieval.statistics.chunks or (filters.any and not ranking)
    return verdict.band is Band.WEAK and not nothing_to_search


def _storable(filters: SearchFilters) -> SearchFilters:
    """The filters in characters that PostgreSQL takes. One with others matches nothing, and still narrows."""
    topic, source, language = (
        _UNSTORABLE.sub("\ufffd", text) for text in (filters.topic, filters.source, filters.language)
    )
    return replace(filters, topic=topic, source=source, language=language)


def _since(start: float) -> float:
    return (time.perf_counter() - start) * 1000
