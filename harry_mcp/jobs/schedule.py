"""When jobs are due."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from croniter import croniter

from harry_mcp.errors import SettingsError
from harry_mcp.jobs.job import Job
from harry_mcp.settings import JobsSection


def schedules(jobs: Iterable[Job], settings: JobsSection) -> dict[str, str]:
    """The schedule of each job that has one.

    Raises:
        SettingsError: one cannot be read; the message names it.
    """
    found = {job.name: settings.schedule(job.name) for job in jobs}
    for name, schedule in found.items():
        if schedule and not croniter.is_valid(schedule):
            raise SettingsError(
                f"HARRY_JOBS__{name.upper()} is no schedule: {schedule!r}. Write minute, hour, day, month and weekday, "
                "like `0 6 * * *`, or `off`."
            )
    return {name: schedule for name, schedule in found.items() if schedule}


def next_run(schedule: str, now: datetime) -> datetime:
    """The next moment of a schedule after now, in UTC."""
    return datetime.fromtimestamp(croniter(schedule, now.timestamp()).get_next(float), tz=UTC)
