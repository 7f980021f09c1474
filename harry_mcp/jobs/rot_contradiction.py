"""The job rot_contradiction: CUR-2 and CUR-11, for documents that were not compared when they came in."""

from __future__ import annotations

from harry_mcp.app import App
from harry_mcp.domain.jobs import JobReport
from harry_mcp.domain.rot import RotSignal
from harry_mcp.jobs.job import Job
from harry_mcp.jobs.rot_check import check


async def _run(app: App) -> JobReport:
    return await check(app, RotSignal.CONTRADICTION)


JOB = Job("rot_contradiction", "Hold changed documents against others", _run)
