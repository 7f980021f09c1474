"""CUR-9, CUR-10, RUN-6: jobs at the command line, in the doctor's report, and the digest as a tool's result."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from psycopg import AsyncConnection

from harry_mcp.cli.console import ExitCode
from harry_mcp.settings import Settings, child_environment
from tests.cli.test_commands import Done, harry
from tests.jobs.post_office import PostOffice
from tests.jobs.week import BREAKING, HOSTILE, fill
from tests.server.test_stdio import COMMAND, structured, text_of
from tests.storage.recount import rows


class CommandLine:
    """Commands on the database of a test, in a thread so that servers of the test can answer them."""

    def __init__(self, settings: Settings, **environment: str) -> None:
        self._environment = {"HARRY_DATABASE_URL": settings.database_url.get_secret_value(), **environment}

    async def __call__(self, *arguments: str, **environment: str) -> Done:
        return await asyncio.to_thread(harry, *arguments, **self._environment | environment)

    async def findings(self, **environment: str) -> dict[str, tuple[bool, str]]:
        """What the doctor finds, by the name of the check."""
        done = await self("doctor", "--json", **environment)
        return {check["name"]: (check["ok"], check["finding"]) for check in done.json["checks"]}


@pytest.mark.promise("CUR-10")
@pytest.mark.promise("RUN-6")
async def test_jobs_are_listed_and_run(
    settings: Settings, office: PostOffice, connection: AsyncConnection[Any]
) -> None:
    run, given = CommandLine(settings), office.environment()
    found = await run.findings(HARRY_JOBS__DIGEST="at six")
    assert found["mail"] == (True, "none: HARRY_MAIL__HOST is empty, so the digest is not mailed")
    assert found["jobs"] == (
        False,
        "HARRY_JOBS__DIGEST is no schedule: 'at six'. Write minute, hour, day, month and weekday, like `0 6 * * *`, or "
        "`off`.",
    )
    office.answers = ["452 too much mail"]
    failed = await run("jobs", "run", "digest", **given)
    assert (failed.code, failed.out) == (ExitCode.PROVIDER, "")
    assert "452 too much mail" in failed.err
    found = await run.findings(**given)
    for name in ("jobs", "mail"):
        assert not found[name][0]
        assert "452 too much mail" in found[name][1]
        assert ".." not in found[name][1]
    sent = await run("jobs", "run", "digest", "--json", **given)
    assert (sent.code, sent.err) == (0, "")
    assert sent.json["state"] == "done"
    assert sent.json["summary"].endswith("Mailed to 2 of 2 recipients.")
    assert len(office.mails) == 1
    found = await run.findings(**given)
    assert found["mail"][0]
    assert "(starttls) to 2 recipients; the digest of" in found["mail"][1]
    assert "1 of 8 have run, last digest" in found["jobs"][1]
    assert await rows(connection, "SELECT state FROM job_runs ORDER BY id") == [("failed",), ("done",)]
    by_name = {each["job"]: each for each in (await run("jobs", "list", "--json", HARRY_JOBS__RETENTION="off")).json}
    digest, retention = by_name["digest"], by_name["retention"]
    assert (digest["last"]["state"], digest["schedule"]) == ("done", "0 6 * * *")
    assert digest["next_run"].endswith("T06:00:00+00:00")
    assert (retention["schedule"], retention["next_run"], retention["last"]) == ("", "", None)
    shown = await run("jobs", "list", COLUMNS="200")
    assert "never" in shown.out
    unknown = await run("jobs", "run", "nothing")
    assert unknown.code == ExitCode.USAGE
    assert "The jobs are: rot_stale" in unknown.err


@pytest.mark.promise("CUR-9")
@pytest.mark.promise("MCP-4")
async def test_a_curator_gets_the_digest_from_a_tool(settings: Settings, connection: AsyncConnection[Any]) -> None:
    (now,) = await rows(connection, "SELECT now()")
    await fill(connection, until=now[0])
    url = settings.database_url.get_secret_value()

    def server(role: str) -> StdioServerParameters:
        given = child_environment(HARRY_DATABASE_URL=url, HARRY_ROLE=role)
        return StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=given)

    async with Client(server("contributor")) as client:
        assert "curation_digest" not in {tool.name for tool in (await client.list_tools()).tools}
    async with Client(server("curator")) as client:
        result = await client.call_tool("curation_digest", {"top": 1})
    reply, text = structured(result), text_of(result)
    assert reply["escalation"]["rate"] == pytest.approx(45 / 159, abs=1e-4)
    assert reply["escalation"]["change"] == pytest.approx(45 / 159 - 13 / 137, abs=1e-4)
    assert [gap["gap_id"] for gap in reply["gaps"]] == ["gap_1"]
    assert [document["title"] for document in reply["most_flagged"]] == [HOSTILE]
    assert BREAKING not in text
    assert reply["waiting"]["total"] == 6
    assert reply["next_step"].startswith("Call list_review_queue")
    assert reply["headline"] in text
    assert "doc_0" in text
    assert len(text) < 4000
