"""Review: what curators do with documents, what it would change, and taking it back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

import numpy as np

from harry_mcp.domain.curation import (
    DocumentDetail,
    QueuePage,
    QueueTab,
    RecentAction,
    ReviewAction,
    ReviewOutcome,
    ReviewPreview,
)
from harry_mcp.domain.people import Principal, Role
from harry_mcp.domain.plain import one_line
from harry_mcp.errors import InputError
from harry_mcp.loop.healing import OnDatabase, healed
from harry_mcp.loop.promoting import close_corrections_of
from harry_mcp.loop.rehearsing import Rehearsed, Rehearser
from harry_mcp.loop.review_queue import detail, queue_page, recent_actions
from harry_mcp.loop.rewriting import Rewriter
from harry_mcp.settings import Settings
from harry_mcp.stages.correct.redaction import redact
from harry_mcp.stages.curate.review import Act, Close, carry_out, plan
from harry_mcp.stages.curate.rollback import roll_back
from harry_mcp.storage.audit import AuditRow
from harry_mcp.storage.database import Database
from harry_mcp.storage.gaps import ListedGap
from harry_mcp.storage.texts import storable

_LONGEST_REASON = 500
# Whoever looks at what an act would do is nobody in the records: nothing of it stays.
_NOBODY = Principal(subject="preview", via="review", role=Role.CURATOR, trusted=True)


class ReviewFlow(OnDatabase):
    """The queue, and the acts of curators."""

    def __init__(self, settings: Settings, database: Database, rewriter: Rewriter, rehearser: Rehearser) -> None:
        super().__init__(database)
        self._settings = settings.review
        self._rewriter = rewriter
        self._rehearser = rehearser

    @healed
    async def queue(
        self, tab: QueueTab, *, limit: int, offset: int = 0, words: str = "", signal: str = ""
    ) -> QueuePage:
        """A page of a tab, the most harmful documents first; those that a curator kept come after the others.

        ``words`` keeps those whose title, topic or address holds them, ``signal`` those that it speaks against.
        """
        words = storable(words)
        async with self._database.reading() as unit:
            return await queue_page(unit, tab, self._settings, limit=limit, offset=offset, words=words, signal=signal)

    @healed
    async def document(self, document_id: str) -> DocumentDetail:
        """One document with its signals, kept versions, what differs from the last of them, and what was done to it.

        A version whose rewrite was undone is not among them.

        Raises:
            NotFoundError: there is no such document.
        """
        async with self._database.reading() as unit:
            return await detail(unit, storable(document_id), self._settings)

    @healed
    async def recent(self, *, limit: int, offset: int = 0) -> list[RecentAction]:
        """What was done last, the newest first, and whether it can be taken back."""
        async with self._database.reading() as unit:
            return list(await recent_actions(unit, self._settings, limit=limit, offset=offset))

    @healed
    async def waiting(self) -> dict[QueueTab, int]:
        """How many documents each tab has."""
        async with self._database.reading() as unit:
            counts = await unit.queue.standing()
        return {tab: sum(counts.get(status.value, 0) for status in tab.statuses) for tab in QueueTab}

    @healed
    async def trail(
        self,
        *,
        target_id: str = "",
        actor: str = "",
        action: str = "",
        since: datetime | None = None,
        limit: int,
        offset: int = 0,
    ) -> list[AuditRow]:
        """Who did what, the last first; what is not given lets everything through."""
        async with self._database.reading() as unit:
            return await unit.audit.list(
                target_id=target_id, actor=actor, action=action, since=since, limit=limit, offset=offset
            )

    @healed
    async def actions_on_record(self) -> Sequence[str]:
        """The actions that the trail has any of."""
        async with self._database.reading() as unit:
            return await unit.audit.actions()

    @healed
    async def gaps(
        self, *, gap_id: str = "", topic: str = "", latest: bool = False, limit: int, offset: int = 0
    ) -> list[ListedGap]:
        """Questions that the knowledge base could not answer, with what the web said to them last."""
        async with self._database.reading() as unit:
            return await unit.gaps.listed(
                gap=storable(gap_id), topic=storable(topic), latest=latest, limit=limit, offset=offset
            )

    @healed
    async def preview(
        self,
        action: ReviewAction,
        ids: Sequence[str],
        *,
        text: str = "",
        title: str = "",
        base_version: int = 0,
        answers: bool = True,
    ) -> ReviewPreview:
        """What an action would do, to which documents, and which past questions would be answered otherwise.

        Nothing is done. Without ``answers`` no question is asked, the text of a rewrite is not looked at, and no writer
        waits.

        Raises:
            InputError: no document or too many are named, or a rewrite lacks its text.
            ProviderError: the new text of a rewrite could not be embedded.
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        if answers:
            act = await self._made_ready(action, ids, _NOBODY, text=text, title=title, base_version=base_version)
        else:
            act = Act(action=action, ids=self._keys(action, ids), by=_NOBODY, base_version=base_version)
        async with self._database.reading() as unit:
            planned = await plan(unit, act, self._settings)
        rehearsed = Rehearsed()
        if answers:
            rewritten = np.array(act.rewriting.vectors, dtype=np.float32) if act.rewriting else None
            rehearsed = await self._rehearser.rehearse(
                planned.changes,
                lambda unit: carry_out(unit, act, self._settings, _close(_NOBODY)),
                rewritten=rewritten,
            )
        return ReviewPreview(
            action=action,
            changes=planned.changes,
            refused=planned.refused,
            answers=rehearsed.answers,
            asked=rehearsed.asked,
            unasked=rehearsed.unasked,
            note=rehearsed.note,
        )

    @healed
    async def act(
        self,
        action: ReviewAction,
        ids: Sequence[str],
        by: Principal,
        *,
        text: str = "",
        title: str = "",
        base_version: int = 0,
        reason: str = "",
    ) -> ReviewOutcome:
        """Do one thing to documents, in one transaction; those that it is not for are left and named.

        ``text`` and ``title`` are for a rewrite, of one document; an empty one stays as it is.
        With ``base_version`` it is left and named when it is at another version by then; 0 checks nothing.

        Raises:
            InputError: the caller may not do it, no document or too many are named, or a rewrite lacks its text.
            ProviderError: the new text could not be embedded; nothing was changed.
            DatabaseUnavailable: PostgreSQL cannot be reached; nothing was changed.
        """
        _allow(by)
        act = await self._made_ready(action, ids, by, text=text, title=title, base_version=base_version, reason=reason)
        async with self._database.transaction() as unit:
            return await carry_out(unit, act, self._settings, _close(by))

    @healed
    async def rollback(self, action_id: str, by: Principal) -> ReviewOutcome:
        """Take an action back: all of its documents, exactly, once.

        Raises:
            NotFoundError: there is no such action.
            InputError: the caller may not do it, or the action cannot be undone, and why; nothing was changed.
            ProviderError: a text that lacks vectors of today's model could not be embedded; nothing was changed.
            DatabaseUnavailable: PostgreSQL cannot be reached; nothing was changed.
        """
        _allow(by)
        action_id = storable(action_id)
        fresh = await self._rewriter.fresh_vectors(action_id)
        async with self._database.transaction() as unit:
            return await roll_back(unit, action_id, by, self._settings, fresh)

    async def _made_ready(
        self,
        action: ReviewAction,
        ids: Sequence[str],
        by: Principal,
        *,
        text: str,
        title: str,
        base_version: int,
        reason: str = "",
    ) -> Act:
        keys = self._keys(action, ids)
        rewriting = None
        if action is ReviewAction.REWRITE:
            rewriting = await self._rewriter.make(keys[0], text, title)
        elif text.strip() or title.strip() or base_version:
            raise InputError(
                f"{action.value} takes no text, title or base_version; they are for rewrite. Nothing was changed."
            )
        return Act(
            action=action,
            ids=keys,
            by=by,
            reason=redact(one_line(reason, _LONGEST_REASON)).text,
            rewriting=rewriting,
            base_version=base_version,
        )

    def _keys(self, action: ReviewAction, ids: Sequence[str]) -> tuple[str, ...]:
        keys = list(dict.fromkeys(storable(key.strip()) for key in ids if key.strip()))
        if action is ReviewAction.UNDO:
            raise InputError("An undo is no action on documents; roll the action back by its id.")
        if not keys:
            raise InputError("No document is named. Pass the document ids that list_review_queue shows.")
        if len(keys) > self._settings.most:
            raise InputError(
                f"{len(keys)} documents are named, and at most {self._settings.most} are taken at a time. Send them in "
                "parts."
            )
        if action is ReviewAction.REWRITE and len(keys) > 1:
            raise InputError("A rewrite is for one document, for each has a text of its own. Send them one by one.")
        return tuple(keys)


def _close(by: Principal) -> Close:
    return partial(close_corrections_of, by=by.name)


def _allow(by: Principal) -> None:
    if not by.may(Role.CURATOR):
        raise InputError(f"This takes the role curator; you are {by.role.name.lower()}.")
