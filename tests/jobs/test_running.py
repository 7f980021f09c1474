"""CUR-10: one run of a job at a time, on record, tried again within bounds; and the queue's tables."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import procrastinate
import pytest
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job as QueuedJob
from procrastinate.testing import InMemoryConnector
from psycopg import AsyncConnection, OperationalError

from harry_mcp.app import App
from harry_mcp.domain.jobs import JobReport
from harry_mcp.errors import JobBusy, JobError, MigrationError, NotFoundError, ProviderError, SettingsError
from harry_mcp.jobs.catalogue import JOBS, find
from harry_mcp.jobs.job import Job
from harry_mcp.jobs.queue import Backoff, build_queue, prepare
from harry_mcp.jobs.running import run_job
from harry_mcp.jobs.schedule import next_run, schedules
from harry_mcp.jobs.worker import broken_off, raise_for, rescue
from harry_mcp.settings import JobsSection, load_settings
from harry_mcp.storage.database import Database
from harry_mcp.storage.job_queue import connection_lost
from tests.jobs.week import fill
from tests.storage.recount import rows

pytestmark = pytest.mark.promise("CUR-10")
RUNS = "SELECT state, summary FROM job_runs ORDER BY id"


async def _nothing(app: App) -> JobReport:
    return JobReport(summary="nothing", figures={"done": 0})


def queued(**values: Any) -> QueuedJob:
    return QueuedJob(id=1, queue="harry", lock=None, queueing_lock=None, task_name="digest", **values)


async def test_a_run_is_on_record_however_it_ends(app: App, connection: AsyncConnection[Any]) -> None:
    async def fails(app: App) -> JobReport:
        raise ProviderError("The mail server is on holiday.")

    async def breaks(app: App) -> JobReport:
        return JobReport(summary=str(1 // 0))

    assert await run_job(app, Job("a", "A", _nothing)) == JobReport(summary="nothing", figures={"done": 0})
    with pytest.raises(ProviderError):
        await run_job(app, Job("b", "B", fails))
    with pytest.raises(ZeroDivisionError):
        await run_job(app, Job("c", "C", breaks))
    stuck = asyncio.Event()

    async def waits(app: App) -> JobReport:
        stuck.set()
        await asyncio.Event().wait()
        raise AssertionError

    task = asyncio.create_task(run_job(app, Job("d", "D", waits)))
    await stuck.wait()
    with pytest.raises(JobBusy, match="Another process runs d"):
        await run_job(app, Job("d", "D", _nothing))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await rows(connection, RUNS) == [
        ("done", "nothing"),
        ("failed", "The mail server is on holiday."),
        ("failed", "ZeroDivisionError: integer division or modulo by zero"),
        ("stopped", "Its worker was told to end."),
    ]
    await run_job(app, Job("d", "D", _nothing))


async def test_what_was_due_and_done_since_is_not_done_again(app: App, connection: AsyncConnection[Any]) -> None:
    due, job = datetime.now(UTC) - timedelta(minutes=1), Job("a", "A", _nothing)
    assert await run_job(app, job, due=due) is not None
    assert await run_job(app, job, due=due) is None
    assert await run_job(app, job, due=due - timedelta(hours=3)) is None, "a late one is covered by it too"
    assert await run_job(app, job) is not None, "asked for by a person"
    assert await run_job(app, job, due=datetime.now(UTC) + timedelta(minutes=1)) is not None
    await connection.execute(b"INSERT INTO job_runs (job, state) VALUES ('a', 'running')")
    await run_job(app, job)
    assert [state for state, _ in await rows(connection, RUNS)] == ["done", "done", "done", "lost", "done"]


def test_a_failed_job_is_tried_again_within_bounds() -> None:
    backoff = Backoff(JobsSection(retries=4, retry_pause=60))
    assert [backoff.pause(attempts) for attempts in (0, 1, 2, 3, 9, 99)] == [60, 120, 240, 480, 3600, 3600]
    error = ProviderError("down")
    for attempts in range(4):
        decision = backoff.get_retry_decision(exception=error, job=queued(attempts=attempts))
        assert decision is not None
        assert decision.retry_at is not None
        assert decision.retry_at > datetime.now(UTC) + timedelta(seconds=59)
    assert backoff.get_retry_decision(exception=error, job=queued(attempts=4)) is None
    cut_off = backoff.get_retry_decision(exception=asyncio.CancelledError(), job=queued(attempts=9))
    assert cut_off is not None
    assert cut_off.retry_at is not None
    assert cut_off.retry_at <= datetime.now(UTC)


@pytest.mark.promise("RUN-5")
def test_every_job_has_a_schedule_that_can_be_changed() -> None:
    given = schedules(JOBS, JobsSection())
    assert set(given) == {job.name for job in JOBS}
    assert "digest" not in schedules(JOBS, JobsSection(digest="Off"))
    assert next_run("0 6 * * *", datetime(2026, 3, 20, 6, 0, tzinfo=UTC)) == datetime(2026, 3, 21, 6, 0, tzinfo=UTC)
    with pytest.raises(SettingsError, match=r"HARRY_JOBS__DIGEST is no schedule: 'daily'\. Write"):
        schedules(JOBS, load_settings({"HARRY_JOBS__DIGEST": "daily"}).jobs)
    for never in ("0 0 31 2 *", "0 0 30,31 2 *", "5 4 31 4,6,9,11 *"):
        with pytest.raises(SettingsError, match=r"HARRY_JOBS__DIGEST never comes: .*\. Write"):
            schedules(JOBS, JobsSection(digest=never))
    assert schedules(JOBS, JobsSection(digest="0 0 29 2 *"))["digest"] == "0 0 29 2 *", "rare is not never"
    with pytest.raises(NotFoundError, match="The jobs are: rot_stale,"):
        find("nothing")


async def test_a_fault_of_the_program_is_not_taken_for_a_lost_connection() -> None:
    queue = procrastinate.App(connector=InMemoryConnector())

    @queue.periodic(cron="0 0 31 2 *")
    @queue.task(name="never")
    def never(timestamp: int) -> None:
        raise AssertionError(timestamp)

    async with queue.open_async():
        with broken_off() as broken:
            await queue.run_worker_async(install_signal_handlers=False)
    with pytest.raises(JobError, match=r"cannot go on: CroniterBadDateError: .* Starting it again will not mend that"):
        raise_for(broken)


@pytest.mark.parametrize(("cause", "lost"), [(OperationalError("gone"), True), (OSError(), True), (KeyError(), False)])
def test_a_lost_connection_is_known_by_what_lies_under_the_error(cause: Exception, lost: bool) -> None:
    with pytest.raises(ConnectorException) as caught:
        raise ConnectorException from cause
    assert connection_lost(caught.value) == lost


@pytest.mark.promise("OPS-2")
async def test_several_processes_make_the_tables_of_the_queue_once(
    database: Database, connection: AsyncConnection[Any]
) -> None:
    taken = await asyncio.gather(*(prepare(database) for _ in range(4)))
    assert sorted(taken) == [0, 0, 0, 1]
    assert await rows(connection, "SELECT count(*) > 30 FROM job_queue_steps") == [(True,)]
    where = "SELECT DISTINCT schemaname FROM pg_tables WHERE tablename LIKE 'procrastinate%'"
    assert await rows(connection, where) == [("harry_jobs",)]
    # What a later version brings is taken step by step, each wholly or not at all.
    with pytest.raises(MigrationError, match="job queue's schema cannot be made"):
        await database.install_queue("", {"a_step": "CREATE TABLE broken (", **await _steps(connection)})
    assert await rows(connection, "SELECT count(*) FROM job_queue_steps WHERE name = 'a_step'") == [(0,)]
    assert await database.install_queue("", {"a_step": "CREATE TABLE more (id int)", **await _steps(connection)}) == 1
    assert await rows(connection, "SELECT count(*) FROM harry_jobs.more") == [(0,)]
    with pytest.raises(MigrationError, match="newer procrastinate"):
        await database.install_queue("", {"another": ""})


async def _steps(connection: AsyncConnection[Any]) -> dict[str, str]:
    return {str(name): "" for (name,) in await rows(connection, "SELECT name FROM job_queue_steps")}


async def test_a_job_that_takes_its_workers_down_is_given_up(app: App, connection: AsyncConnection[Any]) -> None:
    await prepare(app.database)
    queue = build_queue(app)
    statuses = "SELECT attempts, status::text FROM harry_jobs.procrastinate_jobs ORDER BY id"
    async with queue.open_async():
        assert await rescue(app, queue) == 0
        worker = await queue.job_manager.register_worker()
        for _ in range(app.settings.jobs.retries + 1):
            if not await rows(connection, statuses):
                await queue.configure_task("digest").defer_async(timestamp=0)
            taken = await queue.job_manager.fetch_job(queues=["harry"], worker_id=worker)
            assert taken is not None
            assert await rescue(app, queue) == 0, "its worker lives"
            await connection.execute(
                b"UPDATE harry_jobs.procrastinate_workers SET last_heartbeat = now() - interval '1 d'"
            )
            assert await rescue(app, queue) == 1
            worker = await queue.job_manager.register_worker()
        assert await rows(connection, statuses) == [(app.settings.jobs.retries + 1, "failed")]


async def test_what_people_asked_long_ago_is_removed(app: App, connection: AsyncConnection[Any]) -> None:
    now = datetime.now(UTC)
    await fill(connection, until=now - timedelta(days=370))
    await connection.execute(b"UPDATE searches SET created_at = now() WHERE id IN ('s13_1', 's0_1')")
    await connection.execute(
        b"INSERT INTO job_runs (job, state, started_at, finished_at)"
        b" SELECT 'digest', 'done', now() - interval '100 days', now() FROM generate_series(1, 3)"
    )
    report = await run_job(app, find("retention"))
    assert report is not None
    assert report.figures == {"searches": 294, "lookups": 0, "runs": 2}
    assert await rows(connection, "SELECT count(*) FROM searches") == [(2,)]
    assert await rows(connection, "SELECT count(*) FROM kb_gaps") == [(2,)]
    assert await rows(connection, "SELECT DISTINCT search_id FROM kb_gap_logs") == [("s13_1",)]


async def test_every_job_runs_on_an_empty_knowledge_base(app: App, connection: AsyncConnection[Any]) -> None:
    for job in JOBS:
        report = await run_job(app, job)
        assert report is not None
        assert not report.partial, job.name
        assert report.summary
    async with app.database.reading() as unit:
        last = await unit.job_runs.last()
    assert {name: run.state for name, run in last.items()} == {job.name: "done" for job in JOBS}
