"""MCP-11: a claim checked against the knowledge base.

The claim is searched for as a question is, the best passages are cut into sentences, and these are compared with it.
Active corrections that bear on it are evidence as well, and outrank documents. Where there is a language model it reads
the passages instead; when it is down, slow, or quotes what is not there, the words decide and the check says so.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from harry_mcp.domain.checks import ClaimCheck, ClaimVerdict, Finding, Quote
from harry_mcp.domain.claims import Stance
from harry_mcp.domain.corrections import Correction, Relevant
from harry_mcp.domain.search import Hit, SearchFilters, SearchStatus
from harry_mcp.domain.sentences import sentences
from harry_mcp.errors import InputError, ProviderError, ProviderTimeout
from harry_mcp.loop.recalling import RecallFlow
from harry_mcp.loop.searching import Searched, SearchFlow
from harry_mcp.loop.weighing import Scales, texts_of
from harry_mcp.settings import Settings
from harry_mcp.stages.correct.prompt import line
from harry_mcp.stages.correct.redaction import redact
from harry_mcp.stages.retrieve.query import clean
from harry_mcp.stages.verify.claim_reader import ClaimReader, ReadClaim, ReadQuote
from harry_mcp.stages.verify.claims import OTHERWISE, Judged, correction_quote, judge, quoted, shortlist
from harry_mcp.storage.database import Database

_WORDS = "words"


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What a claim is checked against."""

    hits: tuple[Hit, ...]
    corrections: tuple[Relevant, ...]


