"""CUR-10: workers share the jobs; one that dies in the middle leaves work that is done once in effect."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo

from harry_mcp.cli.console import ExitCode
from harry_mcp.settings import Settings
from tests.jobs.post_office import Held, PostOffice
from tests.jobs.processes import told, watch, within, workers
from tests.storage.recount import rows

pytestmark = [pytest.mark.promise("CUR-10"), pytest.mark.promise("CUR-9")]
RUNS = "SELECT state FROM job_runs WHERE job = 'digest' ORDER BY id"
MAILS = "SELECT state FROM digest_mails"


async def test_two_workers_do_a_job_once(
    settings: Settings, office: PostOffice, connection: AsyncConnection[Any]
) -> None:
    await watch(connection, "job_runs", "state")
    async with workers(settings, 2, **office.environment()) as both:
        assert await told(connection, "done", "failed") == "done"
        ended = [await worker.terminate() for worker in both]
    assert [code for code, _ in ended] == [ExitCode.TERMINATED] * 2
    assert all("harry works the schedule" in said for _, said in ended)
    assert len(office.mails) == 1
    assert await rows(connection, RUNS) == [("done",)]
    assert await rows(connection, "SELECT count(*) FROM harry_jobs.procrastinate_jobs") == [(0,)]
    assert await rows(connection, "SELECT count(*) FROM harry_jobs.procrastinate_workers") == [(0,)]


async def test_a_worker_that_is_killed_before_the_mail_is_out_is_replaced(
    settings: Settings, office: PostOffice, connection: AsyncConnection[Any]
) -> None:
    office.at_recipient = Held()
    await watch(connection, "job_runs", "state")
    async with workers(settings, 2, **office.environment()) as both:
        await within(office.at_recipient.reached)
        (busy,) = [worker for worker in both if worker.speaks_to(office.port)]
        await busy.kill()
        assert await rows(connection, MAILS) == [("claimed",)]
        office.at_recipient.go.set()
        assert await told(connection, "done", "failed") == "done"
    assert len(office.mails) == 1
    assert await rows(connection, RUNS) == [("lost",), ("done",)]
    assert await rows(connection, MAILS) == [("sent",)]


async def test_a_worker_that_is_killed_when_the_mail_is_out_leaves_one_mail(
    settings: Settings, office: PostOffice, connection: AsyncConnection[Any]
) -> None:
    office.at_end = Held()
    await watch(connection, "job_runs", "state")
    async with workers(settings, 2, **office.environment()) as both:
        await within(office.at_end.reached)
        (busy,) = [worker for worker in both if worker.speaks_to(office.port)]
        await busy.kill()
        assert await rows(connection, MAILS) == [("handed",)]
        assert await told(connection, "done", "failed") == "done"
    assert len(office.mails) == 1
    assert await rows(connection, RUNS) == [("lost",), ("done",)]
    ((state, error),) = await rows(connection, "SELECT state, error FROM digest_mails")
    assert state == "unknown"
    assert "may have been delivered" in str(error)


async def test_work_on_many_things_that_is_cut_off_in_the_middle_is_done_once(
    settings: Settings, connection: AsyncConnection[Any]
) -> None:
    for number in range(5):
        await connection.execute(
            b"INSERT INTO corrections (id, wrong, truth, lesson, status, author, updated_at)"
            b" VALUES (%s, 'w', 't', 'l', 'active', 'ann', now() - interval '400 days')",
            [f"cor_{number}"],
        )
    # The third one that is given up waits for a lock which the test holds.
    await connection.execute(b"CREATE TABLE given_up (id text)")
    await connection.execute(
        b"CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        b" INSERT INTO harry.given_up VALUES (NEW.id);"
        b" IF (SELECT count(*) FROM harry.given_up) = 3 THEN PERFORM pg_advisory_xact_lock(4711); END IF;"
        b" RETURN NEW; END $$"
    )
    await connection.execute(b"CREATE TRIGGER hold AFTER UPDATE ON corrections FOR EACH ROW EXECUTE FUNCTION hold()")
    await watch(connection, "job_runs", "state")
    await watch(connection, "given_up", "id")
    given = {"HARRY_JOBS__DIGEST": "off", "HARRY_JOBS__AGE_CORRECTIONS": "0 * * * *"}
    names = [f"cor_{number}" for number in range(5)]
    url = settings.database_url.get_secret_value()
    async with await AsyncConnection.connect(url, autocommit=True) as holder, workers(settings, 1, **given) as (busy,):
        await holder.execute(b"SELECT pg_advisory_lock(4711)")
        first, second = await told(connection, *names), await told(connection, *names)
        async with workers(settings, 1, **given):
            await busy.kill()
            await holder.execute(b"SELECT pg_advisory_unlock(4711)")
            assert await told(connection, "done", "failed") == "done"
    runs = "SELECT state, (figures ->> 'given_up')::int FROM job_runs WHERE job = 'age_corrections' ORDER BY id"
    assert await rows(connection, runs) == [("lost", None), ("done", 3)], "two had been done and stay done"
    found = [row[0] for row in await rows(connection, "SELECT id FROM given_up")]
    assert sorted(found) == names, "each once"
    assert found[:2] == [first, second]
    assert await rows(connection, "SELECT DISTINCT status, decided_by FROM corrections") == [
        ("deprecated", "job:age_corrections")
    ]


async def test_a_worker_that_is_told_to_end_puts_its_job_back(
    settings: Settings, office: PostOffice, connection: AsyncConnection[Any]
) -> None:
    office.at_recipient = Held()
    await watch(connection, "job_runs", "state")
    async with workers(settings, 1, HARRY_JOBS__GRACE="0.2", **office.environment()) as (worker,):
        await within(office.at_recipient.reached)
        code, said = await worker.terminate()
    assert code == ExitCode.TERMINATED, said
    assert await rows(connection, RUNS) == [("stopped",)]
    assert await rows(connection, "SELECT status::text FROM harry_jobs.procrastinate_jobs") == [("todo",)]
    office.at_recipient.go.set()
    async with workers(settings, 1, **office.environment()):
        assert await told(connection, "done", "failed") == "done"
    assert len(office.mails) == 1
    assert await rows(connection, MAILS) == [("sent",)]


async def test_a_worker_outlives_a_database_that_is_gone_for_a_while(
    settings: Settings, office: PostOffice, connection: AsyncConnection[Any]
) -> None:
    await watch(connection, "job_runs", "state")
    url, name = settings.database_url.get_secret_value(), connection.info.dbname
    given = office.environment() | {"HARRY_DATABASE__CONNECT_TIMEOUT": "1"}
    async with (
        workers(settings, 1, **given) as (worker,),
        await AsyncConnection.connect(make_conninfo(url, dbname="postgres"), autocommit=True) as outside,
    ):
        assert await told(connection, "done", "failed") == "done"
        await outside.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false".encode())
        await connection.execute(
            b"SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            b" WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        await worker.says("begins anew")
        await outside.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true".encode())
        async with connection.transaction():
            await connection.execute(b"SET LOCAL search_path TO harry_jobs")
            await connection.execute(
                b"INSERT INTO procrastinate_jobs (queue_name, task_name, lock, args) VALUES ("
                b"'harry', 'digest', 'digest', jsonb_build_object('timestamp', extract(epoch FROM now())::int))"
            )
        assert await told(connection, "done", "failed") == "done"
        code, _ = await worker.terminate()
    assert code == ExitCode.TERMINATED
    assert len(office.mails) == 1
