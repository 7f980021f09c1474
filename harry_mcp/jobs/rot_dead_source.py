"""The job rot_dead_source: CUR-3."""

from __future__ import annotations

from harry_mcp.app import App
from harry_mcp.domain.jobs import JobReport
from harry_mcp.domain.rot import RotSignal
from harry_mcp.jobs.job import Job
from harry_mcp.jobs.rot_check import check


async def _run(app: App) -> JobReport:
    return await check(app, RotSignal.DEAD_SOURCE)


JOB = Job("rot_dead_source", "Ask the addresses of documents", _run)