class ClaimFlow:
    """Checks claims. What a check brought is written down with its search by :class:`HarryLoop`."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        search: SearchFlow,
        *,
        recall: RecallFlow,
        scales: Scales,
        reader: ClaimReader | None = None,
    ) -> None:
        self._settings = settings.claim
        self._database = database
        self._search = search
        self._recall = recall
        self._scales = scales
        self._reader = reader if settings.claim.model == "auto" else None

    async def check(self, claim: str) -> ClaimCheck:
        """What the knowledge base says of one statement.

        Raises:
            InputError: it is no statement, several, or too long; the message says what to send.
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        claim = self._statement(claim)
        searched = await self._search.run(
            claim, k=self._settings.passages, filters=SearchFilters(), history=(), recall=self._recall.nearby
        )
        started = time.perf_counter()
        evidence = _Evidence(searched.result.hits, searched.nearby.corrections if searched.nearby else ())
        finding, degraded = await self._by_words(claim, evidence)
        judged_by = _WORDS
        if self._reader is not None and (evidence.hits or evidence.corrections):
            read, trouble = await self._by_model(self._reader, claim, evidence, finding)
            finding, judged_by = (read, self._reader.name) if read else (finding, judged_by)
            degraded = (*degraded, *trouble)
        if not evidence.hits and not finding.quotes:
            finding = replace(finding, reason=searched.result.verdict.reason)
        await self._note(searched, claim, finding, evidence)
        return self._told(claim, finding, judged_by, searched, degraded, started)

    def _statement(self, claim: str) -> str:
        text = clean(claim)
        if not any(character.isalnum() for character in text):
            raise InputError("The claim is empty. Send one statement, such as: The API takes 600 requests a minute.")
        number = len(sentences(claim))
        if number > 1:
            raise InputError(
                f"The claim holds {number} statements. Check them one by one, each worded so that it stands alone."
            )
        if len(text) > self._settings.characters:
            raise InputError(
                f"The claim has {len(text):,} characters; at most {self._settings.characters:,} are taken. Send one "
                "short statement and leave the rest out."
            )
        if text.endswith("?"):
            raise InputError(
                "This is a question. Send the statement to be checked, or ask the question with search_kb."
            )
        return text

    async def _by_words(self, claim: str, evidence: _Evidence) -> tuple[Finding, tuple[str, ...]]:
        statements = shortlist(claim, evidence.hits, self._settings.sentences)
        corrections = [item.correction for item in evidence.corrections]
        texts = [each.plain for each in statements] + [text for each in corrections for text in texts_of(each)]
        cosines = await self._scales.cosines(claim, texts)
        weighed = await self._scales.statements(claim, statements, cosines)
        spoken: Sequence[Judged] = await self._scales.corrections(claim, corrections, cosines)
        finding = judge(weighed, spoken, most=self._settings.quotes)
        return finding, () if cosines is not None else ("claim_embedding_failed",)

    async def _by_model(
        self, reader: ClaimReader, claim: str, evidence: _Evidence, by_words: Finding
    ) -> tuple[Finding | None, tuple[str, ...]]:
        """What the model says, None when it cannot be relied on; and what went wrong, by name."""
        labelled = [
            *((f"correction of {each.correction.created_at:%Y-%m-%d}", line(each))
              for each in evidence.corrections),
            *(("document", hit.text) for hit in evidence.hits),
        ]  # fmt: skip
        try:
            read = await reader.read(claim, labelled, timeout=self._settings.budget)
        except ProviderTimeout:
            return None, ("claim_model_timeout",)
        except ProviderError:
            return None, ("claim_model_failed",)
        if not read.proven:
            return None, ("claim_model_unproven",)
        trouble = ("claim_quote_dropped",) if read.invented else ()
        if read.verdict is ClaimVerdict.NOT_COVERED:
            near = tuple(replace(quote, stance=Stance.NEAR) for quote in by_words.quotes)
            return Finding(verdict=read.verdict, reason=read.reason, quotes=near), trouble
        return await self._finding(claim, read, evidence), trouble

    async def _finding(self, claim: str, read: ReadClaim, evidence: _Evidence) -> Finding:
        cosines = await self._scales.cosines(claim, [quote.text for quote in read.quotes]) or {}
        quotes = [replace(_quote(each, evidence), similarity=cosines.get(each.text, 0.0)) for each in read.quotes]
        wanted = Stance.SUPPORTS if read.verdict is ClaimVerdict.SUPPORTED else Stance.CONTRADICTS
        quotes.sort(key=lambda quote: (quote.stance is not wanted, not quote.correction_id))
        others = any(quote.stance is not wanted for quote in quotes)
        return Finding(
            verdict=read.verdict,
            reason=read.reason,
            quotes=tuple(quotes[: self._settings.quotes]),
            caveats=(OTHERWISE,) if others else (),
        )

    async def _note(self, searched: Searched, claim: str, finding: Finding, evidence: _Evidence) -> None:
        """Write down which corrections went into the reply, so that a bad one can be traced."""
        quoted_ids = {quote.correction_id for quote in finding.quotes if quote.correction_id}
        used = [item for item in evidence.corrections if item.correction.id in quoted_ids]
        if used:
            async with self._database.transaction() as unit:
                await unit.corrections.inject(used, result_id=searched.result.search_id, question=redact(claim).text)

    def _told(
        self,
        claim: str,
        finding: Finding,
        judged_by: str,
        searched: Searched,
        degraded: tuple[str, ...],
        started: float,
    ) -> ClaimCheck:
        spent = (time.perf_counter() - started) * 1000
        result = searched.result
        timings = {**result.timings_ms, "judge": spent, "total": result.timings_ms.get("total", 0.0) + spent}
        lost = (*result.degraded, *degraded)
        # A claim that is not covered is no question that somebody asked: it opens no gap.
        search = replace(
            result,
            gap_id="",
            timings_ms=timings,
            degraded=lost,
            status=SearchStatus.DEGRADED if lost else result.status,
            course={**result.course, "claim": finding.verdict.value},
        )
        return ClaimCheck(claim=claim, finding=finding, judged_by=judged_by, search=search, degraded=lost)


def _quote(read: ReadQuote, evidence: _Evidence) -> Quote:
    """The quote of a text that the model was given: corrections first, then passages."""
    corrections: list[Correction] = [item.correction for item in evidence.corrections]
    if read.place < len(corrections):
        return correction_quote(corrections[read.place], read.stance, "", 0.0)
    return quoted(read.text, evidence.hits[read.place - len(corrections)], read.stance)
