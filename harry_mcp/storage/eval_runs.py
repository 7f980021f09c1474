"""The runs of golden sets, kept so that a later one can be compared with them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from harry_mcp.storage import queries

_SQL = queries.load("eval_runs")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalRun:
    """One run: what was measured, with which settings, and the figures.

    ``golden`` is the fingerprint of the golden set, ``name`` what a person calls it; ``accepted`` says that its gates
    held.
    """

    id: str
    name: str
    golden: str
    settings: dict[str, Any]
    figures: dict[str, Any]
    accepted: bool
    created_at: datetime


class EvalRuns:
    """The runs as one connection sees them. They are never changed."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    async def save(self, run: EvalRun) -> None:
        columns = {
            "id": run.id,
            "name": run.name,
            "golden": run.golden,
            "settings": Jsonb(run.settings),
            "figures": Jsonb(run.figures),
            "accepted": run.accepted,
            "created_at": run.created_at,
        }
        await queries.run(self._connection, _SQL["save"], columns)

    async def last(self, golden: str) -> EvalRun | None:
        """The newest run of a golden set whose gates held."""
        return await queries.one(self._connection, _SQL["last"], EvalRun, {"golden": golden})

    async def get(self, run_id: str) -> EvalRun | None:
        return await queries.one(self._connection, _SQL["by_id"], EvalRun, {"id": run_id})

    async def recent(self, limit: int) -> list[EvalRun]:
        """The newest runs, without the answers to each question."""
        return await queries.many(self._connection, _SQL["recent"], EvalRun, {"limit": limit})
