"""Statements and corrections laid beside a claim: their words compared, and their vectors."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from harry_mcp.domain.corrections import Correction
from harry_mcp.domain.differences import Vocabulary
from harry_mcp.errors import ProviderError
from harry_mcp.loop.words import Words
from harry_mcp.ports import Embedder
from harry_mcp.settings import Settings
from harry_mcp.stages.verify.claims import Judged, Statement, rules_of, weigh_correction, weigh_statement
from harry_mcp.stages.verify.spoken import leans, together
from harry_mcp.storage.database import Database


class Scales:
    """Weighs what is given to it."""

    def __init__(self, settings: Settings, database: Database, embedder: Embedder, words: Words | None = None) -> None:
        self._rules = rules_of(settings.claim)
        self._budget = settings.search.embed_budget
        self._embedder = embedder
        self._words = words or Words(database)

    async def cosines(self, claim: str, texts: Sequence[str]) -> Mapping[str, float] | None:
        """The cosine of a claim with each text; None when the model is down or too slow."""
        distinct = list(dict.fromkeys(texts))
        if not distinct:
            return {}
        try:
            async with asyncio.timeout(self._budget):
                mine = (await self._embedder.embed_queries([claim]))[0]
                vectors = await self._embedder.embed_documents(distinct)
        except (ProviderError, TimeoutError):
            return None
        return dict(zip(distinct, (vectors @ mine).tolist(), strict=True))

    async def statements(
        self, claim: str, statements: Sequence[Statement], cosines: Mapping[str, float] | None
    ) -> list[Judged]:
        """What each sentence says of a claim.

        Raises:
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        vocabulary = await self._words.vocabulary()

        def weighed() -> list[Judged]:
            return [
                weigh_statement(
                    claim, each, cosines[each.plain] if cosines is not None else None, self._rules, vocabulary
                )
                for each in statements
            ]

        # A sentence takes a millisecond or so, and others wait for the loop.
        return await asyncio.to_thread(weighed)

    async def corrections(
        self, claim: str, corrections: Sequence[Correction], cosines: Mapping[str, float] | None
    ) -> list[Judged]:
        """What each correction says of a claim; those that say nothing of it are left out.

        Raises:
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        known = cosines or {}
        vocabulary = await self._words.vocabulary() if corrections else Vocabulary()
        found = (
            weigh_correction(
                claim, each, {text: known.get(text, 1.0) for text in texts_of(each)}, self._rules, vocabulary
            )
            for each in corrections
        )
        return [judged for judged in found if judged is not None]


def texts_of(correction: Correction) -> tuple[str, ...]:
    """The texts of a correction that a claim is compared with; one that leans on its question, behind it too."""
    behind = [together(each, correction) for each in correction.questions] if leans(correction) else []
    return correction.truth, correction.wrong, correction.lesson, *behind
