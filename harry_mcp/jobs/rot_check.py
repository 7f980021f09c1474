"""What the jobs that look for rot have in common."""

from __future__ import annotations

from harry_mcp.app import App
from harry_mcp.domain.jobs import Figure, JobReport
from harry_mcp.domain.rot import CheckReport, CheckState, RotSignal
from harry_mcp.errors import JobBusy, JobError


async def check(app: App, signal: RotSignal) -> JobReport:
    """Run the check of one signal.

    Raises:
        JobBusy: another process is at it.
        JobError: it failed.
    """
    (report,) = (await app.loop.rot.run([signal], actor=f"job:{signal.value}")).checks
    if report.state is CheckState.BUSY:
        raise JobBusy
    if report.state is CheckState.FAILED:
        raise JobError(report.error)
    return JobReport(summary=_summary(report), figures=_figures(report), partial=report.state is CheckState.PARTIAL)


def _summary(report: CheckReport) -> str:
    left = f", {report.left} left to the next run" if report.left else ""
    note = f"; {report.note}" if report.note else ""
    return (
        f"{report.examined} examined, {report.flagged} flagged, {report.logged} more signals logged, "
        f"{report.known} known already{left}{note}"
    )


def _figures(report: CheckReport) -> dict[str, Figure]:
    return {
        "examined": report.examined,
        "flagged": report.flagged,
        "logged": report.logged,
        "known": report.known,
        "left": report.left,
        "skipped": report.skipped,
        **report.counts,
    }
