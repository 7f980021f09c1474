"""The audit log: who did what to what. Rows are added; the database refuses to change or delete them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from harry_mcp.domain.people import Principal
from harry_mcp.storage import queries
from harry_mcp.storage.texts import storable

_SQL = queries.load("audit")


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One row of the log. ``target`` is the name of what it was done to, as it was then."""

    id: int
    actor: str
    role: str
    action: str
    target_kind: str
    target_id: str
    target: str
    reason: str
    action_id: str
    detail: dict[str, Any]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class _Action:
    action: str


class AuditLog:
    """The log as one connection sees it."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    async def add(
        self,
        by: Principal,
        action: str,
        *,
        kind: str,
        target_id: str,
        target: str = "",
        reason: str = "",
        action_id: str = "",
        detail: Mapping[str, object] | None = None,
    ) -> None:
        """Write down what somebody did. ``kind`` is document, correction or verified."""
        parameters = {
            "actor": by.name,
            "role": by.role.name.lower(),
            "action": action,
            "target_kind": kind,
            "target_id": target_id,
            "target": target,
            "reason": storable(reason),
            "action_id": action_id,
            "detail": Jsonb(dict(detail or {})),
        }
        await queries.run(self._connection, _SQL["add"], parameters)

    async def actions(self) -> Sequence[str]:
        """The actions that are on record, by name."""
        return [row.action for row in await queries.many(self._connection, _SQL["actions"], _Action)]

    async def list(
        self,
        *,
        target_id: str = "",
        actor: str = "",
        action: str = "",
        since: datetime | None = None,
        limit: int,
        offset: int = 0,
    ) -> list[AuditRow]:
        """Rows, the last first; what is not given lets everything through."""
        parameters = {
            "target_id": storable(target_id),
            "actor": storable(actor),
            "action": storable(action),
            "since": since,
            "limit": limit,
            "offset": offset,
        }
        return await queries.many(self._connection, _SQL["list"], AuditRow, parameters)
