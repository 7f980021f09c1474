"""A past search told again: what each stage saw and did, and what the same question brings today."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from harry_mcp.domain.corrections import Correction
from harry_mcp.domain.search import SearchFilters, SearchResult
from harry_mcp.errors import NotFoundError
from harry_mcp.loop.healing import OnDatabase, healed
from harry_mcp.loop.recalling import RecallFlow
from harry_mcp.loop.searching import SearchFlow
from harry_mcp.storage.database import Database
from harry_mcp.storage.gaps import Gap
from harry_mcp.storage.searches import StoredSearch
from harry_mcp.storage.texts import as_id
from harry_mcp.storage.verified import Lookup


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenPassage:
    """A candidate of the past search. ``rank_now`` is 0 when today's search does not bring its passage any more.

    ``status`` is that of its document today, "gone" when there is none.
    """

    rank: int
    title: str
    status: str
    signals: dict[str, Any]
    rank_now: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A past search and its present."""

    search: StoredSearch
    passages: tuple[SeenPassage, ...]
    corrections: tuple[Correction, ...]
    lookup: Lookup | None
    gap: Gap | None
    now: SearchResult


class ExplainFlow(OnDatabase):
    """Replays searches."""

    def __init__(self, database: Database, search: SearchFlow, recall: RecallFlow) -> None:
        super().__init__(database)
        self._search = search
        self._recall = recall

    @healed
    async def explain(self, search_id: str, *, most: int) -> Explanation:
        """What a search saw, and what it would bring today; nothing is written down.

        Raises:
            NotFoundError: there is no such search.
        """
        search_id = as_id(search_id)
        async with self._database.reading() as unit:
            stored = await unit.searches.get(search_id)
            if stored is None:
                raise NotFoundError(
                    f"There is no search {search_id[:60]!r}. Pass a search_id that search_kb returned; searches are "
                    "kept as long as the settings say."
                )
            injected = await unit.corrections.by_ids(await unit.corrections.injected_by(search_id))
            lookup = await unit.verified.lookup(search_id)
            gap = await unit.gaps.of_search(search_id)
            documents = {
                key: await unit.documents.get(key)
                for key in dict.fromkeys(str(item["document_id"]) for item in stored.ranking[:most])
            }
        now = await self._today(stored)
        ranks = {item.public_id: rank for rank, item in enumerate(now.ranking, start=1)}
        passages = tuple(
            SeenPassage(
                rank=rank,
                title=document.title if document else "",
                status=document.status.value if document else "gone",
                signals=item,
                rank_now=ranks.get(str(item["chunk_id"]), 0),
            )
            for rank, item in enumerate(stored.ranking[:most], start=1)
            for document in [documents[str(item["document_id"])]]
        )
        return Explanation(
            search=stored,
            passages=passages,
            corrections=tuple(injected.values()),
            lookup=lookup,
            gap=gap,
            now=now,
        )

    async def _today(self, stored: StoredSearch) -> SearchResult:
        filters = SearchFilters.from_json(stored.filters)
        near = partial(self._recall.nearby, topic=filters.topic)
        searched = await self._search.run(stored.question, k=0, filters=filters, history=(), recall=near)
        result = searched.result
        if words := stored.course.get("found_by"):
            shown = (await self._search.run(words, k=0, filters=filters, history=())).result
            result = replace(shown, question=result.question)
        chosen = self._recall.chosen(result.question, searched.nearby, searched.found)
        return self._recall.with_memories(result, chosen)
