"""When jobs are due."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from croniter import CroniterBadDateError, croniter

from harry_mcp.errors import SettingsError
from harry_mcp.jobs.job import Job
from harry_mcp.settings import JobsSection


def schedules(jobs: Iterable[Job], settings: JobsSection) -> dict[str, str]:
    """The schedule of each job that has one.

    Raises:
        SettingsError: one cannot be read, or never comes; the message names it.
    """
    found = {job.name: settings.schedule(job.name) for job in jobs}
    for name, schedule in found.items():
        if schedule and (fault := _fault(schedule)):
            raise SettingsError(
                f"HARRY_JOBS__{name.upper()} {fault}: {schedule!r}. Write minute, hour, day, month and weekday, "
                "like `0 6 * * *`, or `off`."
            )
    return {name: schedule for name, schedule in found.items() if schedule}


def _fault(schedule: str) -> str:
    """What is wrong with a schedule, empty when nothing is."""
    if not croniter.is_valid(schedule):
        return "is no schedule"
    try:  # it reads a day that no month has, such as 31 February
        next_run(schedule, datetime.now(UTC))
        croniter(schedule).get_prev(float)  # the queue looks back too
    except CroniterBadDateError:
        return "never comes"
    return ""


def next_run(schedule: str, now: datetime) -> datetime:
    """The next moment of a schedule after now, in UTC."""
    return datetime.fromtimestamp(croniter(schedule, now.timestamp()).get_next(float), tz=UTC)
