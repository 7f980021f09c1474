"""Running one job: alone across all processes, with a record of what it did."""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime

from harry_mcp.app import App
from harry_mcp.domain.jobs import JobReport, JobState
from harry_mcp.errors import HarryError, JobBusy
from harry_mcp.jobs.job import Job

log = logging.getLogger(__name__)


async def run_job(app: App, job: Job, *, due: datetime | None = None) -> JobReport | None:
    """Run a job now, and tell what it did.

    ``due`` is the moment of the schedule that it is run for. None comes back when a run that began after it came to
    its end: a worker that was late, or died after the work and before it could say so, leaves nothing to do.

    Raises:
        JobBusy: another process runs it.
        HarryError: it failed; that is on record.
    """
    async with app.database.session() as held:
        # Freed by PostgreSQL when this process dies, so what is found as running under it is dead.
        if not await held.job_runs.try_lock(job.name):
            raise JobBusy(f"Another process runs {job.name} at the moment. `harry jobs list` shows how it ends.")
        async with app.database.transaction() as unit:
            await unit.job_runs.close_lost(job.name)
            if due is not None and await unit.job_runs.covered(job.name, due):
                return None
            run_id = await unit.job_runs.begin(job.name, due)
        try:
            report = await job.run(app)
        except asyncio.CancelledError:
            await _finish(app, run_id, JobReport(summary="Its worker was told to end."), JobState.STOPPED)
            raise
        except Exception as error:
            said = str(error) if isinstance(error, HarryError) else f"{type(error).__name__}: {error}"
            await _finish(app, run_id, JobReport(summary=said), JobState.FAILED)
            raise
        await _finish(app, run_id, report, report.state)
        return report


async def _finish(app: App, run_id: int, report: JobReport, state: JobState) -> None:
    async with app.database.reading() as unit:
        await unit.job_runs.finish(run_id, report, state)
