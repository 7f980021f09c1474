"""The job retention: removes what people asked long ago, and old runs of jobs."""

from __future__ import annotations

from harry_mcp.app import App
from harry_mcp.domain.jobs import JobReport
from harry_mcp.jobs.job import Job

# Rows of one transaction, so that nobody waits for it; and days that runs of jobs are kept.
_BATCH = 5_000
_RUN_DAYS = 90


async def _run(app: App) -> JobReport:
    days = app.settings.jobs.keep_days
    async with app.database.reading() as unit:
        runs = await unit.job_runs.forget(_RUN_DAYS)
    if not days:
        return JobReport(summary="HARRY_JOBS__KEEP_DAYS is 0: searches are kept for good.", figures={"runs": runs})
    searches = lookups = 0
    while True:
        async with app.database.transaction() as unit:
            some = await unit.job_runs.forget_searches(days, _BATCH)
            more = await unit.job_runs.forget_lookups(days, _BATCH)
        searches, lookups = searches + some, lookups + more
        if max(some, more) < _BATCH:
            break
    return JobReport(
        summary=f"{searches} searches and {lookups} lookups of more than {days} days ago removed",
        figures={"searches": searches, "lookups": lookups, "runs": runs},
    )


JOB = Job("retention", "Remove records that are too old", _run)
