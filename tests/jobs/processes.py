"""Workers as processes of their own, and waiting for what they do without looking again and again."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import psutil
from psycopg import AsyncConnection

from harry_mcp.jobs.catalogue import JOBS
from harry_mcp.settings import Settings, child_environment

_PATIENCE = 120


class Worker:
    """``harry worker`` as a process."""

    def __init__(self, settings: Settings, **environment: str) -> None:
        quiet = {f"HARRY_JOBS__{job.name.upper()}": "off" for job in JOBS}
        given = child_environment(
            **quiet
            | {
                "HARRY_DATABASE_URL": settings.database_url.get_secret_value(),
                "HARRY_DATA_DIR": str(settings.data_dir),
                # Due since the hour began: a worker that starts makes up for what was missed.
                "HARRY_JOBS__DIGEST": "0 * * * *",
                "HARRY_JOBS__HEARTBEAT": "0.5",
                "HARRY_JOBS__STALLED": "3",
            }
            | environment
        )
        self._process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "harry_mcp.cli.main", "worker"],
            env=given,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def speaks_to(self, port: int) -> bool:
        """Whether it has a connection to a port."""
        connections = psutil.Process(self._process.pid).net_connections("tcp")
        return any(each.raddr and each.raddr.port == port for each in connections)

    async def says(self, words: str) -> None:
        """Wait until it says something on stderr."""
        assert self._process.stderr
        while words not in (line := await asyncio.to_thread(self._process.stderr.readline)):
            assert line, "it ended"

    async def kill(self) -> None:
        """SIGKILL: it gets no chance to tidy up."""
        self._process.kill()
        await asyncio.to_thread(self._process.communicate)

    async def terminate(self) -> tuple[int, str]:
        """SIGTERM; how it ended and what it said on stderr."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        said = await asyncio.to_thread(self._process.communicate, timeout=_PATIENCE)
        assert "Traceback" not in said[1], said[1]
        return self._process.returncode, said[1]


@asynccontextmanager
async def workers(settings: Settings, number: int, **environment: str) -> AsyncGenerator[list[Worker], None]:
    """Some workers, none of which is left at the end."""
    started = [Worker(settings, **environment) for _ in range(number)]
    try:
        yield started
    finally:
        for worker in started:
            await worker.kill()


async def watch(connection: AsyncConnection[Any], table: str, column: str) -> None:
    """Let every new value of a column be told to :func:`told`."""
    await connection.execute(
        b"CREATE OR REPLACE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        b" EXECUTE format('SELECT pg_notify(''watched'', ($1).%I::text)', TG_ARGV[0]) USING NEW; RETURN NULL; END $$"
    )
    await connection.execute(
        f"CREATE TRIGGER tell AFTER INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION tell('{column}')".encode()
    )
    await connection.execute(b"LISTEN watched")


async def told(connection: AsyncConnection[Any], *values: str) -> str:
    """Wait until the watched column takes one of some values (none: any)."""
    async with asyncio.timeout(_PATIENCE):
        async for notification in connection.notifies():
            if not values or notification.payload in values:
                return notification.payload
    raise AssertionError("the connection was closed")


async def within(event: asyncio.Event) -> None:
    """Wait for an event, not for ever."""
    async with asyncio.timeout(_PATIENCE):
        await event.wait()
