"""The command line of the MCP Inspector, which also judges how far the tools' schemas travel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harry_mcp.settings import child_environment
from tests.clients.conftest import Reached
from tests.clients.packages import run_node
from tests.console.served import TOKEN
from tests.loop.small_base import KEYS, QUESTION
from tests.server.test_stdio import COMMAND, TOOLS

LAUNCHER = Path("@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")


class Inspector:
    """Its command line. Every call starts it, and over standard input and output our server with it."""

    def __init__(self, launcher: Path, home: Path, options: list[str]) -> None:
        self._launcher = launcher
        self._options = options
        own = str(home)
        self._environment = child_environment(HOME=own, USERPROFILE=own, MCP_CATALOG_PATH=str(home / "catalog.json"))

    def __call__(self, method: str, *more: str) -> dict[str, Any]:
        arguments = ["--cli", *self._options, "--method", method, *more, "--format", "json", "--quiet"]
        done = run_node([self._launcher, *arguments], seconds=60, env=self._environment)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["result"]


@pytest.fixture(params=["stdio-modern", "http-legacy", "http-modern"])
def inspector(request: pytest.FixtureRequest, clients: Path, reached: Reached, tmp_path: Path) -> Inspector:
    transport, _, era = str(request.param).partition("-")
    options = [reached.url, "--header", f"Authorization: Bearer {TOKEN}"]
    if transport == "stdio":
        # It gives the server little of its own environment, as hosts do.
        options = [*(part for pair in reached.settings.items() for part in ("-e", "=".join(pair))), *COMMAND]
    return Inspector(clients / LAUNCHER, tmp_path, [*options, "--protocol-era", era])


@pytest.mark.promise("MCP-2")
@pytest.mark.promise("MCP-10")
def test_the_inspector_lists_calls_and_finds_no_fault_in_the_schemas(inspector: Inspector) -> None:
    tools = inspector("tools/list", "--strict")["tools"]
    assert {tool["name"] for tool in tools} | {"curation_console"} == set(TOOLS)
    found = inspector("tools/call", "--tool-name", "search_kb", "--tool-arg", f"query={QUESTION}")
    assert found["structuredContent"]["hits"][0]["url"] == KEYS.url
    resources = inspector("resources/list")["resources"]
    assert {"kb://corrections", "kb://digest"} <= {each["uri"] for each in resources}
    prompts = inspector("prompts/list")["prompts"]
    assert [each["name"] for each in prompts] == ["answer_with_citations", "curate_queue"]
