"""The job backfill: vectors for memories that have none, after a model was down or changed."""

from __future__ import annotations

from harry_mcp.app import App
from harry_mcp.domain.jobs import JobReport
from harry_mcp.jobs.job import Job


async def _run(app: App) -> JobReport:
    done = await app.embed_missing()
    return JobReport(summary=f"{done} memories embedded", figures={"embedded": done})


JOB = Job("backfill", "Embed memories that have no vector", _run)
