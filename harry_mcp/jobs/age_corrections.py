"""The job age_corrections: COR-11."""

from __future__ import annotations

from harry_mcp.app import App
from harry_mcp.domain.jobs import JobReport
from harry_mcp.jobs.job import Job


async def _run(app: App) -> JobReport:
    aged = await app.ageing.age_corrections()
    agrees = sum(1 for each in aged if each.reason.startswith("its page"))
    return JobReport(
        summary=f"{len(aged)} corrections given up, {agrees} of them because their page says it now",
        figures={"given_up": len(aged), "page_agrees": agrees, "unused": len(aged) - agrees},
    )


JOB = Job("age_corrections", "Give up corrections that nobody needs", _run)
