"""The official conformance suite, as far as it asks for what this server has, in both revisions of the protocol."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.clients.bearer import bearing
from tests.clients.conftest import Reached
from tests.clients.packages import run_node
from tests.console.served import TOKEN

SUITE = Path("@modelcontextprotocol", "conformance", "dist", "index.js")

# What must pass, by the revision that it belongs to.
APPLY = {
    "2025-11-25": """server-initialize ping tools-list completion-complete resources-list prompts-list
        dns-rebinding-protection""",
    "2026-07-28": """server-stateless tools-list completion-complete resources-list prompts-list
        dns-rebinding-protection server-sse-multiple-streams sep-2164-resource-not-found caching
        http-header-validation""",
}
# What does not apply, by the reason. Where one of these passes it does so by chance: a refusal has the form asked for.
NOT = {
    "calls tools that only a server made for the suite has": """tools-call-simple-text tools-call-image tools-call-audio
        tools-call-embedded-resource tools-call-mixed-content tools-call-with-logging tools-call-error
        tools-call-with-progress tools-call-sampling tools-call-elicitation json-schema-2020-12
        elicitation-sep1034-defaults elicitation-sep1330-enums http-custom-header-server-validation
        input-required-result-basic-elicitation input-required-result-basic-sampling
        input-required-result-basic-list-roots input-required-result-request-state
        input-required-result-multiple-input-requests input-required-result-multi-round
        input-required-result-missing-input-response input-required-result-result-type
        input-required-result-unsupported-methods input-required-result-tampered-state
        input-required-result-capability-check input-required-result-ignore-extra-params
        input-required-result-validate-input""",
    "asks for prompts that only a server made for the suite has": """prompts-get-simple prompts-get-with-args
        prompts-get-embedded-resource prompts-get-with-image input-required-result-non-tool-request""",
    "reads resources that only a server made for the suite has": """resources-read-text resources-read-binary
        resources-templates-read""",
    "subscribes to single resources, which over HTTP nobody can here": "resources-subscribe resources-unsubscribe",
    "sets a level of log messages to clients; there are none": "logging-set-level",
    "needs sessions; this server keeps none over HTTP": """server-session-lifecycle server-sse-polling
        server-sse-multiple-streams""",
    "needs the extension for tasks, which this server does not have": """tasks-lifecycle tasks-capability-negotiation
        tasks-wire-fields tasks-request-state-removal tasks-mrtr-input tasks-request-headers
        tasks-dispatch-and-envelope tasks-status-notifications tasks-required-task-error tasks-mrtr-composition""",
}
# Single checks of scenarios that apply, which need a tool of the suite named test_missing_capability.
NOT_CHECKED = {"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400"}
# Every message that the server sends is held to the schema of the revision by this check.
WIRE = "wire-schema-valid"


@dataclass(frozen=True, slots=True)
class Check:
    scenario: str
    id: str
    status: str
    said: str

    @property
    def bad(self) -> bool:
        return self.status in ("FAILURE", "WARNING") and self.id not in NOT_CHECKED


async def checks_of(clients: Path, reached: Reached, revision: str, folder: Path) -> list[Check]:
    async with bearing(reached.base, TOKEN) as base:
        arguments = ["server", "--url", f"{base}/mcp", "--requirements", revision, "-o", folder]
        done = await asyncio.to_thread(run_node, [clients / SUITE, *arguments], seconds=200, cwd=folder)
    assert "=== SUMMARY ===" in done.stdout, done.stderr
    return list(_read(folder))


def _read(folder: Path) -> Iterator[Check]:
    for path in sorted(folder.glob("*/checks.json")):
        # The folder of a scenario bears its name between "server-" and the time of day.
        scenario = re.sub(r"-\d{4}-\d\d-\d\dT[\d-]+Z$", "", path.parent.name).removeprefix("server-")
        checks: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
        for check in checks:
            yield Check(scenario, check["id"], check["status"], check.get("errorMessage", ""))


@pytest.mark.promise("MCP-6")
@pytest.mark.promise("MCP-7")
@pytest.mark.parametrize("revision", list(APPLY))
async def test_what_applies_of_the_conformance_suite_passes(
    clients: Path, reached: Reached, tmp_path: Path, revision: str
) -> None:
    checks = await checks_of(clients, reached, revision, tmp_path)
    applies = set(APPLY[revision].split())
    reasons = {name: reason for reason, names in NOT.items() for name in names.split()}
    assert {check.scenario for check in checks} - applies <= set(reasons), "a scenario that nobody has judged"
    assert {check.scenario for check in checks if check.status == "SUCCESS" and check.id != WIRE} >= applies
    assert [check for check in checks if check.bad and (check.scenario in applies or check.id == WIRE)] == []
    assert sum(check.id == WIRE for check in checks) > len(applies), "the messages were not held to the schema"
