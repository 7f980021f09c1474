"""The keyword leg: a question's words, BM25 in PostgreSQL, and what need not be asked twice."""

from __future__ import annotations

from dataclasses import dataclass, field

from harry_mcp.domain.search import CorpusStatistics, QueryTerm, SearchFilters
from harry_mcp.domain.tokens import query_terms
from harry_mcp.storage.keywords import IndexedTerm, KeywordIndex, Scored, query_word

# Words remembered at one revision of the index; beyond, the memory starts anew.
_MOST_WORDS = 50_000
# Times that a leg starts over because documents changed under it. The last answer then stands: its counts are one
# change old, which moves a score in the third decimal.
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class _Known:
    """The index at one revision: the counts, the languages, and the words that were asked for (None: unknown)."""

    statistics: CorpusStatistics
    languages: tuple[str, ...]
    terms: dict[str, IndexedTerm | None] = field(default_factory=dict[str, "IndexedTerm | None"])


@dataclass(frozen=True, slots=True)
class KeywordHits:
    """What the leg hands on. ``remembers``: there is anything to remember beside the documents."""

    terms: list[QueryTerm]
    statistics: CorpusStatistics
    rows: list[Scored]
    remembers: bool


class KeywordLeg:
    """Remembers the words of the index for as long as it stands at one revision.

    The scores come back with the revision that they were counted at. When it is another than the remembered one, a
    document changed, and the leg starts over; so a question costs one round trip while nothing changes, and never
    rests on counts of another revision.
    """

    def __init__(self) -> None:
        self._known: _Known | None = None

    async def search(self, index: KeywordIndex, text: str, *, limit: int, filters: SearchFilters) -> KeywordHits:
        """The best chunks for the words of a text."""
        attempts = 0
        while True:
            attempts += 1
            known = self._known or _Known(await index.statistics(), await index.languages())
            hits, revision = await self._ask(index, known, text, limit, filters)
            self._known = known if revision == known.statistics.revision else None
            if self._known is not None or attempts == _ATTEMPTS:
                return hits

    async def _ask(
        self, index: KeywordIndex, known: _Known, text: str, limit: int, filters: SearchFilters
    ) -> tuple[KeywordHits, int]:
        variants = query_terms(text, known.languages)
        wanted = {term for word in variants for term in word}
        await self._learn(index, known, wanted)
        found = {term: row for term in wanted if (row := known.terms.get(term)) is not None}
        terms = [query_word(word, found) for word in variants]
        ranking = await index.search(terms, known.statistics, limit=limit, filters=filters)
        return KeywordHits(terms, known.statistics, ranking.rows, ranking.remembers), ranking.revision

    async def _learn(self, index: KeywordIndex, known: _Known, wanted: set[str]) -> None:
        new = wanted - known.terms.keys()
        if not new:
            return
        if len(known.terms) > _MOST_WORDS:
            known.terms.clear()
            new = wanted
        found = await index.find(new)
        known.terms.update({term: found.get(term) for term in new})
