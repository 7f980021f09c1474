"""Several processes on one port: they are started with its socket, started again when one dies, and ended together."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import threading
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping, Sequence

from harry_mcp.errors import HarryError

log = logging.getLogger(__name__)

_UP = b"up\n"
# One that ends sooner than this, or never answered, was no good from the start; so many in a row are not started again.
_SHORT_LIFE = 5.0
_MOST_FAILURES = 3
_PAUSE = 0.5
# Beside the time that calls get to end: closing what is open.
_CLOSING_SECONDS = 10.0


class Workers:
    """The processes of one command line. ``listening`` is the socket that all of them listen on."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], listening: socket.socket) -> None:
        self._command = list(command)
        self._environment = dict(environment)
        self._listening = listening
        self._running: dict[int, Process] = {}

    async def serve(self, count: int, *, grace: float, up: Callable[[], None]) -> None:
        """Keep so many running until the task is cancelled. ``up`` is called once all of them answer.

        Raises:
            HarryError: they end again and again.
        """
        answering = [asyncio.Event() for _ in range(count)]
        keeping = [asyncio.create_task(self._keep(number, event)) for number, event in enumerate(answering)]
        first = asyncio.create_task(_all_set(answering, up))
        try:
            await asyncio.gather(*keeping)
        finally:
            for task in (first, *keeping):
                task.cancel()
            await asyncio.gather(first, *keeping, return_exceptions=True)
            await self._end(grace)

    async def _keep(self, number: int, answering: asyncio.Event) -> None:
        failures = 0
        while True:
            began = time.monotonic()
            process = self._running[number] = await self._start()
            up = process.stdout is not None and await process.stdout.readline() == _UP
            if up:
                answering.set()
            code = await process.wait()
            # On a slow machine one that cannot start takes its time to find out.
            failures = 0 if up and time.monotonic() - began >= _SHORT_LIFE else failures + 1
            if failures >= _MOST_FAILURES:
                raise HarryError("The processes that serve end as soon as they start; the log says why.")
            log.error("a process that serves ended with code %s; another takes its place", code)
            await asyncio.sleep(_PAUSE * failures)

    async def _start(self) -> Process:
        # A session of its own: Ctrl-C in a terminal goes to whole groups, and this process tells its workers itself.
        # Its standard input stays open for as long as this process lives.
        return await asyncio.create_subprocess_exec(
            *self._command,
            env=self._environment,
            stdin=PIPE,
            stdout=PIPE,
            pass_fds=(self._listening.fileno(),),
            start_new_session=True,
        )

    async def _end(self, grace: float) -> None:
        """Tell all to end and wait for it. Cancelled meanwhile, it tells them to hurry."""
        left = [process for process in self._running.values() if process.returncode is None]
        # Each of them closes it once it takes no more calls. Kept open here, it would let clients connect to nobody.
        self._listening.close()
        try:
            await _told(left, grace + _CLOSING_SECONDS)
        except asyncio.CancelledError:
            await _told(left, _CLOSING_SECONDS)
            raise
        finally:
            for process in left:
                if process.returncode is None:
                    process.kill()


async def _all_set(events: Sequence[asyncio.Event], up: Callable[[], None]) -> None:
    for event in events:
        await event.wait()
    up()


async def _told(processes: Sequence[Process], seconds: float) -> None:
    for process in processes:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
    waiting = asyncio.gather(*(process.wait() for process in processes))
    try:
        await asyncio.wait_for(waiting, seconds)
    except TimeoutError:
        log.error("a process that serves did not end in time and is killed")


def say_up() -> None:
    """Tell the process that started this one that it answers."""
    sys.stdout.buffer.write(_UP)
    sys.stdout.buffer.flush()


def end_with_parent() -> None:
    """Cancel the calling task once the process that started this one is gone, which closes our standard input."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def wait() -> None:
        while os.read(0, 1):
            pass
        if task is not None and not loop.is_closed():
            loop.call_soon_threadsafe(task.cancel)

    # A daemon, for a read cannot be cancelled.
    threading.Thread(target=wait, name="harry-parent", daemon=True).start()
