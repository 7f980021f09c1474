"""MCP-2, MCP-10: the contract as clients see it. A change of it is a visible diff of contract.json.

Write the file anew with ``UPDATE_SNAPSHOTS=1 scripts/test tests/server/test_contract.py``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from harry_mcp.cli.serve import app_page
from harry_mcp.profile import DomainProfile
from harry_mcp.server.server import build_server
from harry_mcp.settings import load_settings

SNAPSHOT = Path(__file__).with_name("contract.json")


async def contract() -> dict[str, Any]:
    server = build_server(load_settings({}), page=app_page)
    tools = await server.list_tools()
    return {
        "instructions": server.instructions,
        "tools": [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools],
    }


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        found = cast(dict[str, Any], value)
        yield found
        for item in found.values():
            yield from nodes(item)
    elif isinstance(value, list):
        for item in cast(list[Any], value):
            yield from nodes(item)


@pytest.mark.promise("MCP-2")
async def test_the_contract_is_the_one_that_was_agreed() -> None:
    now = json.dumps(await contract(), indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        SNAPSHOT.write_text(now, encoding="utf-8")
    assert now == SNAPSHOT.read_text(encoding="utf-8")


@pytest.mark.promise("MCP-10")
async def test_schemas_are_plain_enough_for_strict_clients() -> None:
    made = await contract()
    for tool in made["tools"]:
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            assert schema["type"] == "object"
            for node in nodes(schema):
                assert not {"$ref", "$defs", "anyOf", "oneOf", "allOf"} & set(node)
                assert node.get("type") != "null"
                assert not isinstance(node.get("type"), list)
        assert tool["inputSchema"]["additionalProperties"] is False
        for name, field in tool["inputSchema"]["properties"].items():
            assert "Required." in field["description"] or "Default:" in field["description"], name
            assert ("Required." in field["description"]) == (name in tool["inputSchema"].get("required", []))
        assert 100 < len(tool["description"]) < 2000
        assert "eturns" in tool["description"]
        assert len("harry" + tool["name"]) < 60
    assert len(made["instructions"]) < 2000


@pytest.mark.promise("MCP-2")
async def test_every_tool_and_field_explains_itself() -> None:
    for tool in (await contract())["tools"]:
        assert tool["title"]
        assert {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} <= set(tool["annotations"])
        for node in nodes(tool["outputSchema"]):
            for name, field in cast(dict[str, Any], node.get("properties", {})).items():
                assert len(field.get("description", "")) > 8, (tool["name"], name)


async def test_the_profile_names_the_subject() -> None:
    server = build_server(load_settings({}), DomainProfile(subject="HubSpot"))
    assert "about HubSpot" in (server.instructions or "")


@pytest.mark.promise("RET-7")
async def test_a_setting_stands_where_the_tool_has_its_default() -> None:
    server = build_server(load_settings({"HARRY_RETRIEVE__K": "7"}))
    k = (await server.list_tools())[0].input_schema["properties"]["k"]
    assert k["default"] == 7
    assert "Default: 7." in k["description"]
