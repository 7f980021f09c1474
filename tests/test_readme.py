"""RUN-1, RUN-2, MCP-9: what the README and the example configuration say is what works."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from harry_mcp.cli.demo import ANSWERED, UNANSWERED
from harry_mcp.settings import KEYS, Settings, child_environment, setting_names

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "claude_desktop_config.example.json"


@pytest.mark.promise("RUN-1")
def test_the_demo_answers_one_question_and_not_the_other(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "harry_mcp.cli.main", "demo", "--json"],
        env=child_environment(HARRY_DATA_DIR=str(tmp_path)),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=280,
        check=True,
    )
    first, second, corrected, official = json.loads(done.stdout)
    assert first["query"] == ANSWERED
    assert first["verdict"]["band"] == "strong"
    assert first["citations"][0]["url"] == "https://github.com/pgvector/pgvector-python"
    assert "hnsw" in first["hits"][0]["text"].lower()
    assert second["query"] == UNANSWERED
    assert second["verdict"]["band"] == "weak"
    assert second["verdict"]["next_action"] == "call_web_fallback"
    assert second["gap_id"].startswith("gap_")
    assert "always HNSW" in corrected["corrections"][0]["lesson"]
    assert official["verified"]["match"] == "exact"
    assert official["verdict"]["next_action"] == "answer"


@pytest.mark.promise("RUN-1")
@pytest.mark.promise("RUN-2")
def test_the_two_commands_of_the_readme_exist_and_run() -> None:
    for name in ("demo", "test", "check", "bench"):
        script = ROOT / "scripts" / name
        assert f"scripts/{name}" in README
        assert os.access(script, os.X_OK)
        assert subprocess.run(["sh", "-n", str(script)], check=False).returncode == 0
    assert "scripts/test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.promise("MCP-9")
async def test_the_example_configuration_starts_a_server(settings: Settings) -> None:
    entry: dict[str, Any] = json.loads(EXAMPLE.read_text(encoding="utf-8"))["mcpServers"]["harry"]
    command = Path(str(entry["command"]))
    assert command.is_absolute()  # hosts have a minimal PATH
    # The path is the one place that a user edits: theirs ends in the same way.
    installed = Path(sys.executable).with_name(command.name)
    assert command.parts[-3:] == (".venv", "bin", "harry")
    environment = {
        **entry["env"],
        "PATH": "/usr/bin:/bin",
        "HOME": str(Path.home()),
        "HARRY_DATABASE_URL": settings.database_url.get_secret_value(),
    }
    server = StdioServerParameters(command=str(installed), args=entry["args"], env=environment)
    async with Client(server) as client:
        assert (await client.list_tools()).tools[0].name == "search_kb"
        result = await client.call_tool("search_kb", {"query": "anything at all"})
        assert result.structured_content is not None
        assert result.structured_content["status"] == "empty"


@pytest.mark.promise("RUN-5")
def test_the_readme_has_every_setting_and_no_other() -> None:
    documented = set(re.findall(r"^\| `([A-Z_]+)`", README, re.MULTILINE))
    assert documented == {*setting_names(), *KEYS}


def test_every_path_that_the_readme_names_exists() -> None:
    for path in re.findall(r"\]\((?!https?:|#)([^)]+)\)", README):
        assert (ROOT / path).exists(), path
