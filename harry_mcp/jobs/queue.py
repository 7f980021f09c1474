"""The queue in PostgreSQL: the jobs as procrastinate knows them, when they are due, and when they are tried again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from importlib import resources
from pathlib import Path

import procrastinate
from procrastinate.jobs import Job as QueuedJob
from procrastinate.retry import BaseRetryStrategy, RetryDecision
from procrastinate.schema import SchemaManager

from harry_mcp.app import App
from harry_mcp.jobs.catalogue import JOBS
from harry_mcp.jobs.job import Job
from harry_mcp.jobs.running import run_job
from harry_mcp.jobs.schedule import schedules
from harry_mcp.settings import JobsSection
from harry_mcp.storage import job_queue
from harry_mcp.storage.database import Database

QUEUE = "harry"
_LONGEST_PAUSE = 3600.0
# Beside one connection that listens: fetching, signs of life, and the ends of jobs.
_CONNECTIONS = 3


class Backoff(BaseRetryStrategy):
    """A pause that doubles, up to an hour, for a bounded number of times. A job that its worker's end cut off is put
    back at once: that was no failure of the job."""

    def __init__(self, settings: JobsSection) -> None:
        self._settings = settings

    def get_retry_decision(self, *, exception: BaseException, job: QueuedJob) -> RetryDecision | None:
        if isinstance(exception, asyncio.CancelledError):
            return RetryDecision(retry_at=datetime.now(UTC))
        if self.spent(job):
            return None
        return RetryDecision(retry_at=datetime.now(UTC) + timedelta(seconds=self.pause(job.attempts)))

    def spent(self, job: QueuedJob) -> bool:
        """Whether a job was tried as often as it may be."""
        return job.attempts >= self._settings.retries

    def pause(self, attempts: int) -> float:
        """Seconds before the next try after some that failed before this one."""
        return min(_LONGEST_PAUSE, self._settings.retry_pause * 2.0 ** min(attempts, 30))


async def prepare(database: Database) -> int:
    """Make the queue's tables, or bring them up to date; the number of steps taken.

    Raises:
        MigrationError: that failed, or they were made by a newer version.
        DatabaseUnavailable: PostgreSQL cannot be reached.
    """
    folder = resources.files("procrastinate.sql").joinpath("migrations")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    steps = {Path(name).stem: folder.joinpath(name).read_text(encoding="utf-8") for name in names}
    return await database.install_queue(SchemaManager.get_schema(), steps)


def build_queue(app: App) -> procrastinate.App:
    """The queue with a task for each job, and its schedule. Nothing is opened yet.

    Raises:
        SettingsError: a schedule cannot be read.
    """
    settings = app.settings.jobs
    connector = procrastinate.PsycopgConnector(
        conninfo=app.database.address.get_secret_value(),
        configure=job_queue.configure,
        min_size=1,
        max_size=_CONNECTIONS,
        name="harry-jobs",
        timeout=app.settings.database.connect_timeout,
    )
    queue = procrastinate.App(
        connector=connector, periodic_defaults={"max_delay": timedelta(hours=settings.catch_up_hours).total_seconds()}
    )
    backoff, planned = Backoff(settings), schedules(JOBS, settings)
    for job in JOBS:
        # The lock keeps two of one job apart and in order. No lock against queueing: a job that is put back would
        # clash with the next one that waits. Those that pile up end at once, since one run covers all that was due.
        task = queue.task(name=job.name, queue=QUEUE, lock=job.name, retry=backoff)(_work(app, job))
        if job.name in planned:
            queue.periodic(cron=planned[job.name])(task)
    return queue


def _work(app: App, job: Job) -> Callable[[int], Awaitable[None]]:
    async def work(timestamp: int) -> None:
        await run_job(app, job, due=datetime.fromtimestamp(timestamp, tz=UTC))

    return work
