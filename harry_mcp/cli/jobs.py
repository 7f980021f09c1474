"""harry jobs: what is done by the clock, when it was done last, and doing it now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harry_mcp.cli.console import ExitCode, print_json, run, terminal
from harry_mcp.domain.jobs import JobReport, JobRun, JobState
from harry_mcp.server.moments import moment
from harry_mcp.settings import Settings, load_settings

if TYPE_CHECKING:
    from harry_mcp.storage.database import Database

commands = typer.Typer(help="See the scheduled jobs, and run one now.", no_args_is_help=True)
_Json = Annotated[bool, typer.Option("--json", help="Print the result for a script.")]


@dataclass(frozen=True, slots=True)
class JobStanding:
    """A job, when it is due next (None: never by itself), and its last run."""

    name: str
    title: str
    schedule: str
    next_run: datetime | None
    last: JobRun | None


@commands.command("list")
def list_jobs(as_json: _Json = False) -> None:
    """Every job with its schedule, its next run and how the last one ended. Times are in UTC."""
    found = run(_list())
    if as_json:
        print_json([_as_json(each) for each in found])
    else:
        _print(found)


@commands.command("run")
def run_one(name: Annotated[str, typer.Argument(help="The job.")], as_json: _Json = False) -> None:
    """Run a job now, in this process, and print what it did. A worker is not needed.

    While another process runs it, this one is refused.
    """
    report = run(_run(name))
    if as_json:
        print_json(
            {"job": name, "state": report.state.value, "summary": report.summary, "figures": dict(report.figures)}
        )
    else:
        terminal().print(f"{name}: {report.summary}", soft_wrap=True, markup=False)
    if report.partial:
        raise typer.Exit(ExitCode.PARTIAL)


async def standings(database: Database, settings: Settings) -> list[JobStanding]:
    """The jobs as they stand.

    Raises:
        SettingsError: a schedule cannot be read.
    """
    from harry_mcp.jobs.catalogue import JOBS
    from harry_mcp.jobs.schedule import next_run, schedules

    planned, now = schedules(JOBS, settings.jobs), datetime.now(UTC)
    async with database.reading() as unit:
        last = await unit.job_runs.last()
    return [
        JobStanding(
            job.name,
            job.title,
            planned.get(job.name, ""),
            next_run(planned[job.name], now) if job.name in planned else None,
            last.get(job.name),
        )
        for job in JOBS
    ]


async def _list() -> list[JobStanding]:
    from harry_mcp.providers.factory import build_embedder
    from harry_mcp.storage.database import Database

    settings = load_settings()
    database = await Database.open(settings, build_embedder(settings).space, any_space=True)
    try:
        return await standings(database, settings)
    finally:
        await database.close()


async def _run(name: str) -> JobReport:
    from harry_mcp.app import App
    from harry_mcp.jobs.catalogue import find
    from harry_mcp.jobs.running import run_job

    job, settings = find(name), load_settings()
    async with await App.open(settings) as app:
        report = await run_job(app, job)
    # None is for runs that the schedule asked for and another one had covered.
    return report or JobReport(summary="There was nothing to do.")


def _as_json(standing: JobStanding) -> dict[str, Any]:
    last = standing.last
    return {
        "job": standing.name,
        "title": standing.title,
        "schedule": standing.schedule,
        "next_run": moment(standing.next_run),
        "last": last
        and {
            "state": last.state,
            "summary": last.summary,
            "figures": last.figures,
            "due_at": moment(last.due_at),
            "started_at": moment(last.started_at),
            "finished_at": moment(last.finished_at),
            "seconds": round(last.seconds, 2),
        },
    }


def _print(found: list[JobStanding]) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, padding=(0, 1), header_style="bold")
    for column in ("job", "schedule", "next (UTC)", "last run (UTC)"):
        table.add_column(column, no_wrap=column != "last run (UTC)")
    for each in found:
        due = f"{each.next_run:%d %b %H:%M}" if each.next_run else "-"
        table.add_row(f"[bold]{each.name}[/]", each.schedule or "off", due, escape(last_in_words(each.last)))
    terminal().print(table)


def last_in_words(last: JobRun | None) -> str:
    """How the last run ended, in a line."""
    if last is None:
        return "never"
    began = f"{last.started_at.astimezone(UTC):%d %b %H:%M}"
    if last.state == JobState.RUNNING:
        return f"running since {began}"
    return f"{began} {last.state}, {last.seconds:.1f} s: {last.summary}"
