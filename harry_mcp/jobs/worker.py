"""The worker: runs what is due, shows that it lives, and takes over from workers that do not."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Generator, Iterable
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from typing import NoReturn

import procrastinate
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import DeleteJobCondition, Status
from procrastinate.jobs import Job as QueuedJob

from harry_mcp.app import App
from harry_mcp.errors import JobError, StorageError
from harry_mcp.jobs.queue import QUEUE, Backoff, build_queue, prepare
from harry_mcp.settings import JobsSection
from harry_mcp.storage import job_queue

log = logging.getLogger(__name__)
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0
# Who takes over the jobs of dead workers does so alone.
_RESCUE = "rescue"
# Hours that failed jobs stay in the queue; what they said stands in the record of runs.
_FAILED_HOURS = 7 * 24


async def work(app: App) -> NoReturn:
    """Work until cancelled. What runs then goes on for the seconds of grace, and is put back after that.

    A PostgreSQL that goes away is waited for.

    Raises:
        SettingsError: a schedule cannot be read.
        MigrationError: the queue's tables cannot be made.
        JobError: the queue broke for a reason that no waiting mends.
    """
    await prepare(app.database)
    build_queue(app)  # a fault of the settings is told at once, not after a pause
    pause = _FIRST_PAUSE
    while True:
        began = asyncio.get_running_loop().time()
        try:
            with broken_off() as broken:
                await _work(app)
            raise_for(broken)
            log.error("the worker lost its connection; it begins anew in %g seconds", pause)
        except (ConnectorException, StorageError) as error:
            log.error("the worker cannot go on and begins anew in %g seconds: %s", pause, error)
        lasted = asyncio.get_running_loop().time() - began
        pause = _FIRST_PAUSE if lasted > _LONGEST_PAUSE else min(2 * pause, _LONGEST_PAUSE)
        await asyncio.sleep(pause)
        await _heal(app)


class Broken(logging.Handler):
    """Why the queue ended by itself. It tells that to its log alone, and then returns as if all were well."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.cause: BaseException | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if getattr(record, "action", "") == "side_task_failed" and record.exc_info:
            self.cause = record.exc_info[1]


@contextmanager
def broken_off() -> Generator[Broken, None, None]:
    """Listen for why the queue ends, while it works."""
    handler, logger = Broken(), logging.getLogger("procrastinate")
    logger.addHandler(handler)
    try:
        yield handler
    finally:
        logger.removeHandler(handler)


def raise_for(broken: Broken) -> None:
    """Let what is no lost connection end the worker: beginning anew would end the same way."""
    cause = broken.cause
    if cause is not None and not job_queue.connection_lost(cause):
        raise JobError(
            f"The worker cannot go on: {type(cause).__name__}: {cause}. Starting it again will not mend that; check "
            "the HARRY_JOBS__ settings with `harry doctor`."
        ) from cause


async def _work(app: App) -> None:
    settings = app.settings.jobs
    queue = build_queue(app)
    async with queue.open_async(), _rescuing(app, queue):
        await queue.job_manager.delete_old_jobs(_FAILED_HOURS, include_failed=True, include_aborted=True)
        await queue.run_worker_async(
            queues=[QUEUE],
            name="harry",
            concurrency=settings.at_once,
            shutdown_graceful_timeout=settings.grace,
            delete_jobs=DeleteJobCondition.SUCCESSFUL,
            install_signal_handlers=False,
            update_heartbeat_interval=settings.heartbeat,
            stalled_worker_timeout=settings.stalled,
        )


@asynccontextmanager
async def _rescuing(app: App, queue: procrastinate.App) -> AsyncGenerator[None, None]:
    task = asyncio.create_task(_rescue_forever(app, queue), name="harry-rescue")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _rescue_forever(app: App, queue: procrastinate.App) -> None:
    settings = app.settings.jobs
    while True:
        try:
            await rescue(app, queue)
        except (ConnectorException, StorageError) as error:
            log.warning("dead workers could not be looked for: %s", error)
        await asyncio.sleep(settings.heartbeat)


async def rescue(app: App, queue: procrastinate.App) -> int:
    """Put the jobs of workers that give no sign of life back into the queue; how many.

    One that took its worker down as often as a job may fail is given up. That the dead one only seems to be dead does
    no harm: who runs a job holds its lock in PostgreSQL.
    """
    settings = app.settings.jobs
    async with app.database.session() as held:
        if not await held.job_runs.try_lock(_RESCUE):
            return 0
        manager = queue.job_manager
        stalled = list(await manager.get_stalled_jobs(queue=QUEUE, seconds_since_heartbeat=settings.stalled))
        await _put_back(queue, stalled, settings)
        await manager.prune_stalled_workers(settings.stalled)
        return len(stalled)


async def _put_back(queue: procrastinate.App, stalled: Iterable[QueuedJob], settings: JobsSection) -> None:
    backoff = Backoff(settings)
    for job in stalled:
        try:
            if backoff.spent(job):
                log.error("the job %s took its worker down too often and is given up", job.task_name)
                await queue.job_manager.finish_job(job, Status.FAILED, delete_job=False)
            else:
                log.warning("the worker of the job %s is dead; the job is taken over", job.task_name)
                await queue.job_manager.retry_job(job, retry_at=datetime.now(UTC))
        except ConnectorException as error:  # it came to its end meanwhile
            log.info("the job %s was not taken over: %s", job.task_name, error)


async def _heal(app: App) -> None:
    try:
        await app.database.heal()
    except StorageError as error:
        log.error("the database is not back yet: %s", error)
