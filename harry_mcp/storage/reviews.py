"""What curators did, and what it made of documents. Rows are added, never changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from harry_mcp.domain.curation import ReviewAction
from harry_mcp.domain.undoing import ActionRow, Standing
from harry_mcp.storage import queries

_SQL = queries.load("reviews")


@dataclass(frozen=True, slots=True)
class ReviewedState:
    """A document as an action finds it. ``was``: the status before it was archived or rejected, or empty.

    ``uses`` counts the answers of late that it was among the first of, ``verified`` the active official answers that
    cite it, ``corrections`` the active ones that it was made of.
    """

    id: str
    title: str
    status: str
    version: int
    content_hash: str
    caveats: dict[str, str]
    was: str
    uses: int
    verified: int
    corrections: int


@dataclass(frozen=True, slots=True)
class DraftedCorrection:
    """A correction that a draft was made of, as it was before the draft went live."""

    id: str
    status: str
    status_reason: str
    decided_by: str
    updated_at: datetime

    def as_json(self) -> dict[str, str]:
        return {
            "id": self.id,
            "status": self.status,
            "status_reason": self.status_reason,
            "decided_by": self.decided_by,
            "updated_at": self.updated_at.isoformat(),
        }


@dataclass(frozen=True, slots=True)
class Flag:
    """A signal that spoke against a document."""

    signal: str
    detail: dict[str, Any]
    at: datetime


@dataclass(frozen=True, slots=True)
class LastText:
    """Who gave a document the text that it has, and when. ``actor`` is empty where its source did."""

    actor: str
    at: datetime


@dataclass(frozen=True, slots=True)
class _Uses:
    document_id: str
    uses: int


@dataclass(frozen=True, slots=True)
class _Until:
    undo_until: datetime


class Reviews:
    """The record as one connection sees it. Writing belongs into a transaction that holds the writers' queue."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    async def states(self, ids: Sequence[str], *, days: int) -> dict[str, ReviewedState]:
        """Documents as they are; ``days`` are those whose searches count as their use."""
        parameters = {"ids": list(ids), "days": days}
        rows = await queries.many(self._connection, _SQL["states"], ReviewedState, parameters)
        return {row.id: row for row in rows}

    async def uses(self, ids: Sequence[str], *, days: int) -> dict[str, int]:
        """How many answers of the last days documents were among the first of, where any."""
        rows = await queries.many(self._connection, _SQL["uses"], _Uses, {"ids": list(ids), "days": days})
        return {row.document_id: row.uses for row in rows}

    async def add_action(
        self, action_id: str, action: ReviewAction, *, actor: str, reason: str, days: int, undoes: str = ""
    ) -> datetime | None:
        """Record an action; until when it can be undone."""
        parameters = {
            "id": action_id,
            "action": action.value,
            "actor": actor,
            "reason": reason,
            "undoes": undoes,
            "days": days,
        }
        row = await queries.one(self._connection, _SQL["add_action"], _Until, parameters)
        return row.undo_until if row else None

    async def add_change(
        self,
        action_id: str,
        document_id: str,
        *,
        title: str,
        before: str,
        before_version: int,
        log_id: int,
        caveats: Mapping[str, str],
        closed: Sequence[Mapping[str, str]] = (),
    ) -> None:
        """Record what an action made of a document, once it is made."""
        parameters = {
            "action_id": action_id,
            "document_id": document_id,
            "title": title,
            "before": before,
            "before_version": before_version,
            "log_id": log_id,
            "caveats": Jsonb(dict(caveats)),
            "closed": Jsonb([dict(each) for each in closed]),
        }
        await queries.run(self._connection, _SQL["add_change"], parameters)

    async def actions(self, *, days: int, limit: int, offset: int = 0, document_id: str = "") -> list[ActionRow]:
        """What was done last, the newest first; to one document where its id is given."""
        parameters = {"days": days, "limit": limit, "offset": offset, "document_id": document_id}
        return await queries.many(self._connection, _SQL["actions"], ActionRow, parameters)

    async def action(self, action_id: str, *, days: int) -> ActionRow | None:
        return await queries.one(self._connection, _SQL["action"], ActionRow, {"id": action_id, "days": days})

    async def standings(self, action_ids: Sequence[str]) -> dict[str, list[Standing]]:
        """By action, what it made of its documents and how these stand now."""
        rows = await queries.many(self._connection, _SQL["standings"], Standing, {"ids": list(action_ids)})
        found: dict[str, list[Standing]] = {action_id: [] for action_id in action_ids}
        for row in rows:
            found[row.action_id].append(row)
        return found

    async def last_text(self, document_id: str) -> LastText | None:
        """Where the text that a document has now came from; None when it is gone."""
        return await queries.one(self._connection, _SQL["last_text"], LastText, {"document_id": document_id})

    async def flags_since(self, document_id: str, log_id: int) -> list[Flag]:
        """The signals that spoke against a document after a row of the curation log, in their order."""
        parameters = {"document_id": document_id, "log_id": log_id}
        return await queries.many(self._connection, _SQL["flags_since"], Flag, parameters)

    async def drafted_corrections(self, document_id: str) -> list[DraftedCorrection]:
        """The corrections that a document was made of."""
        parameters = {"document_id": document_id}
        return await queries.many(self._connection, _SQL["drafted_corrections"], DraftedCorrection, parameters)

    async def reopen_correction(self, closed: Mapping[str, str]) -> bool:
        """Make a correction what it was before an action closed it; false when it was changed since."""
        return await queries.run(self._connection, _SQL["reopen_correction"], closed) > 0
