"""What a curator does with official answers: propose, approve, reject, retire, and "never this for that"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harry_mcp.domain.people import Principal, Role
from harry_mcp.domain.plain import one_line, sanitised, visible
from harry_mcp.domain.verified import (
    LONGEST_ANSWER,
    LONGEST_QUESTION,
    ProposedResponse,
    VerifiedAction,
    VerifiedResponse,
    VerifiedSource,
    VerifiedStatus,
    verified_id,
)
from harry_mcp.errors import InputError, NotFoundError
from harry_mcp.loop.healing import OnDatabase, healed
from harry_mcp.loop.questions import Questions
from harry_mcp.settings import Settings
from harry_mcp.stages.correct.redaction import redact
from harry_mcp.storage.database import Database
from harry_mcp.storage.memories import MemoryKind, MemoryText
from harry_mcp.storage.texts import as_id, storable
from harry_mcp.storage.unit_of_work import UnitOfWork

_LONGEST_NAME = 2000
# Questions that are embedded together.
_BATCH = 64
_BECOMES = {
    VerifiedAction.APPROVE: VerifiedStatus.ACTIVE,
    VerifiedAction.REJECT: VerifiedStatus.REJECTED,
    VerifiedAction.RETIRE: VerifiedStatus.RETIRED,
}
# Approving an active entry vouches for it again: for the documents that it cites, as they are now.
_ALLOWED = {
    VerifiedAction.APPROVE: frozenset(VerifiedStatus),
    VerifiedAction.REJECT: frozenset({VerifiedStatus.CANDIDATE}),
    VerifiedAction.RETIRE: frozenset({VerifiedStatus.ACTIVE}),
    VerifiedAction.NEVER_SERVE: frozenset(VerifiedStatus),
}


class VerifiedReviewFlow(OnDatabase):
    """Changes entries, their vectors in the same transaction."""

    def __init__(self, settings: Settings, database: Database, questions: Questions) -> None:
        self._approvers = Role[settings.verify.approve.upper()]
        super().__init__(database)
        self._questions = questions

    @healed
    async def list(self, status: str, *, limit: int, offset: int = 0) -> list[VerifiedResponse]:
        """Entries of a status; '' for all, 'held' for active ones that are held back."""
        async with self._database.reading() as unit:
            return await unit.verified.list(status, limit=limit, offset=offset)

    @healed
    async def add(
        self, question: str, answer: str, sources: Sequence[VerifiedSource], *, origin: str, by: Principal
    ) -> VerifiedResponse:
        """Store a question and its answer as a candidate, without what is private in them.

        Raises:
            InputError: one of them is empty, or the answer is too long.
            ProviderError: the question could not be embedded; nothing was stored.
        """
        given = ProposedResponse(question=question, answer=answer, sources=tuple(sources))
        asked, text = self._proposed(given)
        vector = (await self._questions.vectors([asked]))[0]
        async with self._database.transaction() as unit:
            shown = [_shown(source) for source in sources]
            key = await unit.verified.submit(asked, text, shown, origin=origin, result_id="", by=by.name)
            entry = await unit.verified.lock(key)
            memory = MemoryText(key, asked, active=entry.status is VerifiedStatus.ACTIVE)
            await unit.memories.put(MemoryKind.VERIFIED, [memory], [vector])
        return entry

    @healed
    async def add_all(
        self, proposed: Sequence[ProposedResponse], *, origin: str, by: Principal, dry_run: bool = False
    ) -> list[str]:
        """Store those that are not here yet as candidates, all of them or none; their ids, each once.

        A source that has only an address becomes a citation of the document under it.

        Raises:
            InputError: one is empty or too long; the message says which.
            ProviderError: the questions could not be embedded; nothing was stored.
        """
        entries: dict[str, tuple[str, str, ProposedResponse]] = {}
        for number, each in enumerate(proposed, 1):
            try:
                asked, text = self._proposed(each)
            except InputError as error:
                raise InputError(f"Entry {number}: {error} Nothing was stored.") from error
            entries.setdefault(verified_id(asked, text), (asked, text, each))
        async with self._database.reading() as unit:
            fresh = [key for key in entries if await unit.verified.get(key) is None]
        if dry_run or not fresh:
            return fresh
        batches = [fresh[start : start + _BATCH] for start in range(0, len(fresh), _BATCH)]
        vectors = [await self._questions.vectors([entries[key][0] for key in batch]) for batch in batches]
        async with self._database.transaction() as unit:
            for batch, made in zip(batches, vectors, strict=True):
                for key in batch:
                    asked, text, each = entries[key]
                    shown = [await _placed(unit, _shown(source)) for source in each.sources]
                    await unit.verified.submit(asked, text, shown, origin=origin, result_id="", by=by.name)
                memories = [MemoryText(key, entries[key][0], active=False) for key in batch]
                await unit.memories.put(MemoryKind.VERIFIED, memories, list(made))
        return fresh

    @healed
    async def review(
        self, key: str, action: VerifiedAction, by: Principal, *, question: str = "", answer: str = ""
    ) -> VerifiedResponse:
        """Do one thing with an entry. ``answer`` rewords it while it is approved, and is kept as it is: a curator may
        want an address of support in it. ``question`` is what it must never be served for.

        Raises:
            NotFoundError: there is no such entry.
            InputError: the action does not fit its status, the caller may not do it, or lacks what it needs.
            ProviderError: the question could not be embedded; nothing was changed.
        """
        if not by.may(self._approvers):
            raise InputError(f"This takes the role {self._approvers.name.lower()}; you are {by.role.name.lower()}.")
        key = as_id(key)
        if action is VerifiedAction.NEVER_SERVE:
            return await self._refuse(key, question, by)
        wording = _answer(answer) if action is VerifiedAction.APPROVE else ""
        async with self._database.transaction() as unit:
            entry = await unit.verified.lock(key)
            if entry.status not in _ALLOWED[action]:
                raise InputError(f"{key} is {entry.status.value}; it cannot be changed by {action.value}.")
            if wording and wording != entry.answer:
                await unit.verified.reword(key, wording)
            status = _BECOMES[action]
            await unit.verified.decide(key, status, by=by.name)
            await unit.memories.set_active(MemoryKind.VERIFIED, [key], active=status is VerifiedStatus.ACTIVE)
            reworded = {"reworded": True} if wording and wording != entry.answer else {}
            detail = {"before": entry.status.value, "after": status.value, **reworded}
            await _audited(unit, entry, action, by, detail)
            return await _found(unit, key)

    async def _refuse(self, key: str, question: str, by: Principal) -> VerifiedResponse:
        asked = self._asked(question)
        if not asked:
            raise InputError("never_serve needs the question that this answer must never be served for.")
        vector = (await self._questions.vectors([asked]))[0]
        async with self._database.transaction() as unit:
            entry = await unit.verified.lock(key)
            refusal = await unit.verified.refuse(key, asked, by=by.name)
            await unit.memories.put(MemoryKind.NEVER_SERVE, [MemoryText(refusal, asked, active=True)], [vector])
            await _audited(unit, entry, VerifiedAction.NEVER_SERVE, by, {"question": asked})
            return await _found(unit, key)

    def _proposed(self, given: ProposedResponse) -> tuple[str, str]:
        """Question and answer as they are stored."""
        asked, text = self._asked(given.question), redact(_answer(given.answer)).text
        if not asked or not text:
            raise InputError("A verified response needs a question and an answer, both with words in them.")
        return asked, text

    def _asked(self, question: str) -> str:
        """A question as it is stored; empty when there is no word in it."""
        asked = redact(sanitised(self._questions.bare(question), LONGEST_QUESTION)).text
        return asked if any(character.isalnum() for character in asked) else ""


def _answer(text: str) -> str:
    answer = visible(text).strip()
    if len(answer) > LONGEST_ANSWER:
        raise InputError(
            f"The answer has {len(answer):,} characters; an official answer has at most {LONGEST_ANSWER:,}. Shorten it."
        )
    return answer


def _shown(source: VerifiedSource) -> VerifiedSource:
    """The source with nothing in it that does not show."""
    title, url, name = (one_line(text, _LONGEST_NAME) for text in (source.title, source.url, source.source))
    return VerifiedSource(title=title, url=url, source=name, document_id=storable(source.document_id))


async def _audited(
    unit: UnitOfWork, entry: VerifiedResponse, action: VerifiedAction, by: Principal, detail: Mapping[str, object]
) -> None:
    await unit.audit.add(by, action.value, kind="verified", target_id=entry.id, target=entry.question, detail=detail)


async def _placed(unit: UnitOfWork, source: VerifiedSource) -> VerifiedSource:
    """The source with the document that it is, where the knowledge base has it."""
    if source.document_id or not source.url:
        return source
    addressed = await unit.signals.addressed([source.url])
    document = await unit.documents.get(addressed[0].id) if addressed else None
    if document is None:
        return source
    return replace(source, document_id=document.id, title=source.title or document.title, source=document.source)


async def _found(unit: UnitOfWork, key: str) -> VerifiedResponse:
    entry = await unit.verified.get(key)
    if entry is None:
        raise NotFoundError(f"There is no verified response {key[:60]!r}. list_verified shows them.")
    return entry
