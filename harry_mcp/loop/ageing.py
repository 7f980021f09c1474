"""COR-11: corrections that have gone stale are given up, each with its reason; none is deleted.

Two things make one stale: no answer used it for long, or the page that it speaks of has changed since and now says the
same. Safe to run again: what is given up is not looked at twice.
"""

from __future__ import annotations

from dataclasses import dataclass

from harry_mcp.domain.claims import Stance, weigh
from harry_mcp.domain.corrections import Correction, CorrectionStatus
from harry_mcp.domain.sentences import sentences
from harry_mcp.loop.healing import OnDatabase, healed
from harry_mcp.ports import Embedder
from harry_mcp.settings import Settings
from harry_mcp.stages.verify.claims import rules_of
from harry_mcp.storage.database import Database
from harry_mcp.storage.memories import MemoryKind

# Of a page so much is read; a longer one is a book, and a correction speaks of one place in it.
_CHARACTERS = 200_000
_BY = "job:age_corrections"


@dataclass(frozen=True, slots=True)
class Aged:
    """A correction that was given up, and why."""

    correction_id: str
    reason: str


class AgeingFlow(OnDatabase):
    """Gives stale corrections up."""

    def __init__(self, settings: Settings, database: Database, embedder: Embedder) -> None:
        super().__init__(database)
        self._days = settings.correct.stale_days
        self._rules = rules_of(settings.claim)
        self._embedder = embedder

    @healed
    async def age_corrections(self) -> list[Aged]:
        """Deprecate what is stale; what was given up.

        Raises:
            ProviderError: the sentences of a page could not be embedded; what was given up before stays so.
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        async with self._database.reading() as unit:
            unused = await unit.corrections.unused_since(self._days)
            changed = await unit.corrections.changed_sources()
        aged = [await self._give_up(key, f"no answer used it for {self._days} days") for key in unused]
        for item in changed:
            if item.id not in unused and await self._agrees(item.id, item.document_id):
                aged.append(await self._give_up(item.id, f"its page says it now ({item.document_id})"))
        return [item for item in aged if item is not None]

    async def _agrees(self, correction_id: str, document_id: str) -> bool:
        """Whether a page says what is true, and nowhere what was wrong."""
        async with self._database.reading() as unit:
            correction = await unit.corrections.get(correction_id)
            page = await unit.documents.text(document_id, 0, _CHARACTERS)
        statements = [each.plain for each in sentences(page.text)]
        if not statements:
            return False
        says_so = await self._says(correction.truth, statements) or await self._says(correction.lesson, statements)
        return says_so and not await self._says(correction.wrong, statements)

    async def _says(self, claim: str, statements: list[str]) -> bool:
        vectors = await self._embedder.embed_documents([claim, *statements])
        cosines = vectors[1:] @ vectors[0]
        return any(
            weigh(claim, statement, float(cosine), self._rules).stance is Stance.SUPPORTS
            for statement, cosine in zip(statements, cosines, strict=True)
        )

    async def _give_up(self, correction_id: str, reason: str) -> Aged | None:
        """Deprecate one in one transaction with its vector; None when somebody decided about it meanwhile."""
        async with self._database.transaction() as unit:
            await unit.corrections.queue()
            correction: Correction = await unit.corrections.get(correction_id)
            if correction.status is not CorrectionStatus.ACTIVE:
                return None
            await unit.corrections.decide(correction_id, CorrectionStatus.DEPRECATED, reason=reason, by=_BY)
            await unit.memories.set_active(MemoryKind.CORRECTION, [correction_id], active=False)
        return Aged(correction_id, reason)
