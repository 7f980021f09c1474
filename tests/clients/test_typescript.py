"""The clients of the TypeScript SDK, of both generations, over both transports, with their own check of schemas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harry_mcp.server.resources import DOCUMENT, document_uri
from tests.clients.conftest import Reached
from tests.clients.packages import run_node, script
from tests.console.served import TOKEN
from tests.loop.small_base import KEYS, QUESTION
from tests.server.test_stdio import COMMAND, TOOLS

CONVERSATION = Path(__file__).with_name("conversation.mjs")
# The generation of the client, how it settles the revision, and the revision that comes of it.
CLIENTS = [
    pytest.param("1", "legacy", "2025-11-25", id="sdk-1"),
    pytest.param("2", "legacy", "2025-11-25", id="client-2-legacy"),
    pytest.param("2", "auto", "2026-07-28", id="client-2-auto"),
]
INVALID_PARAMS = -32602


def conversed(reached: Reached, folder: Path, generation: str, way: dict[str, Any]) -> dict[str, Any]:
    plan = json.dumps({"question": QUESTION, "resource": document_uri(KEYS.id), **way})
    done = run_node([script(folder, CONVERSATION), generation, plan], seconds=90, env=reached.environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.promise("MCP-2")
@pytest.mark.promise("MCP-6")
@pytest.mark.promise("MCP-10")
@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize(("generation", "era", "revision"), CLIENTS)
def test_a_typescript_client_gets_all_there_is(
    reached: Reached, tmp_path: Path, generation: str, era: str, revision: str, transport: str
) -> None:
    way: dict[str, Any] = {"url": reached.url, "token": TOKEN}
    if transport == "stdio":
        way = {"command": COMMAND[0], "args": COMMAND[1:], "env": reached.environment}
    heard = conversed(reached, tmp_path, generation, {"era": era, **way})
    assert heard["server"] == "harry-mcp"
    assert "search_kb" in heard["instructions"]
    # The client of the first generation does not tell it over standard input and output.
    assert heard["version"] == (None if (generation, transport) == ("1", "stdio") else revision)
    console = {"curation_console"}  # only in hosts that show pages
    assert {tool["name"] for tool in heard["tools"]} | console == set(TOOLS)
    assert heard["faults"] == []
    _it_was_answered(heard)
    _it_could_read(heard)
    _it_was_refused(heard)


def _it_was_answered(heard: dict[str, Any]) -> None:
    found = heard["found"]
    assert not found.get("isError")
    assert found["structuredContent"]["hits"][0]["url"] == KEYS.url
    assert found["structuredContent"]["verdict"]["reason"] in found["content"][0]["text"]
    assert heard["valid"] is True
    assert heard["broken"] is False, "the client's check lets anything through"


def _it_could_read(heard: dict[str, Any]) -> None:
    assert {document_uri(KEYS.id), "kb://corrections", "kb://digest"} <= {each["uri"] for each in heard["resources"]}
    assert [each["uriTemplate"] for each in heard["templates"]] == [DOCUMENT]
    assert "press Rotate" in heard["read"]["contents"][0]["text"]
    assert [each["name"] for each in heard["prompts"]] == ["answer_with_citations", "curate_queue"]
    assert QUESTION in heard["prompt"]["messages"][0]["content"]["text"]
    assert heard["completed"]["completion"] == {"values": ["API keys"], "total": 1, "hasMore": False}


def _it_was_refused(heard: dict[str, Any]) -> None:
    failed = heard["failed"]
    assert failed["isError"] is True
    assert "structuredContent" not in failed
    assert "There is no document 'no such document'" in failed["content"][0]["text"]
    for name, words in {
        "unread": "Unknown resource: kb://nothing",
        "unprompted": "Unknown prompt: no_such_prompt",
        "half": "question is missing. The question, standing alone.",
        "odd": "tab cannot be used: Input should be 'flagged', 'pending', 'archived' or 'recent'.",
    }.items():
        assert heard[name]["code"] == INVALID_PARAMS
        assert heard[name]["message"].removeprefix("MCP error -32602: ") == words
