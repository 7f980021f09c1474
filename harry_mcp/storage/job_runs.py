"""What the runs of jobs did, and who may run one; and what is removed when it is old."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from harry_mcp.domain.jobs import JobReport, JobRun, JobState
from harry_mcp.storage import queries
from harry_mcp.storage.texts import storable

_SQL = queries.load("job_runs")
# The first half of an advisory lock's key, so that jobs share no key with anything else: "hj" in hex.
_LOCK_SPACE = 0x686A


@dataclass(frozen=True, slots=True)
class _Held:
    held: bool


@dataclass(frozen=True, slots=True)
class _Number:
    id: int


class JobRuns:
    """The record as one connection sees it."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    async def try_lock(self, job: str) -> bool:
        """Take a job for as long as this connection lives; false when another process has it."""
        found = await queries.one(self._connection, _SQL["try_lock"], _Held, {"space": _LOCK_SPACE, "job": job})
        return bool(found and found.held)

    async def close_lost(self, job: str) -> int:
        """Close the runs whose process died, and how many. Only for who holds the job."""
        return await queries.run(self._connection, _SQL["close_lost"], {"job": job})

    async def covered(self, job: str, due: datetime) -> bool:
        """Whether a run that began after a moment came to its end: what was due then is done."""
        return await queries.one(self._connection, _SQL["covered"], _Number, {"job": job, "due": due}) is not None

    async def begin(self, job: str, due: datetime | None) -> int:
        """Note that a run begins; its number."""
        found = await queries.one(self._connection, _SQL["begin"], _Number, {"job": job, "due": due})
        return found.id if found else 0

    async def finish(self, run_id: int, report: JobReport, state: JobState) -> None:
        parameters = {
            "id": run_id,
            "state": state.value,
            "summary": storable(report.summary),
            "figures": Jsonb(dict(report.figures)),
        }
        await queries.run(self._connection, _SQL["finish"], parameters)

    async def last(self) -> dict[str, JobRun]:
        """The last run of each job by its name."""
        return {run.job: run for run in await queries.many(self._connection, _SQL["last"], JobRun)}

    async def forget(self, days: int) -> int:
        """Remove runs that began more than some days ago, but never the last one of a job; how many."""
        return await queries.run(self._connection, _SQL["forget"], {"days": days})

    async def forget_searches(self, days: int, limit: int) -> int:
        """Remove at most ``limit`` searches older than some days, the oldest first, with their lines in the gap log."""
        return await queries.run(self._connection, _SQL["forget_searches"], {"days": days, "limit": limit})

    async def forget_lookups(self, days: int, limit: int) -> int:
        """The same for lookups of official answers."""
        return await queries.run(self._connection, _SQL["forget_lookups"], {"days": days, "limit": limit})
