"""harry worker: does the scheduled jobs."""

from __future__ import annotations

import sys

from harry_mcp.cli import logs
from harry_mcp.cli.console import run
from harry_mcp.settings import Settings, load_settings


def worker() -> None:
    """Do the scheduled jobs until it is stopped. Any number of workers share them; each job runs once.

    Ctrl-C and SIGTERM let what runs come to its end for HARRY_JOBS__GRACE seconds. Logs go to stderr.
    """
    settings = load_settings()
    logs.configure(settings.log_level)
    run(_work(settings))


async def _work(settings: Settings) -> None:
    from harry_mcp.app import App
    from harry_mcp.jobs.worker import work

    async with await App.open(settings) as app:
        sys.stderr.write("harry works the schedule; `harry jobs list` shows it. Press Ctrl-C to leave.\n")
        await work(app)
