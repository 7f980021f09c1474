"""The job rot_feedback: CUR-4, for complaints whose document came in later."""

from __future__ import annotations

from harry_mcp.app import App
from harry_mcp.domain.jobs import JobReport
from harry_mcp.domain.rot import RotSignal
from harry_mcp.jobs.job import Job
from harry_mcp.jobs.rot_check import check


async def _run(app: App) -> JobReport:
    return await check(app, RotSignal.NEGATIVE_FEEDBACK)


JOB = Job("rot_feedback", "Flag what was complained about", _run)
