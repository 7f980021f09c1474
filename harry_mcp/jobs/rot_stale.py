"""The job rot_stale: CUR-1."""

from __future__ import annotations

from harry_mcp.app import App
from harry_mcp.domain.jobs import JobReport
from harry_mcp.domain.rot import RotSignal
from harry_mcp.jobs.job import Job
from harry_mcp.jobs.rot_check import check


async def _run(app: App) -> JobReport:
    return await check(app, RotSignal.STALE)


JOB = Job("rot_stale", "Flag old pages that are asked about", _run)
